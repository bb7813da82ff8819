package cmd

import (
	"fmt"

	"github.com/daolease/daolease/pkg/judge"
)

// reload takes the configuration over anew. A refused one leaves the old in force.
func (s *sitting) reload() {
	if err := s.tryReload(); err != nil {
		s.teller.say("the configuration is not taken over, the old one stays: %v", err)
		return
	}
	s.teller.say("the configuration was read again")
}

func (s *sitting) tryReload() error {
	config, err := loadConfig(configFile(s.comp.Dir))
	if err != nil {
		return err
	}
	if keys := s.comp.Config.startOnly(config); len(keys) > 0 {
		return fmt.Errorf("%v changes only at a start", keys)
	}
	next := *s.comp
	next.Config = config
	if err := refuseFindings(exitComposition, next.checkGrantorSide(s.comp.app.UID)); err != nil {
		return err
	}
	if err := config.assemble(s.comp.Dir, s.comp.app.UID); err != nil {
		return err
	}
	cfg := judge.Config{Accept: next.accept, Reclaimer: s.procs}
	next.judgeSpans(&cfg)
	if err := s.judge.Configure(cfg); err != nil {
		return err
	}
	s.comp.Config = config
	s.procs.use(config)
	return nil
}
