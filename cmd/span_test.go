package cmd

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
)

func TestParseSpan(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"500ms": 500 * time.Millisecond, "30s": 30 * time.Second, "15min": 15 * time.Minute, "15m": 15 * time.Minute,
		"2h": 2 * time.Hour, "2d": 48 * time.Hour, "1h30m": 90 * time.Minute, "1h 30min": 90 * time.Minute,
		"1d2h3min4s5ms": 26*time.Hour + 3*time.Minute + 4*time.Second + 5*time.Millisecond, "0s": 0, "007s": 7 * time.Second,
		"106751d": 106751 * 24 * time.Hour,
	} {
		if got, err := parseSpan(text); err != nil || got != want {
			t.Errorf("%q = %v, %v; want %v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"": "empty", "5": "5s, 5ms", "1h5": "has no unit", "s": "no span", "-5s": "no span", "+5s": "no span", "1.5h": "no span",
		"5x": `unknown unit "x"`, "5us": "unknown unit", "5 s": "no span", "106752d": "too long", "99999999999999999999s": "too long",
		"106751d48h": "too long", "inf": "no span", "1H": "no span", "5µs": "no span",
	} {
		if got, err := parseSpan(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q = %v, %v; want an error with %q", text, got, err, want)
		}
	}
}

func TestFormatSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 250 * time.Millisecond: "250ms", 90 * time.Second: "1min30s", 90 * time.Minute: "1h30min", 48 * time.Hour: "2d",
		1500 * time.Millisecond: "1s500ms", time.Microsecond: "0s", -time.Second: "-1s",
	} {
		got := formatSpan(d)
		if got != want {
			t.Errorf("%v = %q, want %q", d, got, want)
		}
		if back, err := parseSpan(got); d >= time.Millisecond && (err != nil || back != d) {
			t.Errorf("%q is read back as %v, %v", got, back, err)
		}
	}
}

func TestSpanFlag(t *testing.T) {
	parse := func(allowInf bool, args ...string) error {
		var s spanFlag
		flags := pflag.NewFlagSet("x", pflag.ContinueOnError)
		flags.SetOutput(&bytes.Buffer{})
		addSpan(flags, &s, "wait", "how long", allowInf)
		return flags.Parse(args)
	}
	var flag spanFlag
	flags := pflag.NewFlagSet("x", pflag.ContinueOnError)
	addSpan(flags, &flag, "wait", "how long", true)
	if flag.Given || flag.String() != "" {
		t.Errorf("not given: %+v", flag)
	}
	if err := flags.Parse([]string{"--wait=90s"}); err != nil || !flag.Given || flag.Inf || flag.D != 90*time.Second || flag.String() != "1min30s" {
		t.Errorf("90s: %+v, %v", flag, err)
	}
	if err := flags.Parse([]string{"--wait=inf"}); err != nil || !flag.Inf || flag.D != math.MaxInt64 || flag.String() != "inf" {
		t.Errorf("inf: %+v, %v", flag, err)
	}
	if err := parse(false, "--wait", "inf"); err == nil {
		t.Error("inf was taken where it is not allowed")
	}
	if err := parse(true, "--wait", "5"); err == nil || !strings.Contains(err.Error(), "or inf") {
		t.Errorf("5: %v", err)
	}
}
