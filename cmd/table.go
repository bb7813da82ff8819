package cmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/olekukonko/tablewriter"
	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"
)

// table is what a listing shows to people: headers and rows of plain text.
type table struct {
	Header []string
	Rows   [][]string
}

// render draws a table without borders. Every cell is escaped, and nothing is shortened.
func (t table) render() ([]byte, error) {
	if len(t.Rows) == 0 {
		return nil, nil
	}
	if text, plain := t.plain(); plain {
		return text, nil
	}
	return t.wide()
}

// plain draws a table all of which is printable ASCII, as most are, in the same way. Setting up the other way
// takes half a megabyte and a tenth of the time of a short command.
func (t table) plain() ([]byte, bool) {
	widths := make([]int, len(t.Header))
	for _, row := range append([][]string{t.Header}, t.Rows...) {
		if len(row) != len(widths) {
			return nil, false
		}
		for i, cell := range row {
			if !isPlainASCII(cell) {
				return nil, false
			}
			widths[i] = max(widths[i], len(cell))
		}
	}
	var out []byte
	for _, row := range append([][]string{t.Header}, t.Rows...) {
		for i, cell := range row {
			out = append(out, cell...)
			out = append(out, strings.Repeat(" ", widths[i]-len(cell)+2)...)
		}
		out = append(bytes.TrimRight(out, " "), '\n')
	}
	return out, true
}

func isPlainASCII(cell string) bool {
	for _, c := range []byte(cell) {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return true
}

// wide draws any table.
func (t table) wide() ([]byte, error) {
	var buf bytes.Buffer
	w := tablewriter.NewWriter(&buf)
	w.SetBorder(false)
	w.SetHeaderLine(false)
	w.SetColumnSeparator("")
	w.SetNoWhiteSpace(true)
	w.SetTablePadding("  ")
	w.SetAutoFormatHeaders(false)
	w.SetAutoWrapText(false)
	w.SetHeaderAlignment(tablewriter.ALIGN_LEFT)
	w.SetAlignment(tablewriter.ALIGN_LEFT)
	w.SetHeader(escapeAll(t.Header))
	for _, row := range t.Rows {
		w.Append(escapeAll(row))
	}
	w.Render()
	return trimLines(buf.Bytes()), nil
}

func escapeAll(cells []string) []string {
	out := make([]string, len(cells))
	for i, cell := range cells {
		out[i] = escape(cell)
	}
	return out
}

// trimLines takes the padding off the end of each line.
func trimLines(text []byte) []byte {
	var out []byte
	for line := range bytes.Lines(text) {
		out = append(append(out, bytes.TrimRight(line, " \n")...), '\n')
	}
	return out
}

// outputFlag is -o: the form in which data is printed.
type outputFlag struct {
	form    string
	allowed []string
}

// The two sets of forms (SPEC 9): for listings, and for what is about one lease.
func listForms() []string  { return []string{"table", "wide", "json", "jsonl", "yaml"} }
func leaseForms() []string { return []string{"id", "json", "env"} }

// addOutput adds -o with these forms. The first is the default.
func addOutput(cmd *cobra.Command, o *outputFlag, forms []string) {
	o.form, o.allowed = forms[0], forms
	cmd.Flags().VarP(o, "output", "o", "form of the output: "+strings.Join(forms, ", "))
	// The error is one of registering twice, which the flag itself would have panicked about.
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(forms, cobra.ShellCompDirectiveNoFileComp))
}

// String is the form.
func (o *outputFlag) String() string { return o.form }

// Type names the value in help texts.
func (o *outputFlag) Type() string { return "form" }

// Set takes one of the forms.
func (o *outputFlag) Set(form string) error {
	if !slices.Contains(o.allowed, form) {
		return fmt.Errorf("%q is no form here; the forms are %s", form, strings.Join(o.allowed, ", "))
	}
	o.form = form
	return nil
}

// data says that stdout carries data for a program, so that everything for people belongs on stderr.
func (o *outputFlag) data() bool { return o.form != "table" && o.form != "wide" }

// show prints a listing in the form asked for. rows makes the table, only when one is wanted. An empty
// listing is said to people on stderr, and is an empty list to programs.
func (a *App) show(o *outputFlag, v any, nothing string, rows func(wide bool) table) error {
	if o.data() {
		text, err := encode(o.form, v)
		if err != nil {
			return err
		}
		return a.print(text)
	}
	text, err := rows(o.form == "wide").render()
	if err != nil {
		return err
	}
	if len(text) == 0 {
		_, _ = fmt.Fprintln(a.Err, oneLine(nothing))
	}
	return a.print(text)
}

// encode writes a value as json, jsonl (one line for each element of a list) or yaml. The keys are those of
// its JSON in all three, in the same order.
func encode(form string, v any) ([]byte, error) {
	switch form {
	case "json":
		return encodeJSON(v, "  ")
	case "jsonl":
		return encodeLines(v)
	case "yaml":
		return encodeYAML(v)
	}
	return nil, fmt.Errorf("no such form of output: %q", form)
}

// encodeJSON writes JSON and a newline. What a terminal would act on or hide comes out as \u escapes.
func encodeJSON(v any, indent string) ([]byte, error) {
	return jsonText(v, indent, wideEscape)
}

// wideEscape is a character above U+FFFF as JSON escapes it.
func wideEscape(r rune) string {
	hi, lo := utf16.EncodeRune(r)
	return fmt.Sprintf(`\u%04x\u%04x`, hi, lo)
}

func jsonText(v any, indent string, wide func(rune) string) ([]byte, error) {
	if r := reflect.ValueOf(v); r.Kind() == reflect.Slice && r.IsNil() {
		return []byte("[]\n"), nil
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return escapeUnicode(buf.Bytes(), wide), nil
}

func encodeLines(v any) ([]byte, error) {
	list := reflect.ValueOf(v)
	if list.Kind() != reflect.Slice {
		return encodeJSON(v, "")
	}
	var out []byte
	for i := range list.Len() {
		line, err := encodeJSON(list.Index(i).Interface(), "")
		if err != nil {
			return nil, err
		}
		out = append(out, line...)
	}
	return out, nil
}

// encodeYAML goes by way of JSON, which YAML contains, so that names, order and numbers are the same.
func encodeYAML(v any) ([]byte, error) {
	// YAML knows no pairs of \u escapes, and takes a character above U+FFFF as it is.
	text, err := jsonText(v, "", func(r rune) string { return string(r) })
	if err != nil {
		return nil, err
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	plainStyle(&doc)
	var buf bytes.Buffer
	enc := yaml.NewEncoder(&buf)
	enc.SetIndent(2)
	if err := enc.Encode(&doc); err != nil {
		return nil, err
	}
	return escapeUnicode(buf.Bytes(), func(r rune) string { return fmt.Sprintf(`\U%08x`, r) }), enc.Close()
}

// plainStyle drops the braces and quotes of JSON. A text with what cannot be printed stays quoted, because
// only there can it be escaped.
func plainStyle(n *yaml.Node) {
	n.Style = 0
	if n.Kind == yaml.ScalarNode && n.Tag == "!!str" && !isPlain(n.Value) {
		n.Style = yaml.DoubleQuotedStyle
	}
	for _, below := range n.Content {
		plainStyle(below)
	}
}
