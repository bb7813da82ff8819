package lease

import "testing"

func BenchmarkDecode(b *testing.B) {
	u := DefaultUnits()
	for name, line := range map[string]string{
		"renewal": `{"dao.lease/event":"dao.lease/renewal","dao.lease/lease":"01JD2V5Y9Z-abcdef"}`,
		"tick":    `{"dao.lease/event":"dao.lease/tick","dao.lease/reading":{"ms":123456789},"daolease/boot":"0c5ba6f2-6a0c","daolease/clock":98765}`,
		"grant":   `{"dao.lease/status":"dao.lease/accepted","dao.lease/lease":"01JD2V5Y9Z","dao.lease/subject":"/srv/shared/a","dao.lease/holder":"alice@host","dao.lease/duration":{"s":30},"daolease/token":17}`,
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Decode([]byte(line), u); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
