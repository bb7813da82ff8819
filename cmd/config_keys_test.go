package cmd

import (
	"reflect"
	"strings"
	"testing"
)

// The help has each key of the configuration, with the default that it has, and so has the file that init makes.
func TestEveryKeyIsInTheHelpWithItsDefault(t *testing.T) {
	var text strings.Builder
	write := func(keys []keyText, of reflect.Type, indent string) {
		listed := map[string]bool{"units": true}
		inside := ""
		for _, k := range keys {
			listed[k.key] = true
			parts := strings.Split(k.key, ".")
			for i, part := range parts {
				listed[part] = true
				if i < len(parts)-1 && !strings.HasPrefix(inside, strings.Join(parts[:i+1], ".")) {
					inside = strings.Join(parts[:i+1], ".")
					text.WriteString(indent + strings.Repeat("  ", i) + part + ":\n")
				}
			}
			switch k.key {
			case "units", "subjects", "longest", "max", "match", "reclaim":
				continue // written otherwise than their defaults, or required
			}
			text.WriteString(indent + strings.Repeat("  ", len(parts)-1) + parts[len(parts)-1] + ": " + k.byDefault + "\n")
		}
		for _, key := range configKeys(of) {
			if !listed[key] {
				t.Errorf("the help says nothing of %s", key)
			}
		}
	}
	write(topKeys(), reflect.TypeFor[Config](), "")
	text.WriteString("subjects:\n  - match: a\n    reclaim: none\n")
	write(entryKeys(), reflect.TypeFor[SubjectRule](), "    ")
	spelled, err := parseConfig("spelled", []byte(text.String()))
	if err != nil {
		t.Fatalf("%v, of\n%s", err, &text)
	}
	left, err := parseConfig("left out", []byte("subjects: [{match: a, reclaim: none}]"))
	if err != nil {
		t.Fatal(err)
	}
	for _, pair := range [][2]any{{*spelled, *left}, {spelled.Subjects[0], left.Subjects[0]}} {
		a, b := reflect.ValueOf(pair[0]), reflect.ValueOf(pair[1])
		for i := range a.NumField() {
			f := a.Type().Field(i)
			if key := f.Tag.Get("yaml"); f.IsExported() && key != "-" && key != "subjects" && !reflect.DeepEqual(a.Field(i).Interface(), b.Field(i).Interface()) {
				t.Errorf("the help has another default of %s: %v, and it is %v", key, a.Field(i), b.Field(i))
			}
		}
	}
}
