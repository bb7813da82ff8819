package cmd_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/daolease/daolease"

// Packages import downwards only.
func TestRooms(t *testing.T) {
	allowed := map[string][]string{
		"pkg/stream": {}, "pkg/hooks": {}, "pkg/lease": {"pkg/stream"}, "pkg/judge": {"pkg/lease", "pkg/stream"},
		"pkg/judge/judgetest": {"pkg/lease"},
		"cmd":                 {"pkg/hooks", "pkg/judge", "pkg/lease", "pkg/stream"}, "": {"cmd"},
	}
	// What only one room may have.
	only := map[string]string{
		"github.com/fsnotify/fsnotify": "pkg/stream", "github.com/spf13/cobra": "cmd", "github.com/spf13/viper": "cmd",
		"github.com/olekukonko/tablewriter": "cmd",
	}
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, module+"/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		room := strings.TrimPrefix(strings.TrimPrefix(words[0], module), "/")
		if strings.HasPrefix(room, "examples/") {
			continue // programs of their own
		}
		may, known := allowed[room]
		if !known {
			t.Errorf("%s is a package that nobody planned", room)
		}
		seen++
		for _, imported := range words[1:] {
			if home, bound := only[imported]; bound && home != room {
				t.Errorf("%s imports %s, which belongs in %s", room, imported, home)
			}
			ours, is := strings.CutPrefix(imported, module+"/")
			if is && !slices.Contains(may, ours) {
				t.Errorf("%s imports %s", room, ours)
			}
		}
	}
	if seen < 6 {
		t.Errorf("only %d packages were looked at", seen)
	}
}

// The pure rooms read no clock, no environment and no global state, and say nothing by themselves.
func TestPureRoomsReadNoClock(t *testing.T) {
	forbidden := map[string][]string{
		"time": {"Now", "Since", "Until"},
		"os":   {"Getenv", "LookupEnv", "Environ", "Exit", "Args", "Stdout", "Stderr", "Stdin"},
		"log":  nil, // all of it
		"fmt":  {"Print", "Println", "Printf"},
		"unix": {"ClockGettime", "Gettimeofday", "Time"},
	}
	for _, room := range []string{"lease", "judge", "stream"} {
		err := filepath.WalkDir(filepath.Join("..", "pkg", room), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				call, is := n.(*ast.SelectorExpr)
				if !is {
					return true
				}
				name, is := call.X.(*ast.Ident)
				if !is || name.Obj != nil { // a variable, not a package
					return true
				}
				names, bound := forbidden[name.Name]
				if bound && (names == nil || slices.Contains(names, call.Sel.Name)) {
					t.Errorf("%s uses %s.%s", path, name.Name, call.Sel.Name)
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
