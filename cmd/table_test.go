package cmd

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"
)

type shown struct {
	Lease string         `json:"lease"`
	Token int64          `json:"token"`
	More  map[string]any `json:"more,omitempty"`
}

func TestTable(t *testing.T) {
	text, err := table{
		Header: []string{"LEASE_ID", "file.path", "LEFT"},
		Rows:   [][]string{{"L1", "/srv/a", "30s"}, {"a-much-longer-id", "x\ty\x1b[2J", ""}, {"漢字", "", "1h"}, {"🇩🇪e\u0301", "flag", "2h"}},
	}.render()
	if err != nil {
		t.Fatal(err)
	}
	want := `LEASE_ID          file.path    LEFT
L1                /srv/a       30s
a-much-longer-id  x\ty\x1b[2J
漢字                           1h
🇩🇪é               flag         2h
`
	if string(text) != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
	if text, err := (table{Header: []string{"A"}}).render(); err != nil || text != nil {
		t.Errorf("an empty table: %q, %v", text, err)
	}
}

// The three forms say the same, and nothing that a terminal acts on comes through.
func TestForms(t *testing.T) {
	hostile := "a\u009b\u202e\U000e0041<&>\u2028\n\x1b\"\\🙂"
	list := []shown{{hostile, 1 << 52, map[string]any{"b": []string{"x", "yes", "1", ""}, "a": nil}}, {"L2", 2, nil}}
	var want any
	raw, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	for _, form := range []string{"json", "jsonl", "yaml"} {
		text, err := encode(form, list)
		if err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(string(text), "\u009b\u202e\U000e0041\x1b\u2028") {
			t.Errorf("%s lets through %q", form, text)
		}
		var got any
		switch form {
		case "json":
			err = json.Unmarshal(text, &got)
		case "jsonl":
			lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
			if len(lines) != 2 {
				t.Fatalf("%d lines", len(lines))
			}
			err = json.Unmarshal([]byte("["+strings.Join(lines, ",")+"]"), &got)
		case "yaml":
			var back []map[string]any
			if err = yaml.Unmarshal(text, &back); err == nil {
				var viaJSON []byte
				if viaJSON, err = json.Marshal(back); err == nil {
					err = json.Unmarshal(viaJSON, &got)
				}
			}
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, %v\n%s", form, got, err, text)
		}
		if strings.Index(string(text), "lease") > strings.Index(string(text), "token") {
			t.Errorf("%s: fields out of order\n%s", form, text)
		}
	}
	if text, err := encode("jsonl", list[1]); err != nil || string(text) != "{\"lease\":\"L2\",\"token\":2}\n" {
		t.Errorf("one as a line: %q, %v", text, err)
	}
	if text, err := encode("yaml", list[1]); err != nil || string(text) != "lease: L2\ntoken: 2\n" {
		t.Errorf("plain yaml: %q, %v", text, err)
	}
	for form, want := range map[string]string{"json": "[]\n", "jsonl": "", "yaml": "[]\n"} {
		if text, err := encode(form, []shown(nil)); err != nil || string(text) != want {
			t.Errorf("nothing as %s: %q, %v", form, text, err)
		}
	}
	if _, err := encode("xml", list); err == nil {
		t.Error("xml")
	}
}

func TestShow(t *testing.T) {
	list := []shown{{Lease: "L1"}}
	for _, c := range []struct {
		args           []string
		list           []shown
		out, errs, bad string
	}{
		{nil, list, "LEASE\nL1\n", "", ""},
		{[]string{"-o", "wide"}, list, "LEASE\nL1+\n", "", ""},
		{[]string{"-ojsonl"}, list, "{\"lease\":\"L1\",\"token\":0}\n", "", ""},
		{nil, nil, "", "no leases\n", ""},
		{[]string{"--output=json"}, nil, "[]\n", "", ""},
		{[]string{"-o", "xml"}, nil, "", "", "the forms are table, wide, json, jsonl, yaml"},
	} {
		w := newFakeWorld(t)
		var o outputFlag
		cmd := &cobra.Command{Use: "x", SilenceErrors: true, SilenceUsage: true, RunE: func(*cobra.Command, []string) error {
			return w.show(&o, c.list, "no leases", func(wide bool) table {
				tab := table{Header: []string{"LEASE"}}
				for _, s := range c.list {
					if wide {
						s.Lease += "+"
					}
					tab.Rows = append(tab.Rows, []string{s.Lease})
				}
				return tab
			})
		}}
		addOutput(cmd, &o, listForms())
		cmd.SetArgs(append([]string{}, c.args...))
		err := cmd.Execute()
		if (err == nil) != (c.bad == "") || err != nil && !strings.Contains(err.Error(), c.bad) {
			t.Errorf("%v: %v", c.args, err)
		}
		if w.out.String() != c.out || w.errs.String() != c.errs {
			t.Errorf("%v: stdout %q, stderr %q", c.args, w.out.String(), w.errs.String())
		}
	}
	var o outputFlag
	cmd := &cobra.Command{}
	addOutput(cmd, &o, leaseForms())
	if o.form != "id" || !o.data() || cmd.Flags().Lookup("output").DefValue != "id" {
		t.Errorf("%+v", o)
	}
}

// Both ways to draw a table give the same text for what both can draw.
func TestPlainTablesLookLikeOthers(t *testing.T) {
	words := []string{"", "a", "1h30m", "a longer cell", "x-y_z", "/srv/shared/a b", "{\"a\":[1, 2]}", "~", "a  b", "_x_ *y*", "<b>"}
	next := 0
	word := func() string { next = (next*7 + 3) % 1009; return words[next%len(words)] }
	for n := range 200 {
		tb := table{}
		for i := range 1 + n%5 {
			tb.Header = append(tb.Header, "H"+words[1+(n+i)%4])
		}
		for range 1 + n%7 {
			var row []string
			for range tb.Header {
				row = append(row, word())
			}
			tb.Rows = append(tb.Rows, row)
		}
		plain, ok := tb.plain()
		if !ok {
			t.Fatalf("not plain: %q", tb)
		}
		wide, err := tb.wide()
		if err != nil || string(plain) != string(wide) {
			t.Fatalf("%q: %v\n%s\nand\n%s", tb, err, plain, wide)
		}
	}
	for _, cell := range []string{"é", "a\tb", "漢", "\x7f", "\xff"} {
		if _, ok := (table{Header: []string{"A"}, Rows: [][]string{{cell}}}).plain(); ok {
			t.Errorf("%q is drawn as if it were ASCII", cell)
		}
	}
}
