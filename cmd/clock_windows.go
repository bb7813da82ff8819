package cmd

import (
	"strconv"
	"unsafe"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"
)

// Running is the unbiased interrupt time, which stands still while the machine sleeps.
func (s systemClock) Running() int64 {
	var ticks uint64 // of 100 ns
	ok, _, _ := windows.NewLazySystemDLL("kernel32.dll").NewProc("QueryUnbiasedInterruptTime").
		Call(uintptr(unsafe.Pointer(&ticks)))
	if ok == 0 {
		return s.Boot()
	}
	return int64(ticks / 10_000)
}

// Boot counts sleep and hibernation too.
func (systemClock) Boot() int64 { return windows.DurationSinceBoot().Milliseconds() }

// BootID is the number of the boot, which the system counts.
func (systemClock) BootID() string {
	key, err := registry.OpenKey(registry.LOCAL_MACHINE,
		`SYSTEM\CurrentControlSet\Control\Session Manager\Memory Management\PrefetchParameters`, registry.QUERY_VALUE)
	if err != nil {
		return ""
	}
	defer key.Close()
	n, _, err := key.GetIntegerValue("BootId")
	if err != nil {
		return ""
	}
	return "boot-" + strconv.FormatUint(n, 10)
}
