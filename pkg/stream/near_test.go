package stream_test

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"github.com/daolease/daolease/pkg/stream"
)

func TestMintNear(t *testing.T) {
	long := bytes.Repeat([]byte(`[1,2,3,4,5,6,7,8]`+"\n"), 1000)
	for name, c := range map[string]struct {
		now  string
		want []string // nil: what is minted is the oldest
	}{
		"missing":              {"", nil},
		"less than that":       {"[1]\n[2]\n", []string{"[1]", "[2]"}},
		"more than that":       {string(long) + "[1]\n[2]\n[3]\n", []string{"[2]", "[3]"}},
		"just at a beginning":  {string(long) + "[1]\n[123456]\n", []string{"[123456]"}},
		"an unfinished line":   {string(long) + "[1]\n[2]\n[6", []string{"[2]"}},
		"nothing else":         {string(long) + "[1]\n[12345]\n[6", nil},
		"one longer than that": {string(long) + "[\"0123456789\"]\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			m := openFile(t, stream.FileOptions{})
			if c.now != "" {
				if err := os.WriteFile(m.Path(), []byte(c.now), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			at, err := m.MintNear(t.Context(), 9)
			if err != nil {
				t.Fatal(err)
			}
			if c.want == nil {
				oldest, err := m.Mint(t.Context(), stream.Oldest)
				if err != nil || at != oldest {
					t.Fatalf("at %s, the oldest is at %s (%v)", at, oldest, err)
				}
				return
			}
			got := drain(t, m, at)
			wantState(t, got.Answer, stream.Blocked)
			if fmt.Sprint(got.texts) != fmt.Sprint(c.want) {
				t.Fatalf("read %q, want %q", got.texts, c.want)
			}
		})
	}
}

// Just after an eviction the newest value is in the file before the present one.
func TestMintNearAfterAnEviction(t *testing.T) {
	m := openFile(t, stream.FileOptions{Retention: stream.Retention{Capacity: 4096}, SelfEvict: true})
	for n := range 1000 {
		mustAppend(t, m, object(n))
		at, err := m.MintNear(t.Context(), 256)
		if err != nil {
			t.Fatal(err)
		}
		got := drain(t, m, at)
		if len(got.texts) == 0 || string(got.texts[len(got.texts)-1]) != string(object(n)) {
			t.Fatalf("after %d values the last read is %q", n+1, got.texts)
		}
	}
}
