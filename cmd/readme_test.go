package cmd_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// The story that the README tells is run as it stands, and must print what the README says.
func TestReadmeStory(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no sh to run it with")
	}
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	fenced := func(kind string) []byte {
		found := regexp.MustCompile("(?s)```" + kind + " story\n(.*?)```").FindSubmatch(text)
		if found == nil {
			t.Fatalf("the README has no %s story", kind)
		}
		return found[1]
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	command := daolease(t)
	story := exec.Command("sh", "-eu", "-c", "umask 022\n"+string(fenced("sh")))
	story.Dir = dir
	story.Env = append(os.Environ(), "PATH="+filepath.Dir(command)+":"+os.Getenv("PATH"))
	var stdout, stderr bytes.Buffer
	story.Stdout, story.Stderr = &stdout, &stderr
	if err := story.Run(); err != nil {
		judge, _ := os.ReadFile(filepath.Join(dir, "judge.log"))
		t.Fatalf("%v\nstdout: %s\nstderr: %s\njudge: %s", err, &stdout, &stderr, judge)
	}
	if want := fenced("text"); !bytes.Equal(stdout.Bytes(), want) {
		t.Errorf("the story prints\n%s\nand not\n%s\n(stderr: %s)", &stdout, want, &stderr)
	}
}
