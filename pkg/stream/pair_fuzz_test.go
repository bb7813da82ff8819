package stream_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/daolease/daolease/pkg/stream"
)

// FuzzPair reads, appends to and evicts a medium of which both files hold any bytes, as somebody can leave them who
// owns the folder. A reader comes to the end of it whatever they are, and reads what is appended then: at once, or
// after a gap with what is retained before it.
func FuzzPair(f *testing.F) {
	older, now := header("x", 0)+"{\"n\":1}\n{\"n\":2}\n", header("x", 16)+"{\"n\":3}\n"
	f.Add([]byte(older), []byte(now), int64(0))
	f.Add([]byte(older+"unfinished"), []byte(header("x", 12)+"\x00\n"), int64(4096))
	f.Add([]byte("{\"n\":1}\n"), []byte(`{"dao.stream/type":"jsonl","dao.stream/identity":"y","dao.stream/base":8,"dao.stream/adopts":true}`+"\n"), int64(0))
	f.Add([]byte(header("x", stream.MaxBase)), []byte(""), int64(5000))
	f.Add([]byte(header("x", 3)), []byte("{\"dao.stream/closed\":true}\n"), int64(0))
	f.Fuzz(func(t *testing.T, older, now []byte, capacity int64) {
		if capacity != 0 {
			capacity = 4096 + capacity&0xffff
		}
		m := openFile(t, stream.FileOptions{Retention: stream.Retention{Capacity: capacity}, SelfEvict: capacity > 0})
		for path, text := range map[string][]byte{m.Path(): now, m.Path() + ".1": older} {
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var before story
		c := before.goOn(t, m, mustMint(t, m, stream.Oldest))
		if before.last == stream.End {
			return
		}
		if before.last != stream.Blocked {
			t.Fatalf("reading ends %v", before.last)
		}
		var want []string
		for i := range 3 {
			want = append(want, fmt.Sprintf(`{"appended":%d}`, i))
			mustAppend(t, m, []byte(want[i]))
		}
		var after story
		after.goOn(t, m, c)
		again := len(after.texts) - len(want)
		if again < 0 || fmt.Sprint(after.texts[again:]) != fmt.Sprint(want) || again > 0 && after.gaps == 0 || after.last != stream.Blocked {
			t.Fatalf("appended %q, read %.500q, %d gaps, %v", want, after.texts, after.gaps, after.last)
		}
	})
}
