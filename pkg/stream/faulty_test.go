package stream_test

import (
	"errors"
	"testing"

	"github.com/daolease/daolease/pkg/stream"
)

// bare is a medium that is nothing more.
type bare struct{ stream.Medium }

// rewriting is a medium that is a Rewriter and no Notifier.
type rewriting struct{ stream.Rewriter }

// notifying is a medium that is a Notifier and no Rewriter.
type notifying struct {
	stream.Medium
	stream.Notifier
}

func TestFaultyIsWhatItsMediumIs(t *testing.T) {
	m := stream.NewMemory("m")
	for _, c := range []struct {
		medium             stream.Medium
		rewrites, notifies bool
	}{{m, true, true}, {rewriting{m}, true, false}, {notifying{bare{m}, m}, false, true}, {bare{m}, false, false}} {
		f := stream.NewFaulty(c.medium, new(stream.Script))
		_, rewrites := f.(stream.Rewriter)
		_, notifies := f.(stream.Notifier)
		if rewrites != c.rewrites || notifies != c.notifies {
			t.Errorf("%T: Rewriter %t, Notifier %t", c.medium, rewrites, notifies)
		}
	}
}

func TestFaultyWithoutRewriterKeepsTheContract(t *testing.T) {
	testMedium(t, func(t *testing.T) stream.Medium {
		return stream.NewFaulty(bare{stream.NewMemory(freshName(t))}, new(stream.Script))
	})
}

func TestFaultyAppends(t *testing.T) {
	for _, c := range []struct {
		fault   stream.AppendFault
		err     error
		then    [][]byte // what can be read after one more append
		damaged int
	}{
		{stream.Intact, nil, objects(0, 3), 0},
		{stream.Full, stream.ErrFull, objects(2, 3), 0},
		{stream.Lost, stream.ErrTransport, objects(2, 3), 0},
		{stream.Unanswered, stream.ErrTransport, objects(0, 3), 0},
		{stream.Torn, stream.ErrTransport, [][]byte{object(0), object(2)}, 1},
	} {
		var script stream.Script
		f := stream.NewFaulty(stream.NewMemory("m"), &script)
		script.Append(c.fault)
		if _, err := f.Append(t.Context(), stream.How{}); err != nil {
			t.Fatalf("an append of nothing used up the fault: %v", err)
		}
		if _, err := f.Append(t.Context(), stream.How{}, objects(0, 2)...); !errors.Is(err, c.err) {
			t.Fatalf("fault %d: %v, want %v", c.fault, err, c.err)
		}
		mustAppend(t, f, object(2))
		r := everything(t, f)
		wantTexts(t, r.texts, c.then...)
		if len(r.damaged) != c.damaged {
			t.Fatalf("fault %d: damaged %q", c.fault, r.damaged)
		}
	}
}

func TestFaultyAppendUnderHold(t *testing.T) {
	var script stream.Script
	f := stream.NewFaulty(stream.NewMemory("m"), &script)
	under, release, err := f.Hold(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	script.Append(stream.Full)
	if _, err := under.Append(t.Context(), stream.How{}, object(0)); !errors.Is(err, stream.ErrFull) {
		t.Fatal(err)
	}
	mustAppend(t, under, object(1))
	wantTexts(t, everything(t, f).texts, object(1))
}

func TestFaultyAppendKeepsCertainAnswers(t *testing.T) {
	for _, fault := range []stream.AppendFault{stream.Unanswered, stream.Torn} {
		var script stream.Script
		f := stream.NewFaulty(stream.NewMemory("m"), &script)
		before := mustMint(t, f, stream.Newest)
		mustAppend(t, f, object(0))
		script.Append(fault)
		if _, err := appendExpecting(t, f, before, object(1)); !errors.Is(err, stream.ErrMoved) {
			t.Fatalf("fault %d where the medium has moved: %v", fault, err)
		}
		mustAppend(t, f, object(2))
		if r := everything(t, f); len(r.damaged) > 0 {
			t.Fatalf("fault %d left %q", fault, r.damaged)
		}
	}
}

func TestFaultyTornOnOtherMedia(t *testing.T) {
	var script stream.Script
	f := stream.NewFaulty(bare{stream.NewMemory("m")}, &script)
	script.Append(stream.Torn)
	if _, err := f.Append(t.Context(), stream.How{}, objects(0, 2)...); !errors.Is(err, stream.ErrTransport) {
		t.Fatal(err)
	}
	mustAppend(t, f, object(2))
	r := everything(t, f)
	wantTexts(t, r.texts, object(0), object(2))
	if len(r.damaged) > 0 {
		t.Fatalf("left %q", r.damaged)
	}
}

func TestFaultyRewrite(t *testing.T) {
	for _, c := range []struct {
		fault stream.AppendFault
		err   error
		then  [][]byte
	}{
		{stream.Intact, nil, objects(1, 2)},
		{stream.Full, stream.ErrFull, objects(0, 1)},
		{stream.Lost, stream.ErrTransport, objects(0, 1)},
		{stream.Torn, stream.ErrTransport, objects(0, 1)},
		{stream.Unanswered, stream.ErrTransport, objects(1, 2)},
	} {
		var script stream.Script
		f := stream.NewFaulty(stream.NewMemory("m"), &script)
		end := mustAppend(t, f, object(0)).Cursor
		script.Append(c.fault)
		if _, err := rewriter(t, f).Rewrite(t.Context(), end, stream.ValuesOf(object(1))); !errors.Is(err, c.err) {
			t.Fatalf("fault %d: %v, want %v", c.fault, err, c.err)
		}
		wantTexts(t, everything(t, f).texts, c.then...)
	}
}

func TestFaultyReads(t *testing.T) {
	for _, c := range []struct {
		name        string
		fault       stream.ReadFault
		state       stream.State
		first, then [][]byte
	}{
		{"left alone", stream.ReadFault{After: -1, State: stream.Transport}, stream.Blocked, objects(0, 5), nil},
		{"cut at once", stream.ReadFault{}, stream.OK, nil, objects(0, 5)},
		{"cut", stream.ReadFault{After: 2}, stream.OK, objects(0, 2), objects(2, 5)},
		{"cut at the end", stream.ReadFault{After: 5}, stream.OK, objects(0, 5), nil},
		{"cut beyond", stream.ReadFault{After: 6}, stream.Blocked, objects(0, 5), nil},
		{"transport", stream.ReadFault{After: 3, State: stream.Transport}, stream.Transport, objects(0, 3), objects(3, 5)},
		{"gap, all again", stream.ReadFault{After: 1, State: stream.Gap}, stream.Gap, objects(0, 1), objects(0, 5)},
		{"gap, the rest lost", stream.ReadFault{After: 1, State: stream.Gap, Recover: stream.Newest}, stream.Gap, objects(0, 1), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var script stream.Script
			f := stream.NewFaulty(stream.NewMemory("m"), &script)
			mustAppend(t, f, objects(0, 5)...)
			script.Read(c.fault)
			r := read(t.Context(), f, mustMint(t, f, stream.Oldest), stream.Budget{})
			wantState(t, r.Answer, c.state)
			wantTexts(t, r.texts, c.first...)
			if c.state == stream.Transport && !errors.Is(r.Err, stream.ErrTransport) {
				t.Errorf("says %v", r.Err)
			}
			if c.state == stream.Gap && r.Err == nil {
				t.Error("a gap says why")
			}
			rest := read(t.Context(), f, r.Cursor, stream.Budget{})
			wantState(t, rest.Answer, stream.Blocked)
			wantTexts(t, rest.texts, c.then...)
		})
	}
}

func TestFaultyReadLeavesMisuseAlone(t *testing.T) {
	var script stream.Script
	f := stream.NewFaulty(stream.NewMemory("m"), &script)
	script.Read(stream.ReadFault{State: stream.Gap})
	wantState(t, read(t.Context(), f, "junk", stream.Budget{}).Answer, stream.Invalid)
}

func TestScriptNotifiesOfReadFaults(t *testing.T) {
	var script stream.Script
	set := stream.NewSet(nil)
	set.Add("m", stream.NewFaulty(stream.NewMemory("m"), &script))
	set.Fresh(true)
	if !set.Quiet("m") {
		t.Fatal("nothing was ordered yet")
	}
	script.Read(stream.ReadFault{State: stream.Gap})
	if set.Quiet("m") {
		t.Fatal("a gap is something new to read")
	}
}

func TestScriptClear(t *testing.T) {
	var script stream.Script
	f := stream.NewFaulty(stream.NewMemory("m"), &script)
	script.Append(stream.Full, stream.Full)
	script.Read(stream.ReadFault{State: stream.Transport})
	script.Clear()
	mustAppend(t, f, object(0))
	wantTexts(t, everything(t, f).texts, object(0))
}
