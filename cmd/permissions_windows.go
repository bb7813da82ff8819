package cmd

import (
	"io/fs"
	"os"
)

// hasOwners is false: who may write is said by lists that are not looked at.
const hasOwners = false

func ownerOf(fs.FileInfo) (uid, gid int) { return -1, -1 }

func isNotDir(error) bool { return false }

func openFolder(path string) (*os.File, error) { return os.Open(path) }

// inodeOf names nothing: os.FileInfo shows no index of a file on this system.
func inodeOf(fs.FileInfo) string { return "" }

// syncFolder does nothing: folders cannot be synced on this system.
func syncFolder(string) error { return nil }
