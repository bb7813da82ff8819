package stream

import (
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
)

// onNetwork says that a folder's file system does not tell of every change made on another machine.
func onNetwork(dir string) bool {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return false
	}
	volume := filepath.VolumeName(abs)
	if strings.HasPrefix(volume, `\\`) {
		return true
	}
	root, err := windows.UTF16PtrFromString(volume + `\`)
	return err == nil && windows.GetDriveType(root) == windows.DRIVE_REMOTE
}
