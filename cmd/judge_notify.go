package cmd

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
)

// notifier tells systemd what a judge does, where it asks to be told (sd_notify(3)). A nil one tells nobody. That
// systemd cannot be told hinders nothing: it notices itself what did not come.
type notifier struct {
	app      *App
	socket   string
	watchdog bool
	ready    bool
}

func newNotifier(app *App) *notifier {
	socket := app.Env("NOTIFY_SOCKET")
	if !strings.HasPrefix(socket, "/") && !strings.HasPrefix(socket, "@") {
		return nil
	}
	pid := app.Env("WATCHDOG_PID")
	mine := pid == "" || pid == strconv.Itoa(os.Getpid())
	return &notifier{app: app, socket: socket, watchdog: app.Env("WATCHDOG_USEC") != "" && mine}
}

func (n *notifier) tell(lines ...string) {
	if n == nil {
		return
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: n.socket, Net: "unixgram"})
	if err != nil {
		return
	}
	defer conn.Close()
	_, _ = conn.Write([]byte(strings.Join(lines, "\n")))
}

// passed says that the judge is ready, after its first pass, and then after each that it is not stuck: whatever a
// pass came to, the loop goes on.
func (n *notifier) passed(live, pending int) {
	if n == nil {
		return
	}
	status := fmt.Sprintf("STATUS=%s live, %d pending", counted(live-pending, "lease"), pending)
	switch {
	case !n.ready:
		n.ready = true
		n.tell("READY=1", status)
	case n.watchdog:
		n.tell("WATCHDOG=1", status)
	}
}

// reloading and reloaded are around reading the configuration again.
func (n *notifier) reloading() {
	if n != nil {
		n.tell("RELOADING=1", fmt.Sprintf("MONOTONIC_USEC=%d", n.app.Clock.Running()*1000))
	}
}

func (n *notifier) reloaded() { n.tell("READY=1") }

func (n *notifier) stopping() { n.tell("STOPPING=1") }
