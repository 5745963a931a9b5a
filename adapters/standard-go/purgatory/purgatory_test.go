package purgatory

import (
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"wheelproof/adapters/standard-go/park"
)

func made(t *testing.T, interval int, log func(error)) *Purgatory {
	t.Helper()
	timer, err := NewTimer(park.NewSystem(), 1, log)
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(Config{Timer: timer, PurgeInterval: interval, Reaper: true, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := New(Config{Timer: timer}); !errors.Is(err, ErrTimerHas) {
		t.Error("a second purgatory over one timer")
	}
	return p
}

func wait(t *testing.T, what string, until func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !until(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("never: " + what)
		}
	}
}

func TestEachEndsOnceUnderLoad(t *testing.T) {
	p := made(t, 10, nil)
	const n = 3000
	var told [n]atomic.Int64     // calls that were told that they ended it
	var complete [n]atomic.Int64 // OnComplete
	var expired [n]atomic.Int64
	var given [n]atomic.Int64
	var inside [n]atomic.Int64 // of Test and OnComplete
	var holds [n]atomic.Bool
	ops := make([]*Operation, n)
	number := map[*Operation]int{}
	enter := func(i int) func() {
		if inside[i].Add(1) != 1 {
			t.Error("no exclusion")
		}
		return func() { inside[i].Add(-1) }
	}
	for i := range n {
		ops[i] = NewOperation(1+rand.Int64N(60), Hooks{
			Test: func() (bool, error) {
				defer enter(i)()
				if complete[i].Load() != 0 {
					t.Error("a try after the completion")
				}
				return holds[i].Load(), nil
			},
			OnComplete: func() error {
				defer enter(i)()
				complete[i].Add(1)
				if i%5 == 0 { // its own key, and another's
					_, _ = p.CheckAndComplete(i % 17)
					_, _ = p.CheckAndComplete((i + 1) % 17)
				}
				if i%7 == 0 {
					_, _ = ops[(i+1)%n].ForceComplete()
				}
				return nil
			},
			OnExpiration: func() error { expired[i].Add(1); return nil },
		})
		number[ops[i]] = i
	}
	var wg sync.WaitGroup
	for w := range 6 {
		wg.Go(func() {
			for i := w; i < n; i += 6 {
				done, err := p.TryCompleteElseWatch(ops[i], i%17, (i*7)%19, i%17)
				if err != nil {
					t.Error(err)
				}
				if done {
					told[i].Add(1)
				}
				switch rand.IntN(4) {
				case 0:
					holds[i].Store(true)
					if _, err := p.CheckAndComplete(i % 17); err != nil {
						t.Error(err)
					}
					if !ops[i].Done() {
						t.Error("a trigger was lost")
					}
				case 1:
					if done, _ := ops[i].ForceComplete(); done {
						told[i].Add(1)
					}
				case 2:
					if rand.IntN(50) == 0 {
						gone, _ := p.CancelForKey(i % 17)
						for _, o := range gone {
							given[number[o]].Add(1)
						}
					}
				}
			}
		})
	}
	wg.Wait()
	wait(t, "all done", func() bool {
		for _, o := range ops {
			if !o.Done() {
				return false
			}
		}
		return true
	})
	wait(t, "purged", func() bool { w, _ := p.Watched(); return w <= 20 })
	p.Shutdown()
	if p.NumDelayed() != 0 {
		t.Error("time-outs are left")
	}
	sum := int64(0)
	for i := range n {
		if complete[i].Load()+given[i].Load() != 1 || expired[i].Load() > complete[i].Load() || told[i].Load() > 1 {
			t.Fatal(i, complete[i].Load(), given[i].Load(), expired[i].Load(), told[i].Load())
		}
		sum += expired[i].Load()
	}
	p.Purge()
	if w, k := p.Watched(); w != 0 || k != 0 || p.garbage.Load() != 0 {
		t.Error(w, k, p.garbage.Load())
	}
	t.Log("expired:", sum)
}

func TestCallbacksForceEachOther(t *testing.T) {
	p := made(t, 0, nil)
	for range 500 {
		var a, b *Operation
		var go2 atomic.Bool
		test := func() (bool, error) { return go2.Load(), nil }
		a = NewOperation(10_000, Hooks{Test: test, OnComplete: func() error {
			_, _ = p.CheckAndComplete("b")
			_, _ = b.ForceComplete()
			_, _ = p.CheckAndComplete("a")
			return nil
		}})
		b = NewOperation(10_000, Hooks{Test: test, OnComplete: func() error {
			_, _ = p.CheckAndComplete("a")
			_, _ = a.ForceComplete()
			return nil
		}})
		_, _ = p.TryCompleteElseWatch(a, "a")
		_, _ = p.TryCompleteElseWatch(b, "b")
		go2.Store(true)
		var wg sync.WaitGroup
		for _, k := range []string{"a", "b", "a", "b"} {
			wg.Go(func() { _, _ = p.CheckAndComplete(k) })
		}
		wg.Wait()
		if !a.Done() || !b.Done() {
			t.Fatal("not done")
		}
	}
	p.Shutdown()
}

func TestWhatRaises(t *testing.T) {
	var logged atomic.Int64
	p := made(t, 0, func(error) { logged.Add(1) })
	bad := errors.New("bad")
	calls := 0
	first := NewOperation(1000, Hooks{Test: func() (bool, error) { return false, bad }})
	if done, err := p.TryCompleteElseWatch(first, "k"); done || !errors.Is(err, bad) || first.Done() {
		t.Error(done, err)
	}
	second := NewOperation(1000, Hooks{Test: func() (bool, error) { calls++; return false, []error{nil, bad}[calls/2] }})
	if done, err := p.TryCompleteElseWatch(second, "k", "l"); done || !errors.Is(err, bad) || !second.Done() {
		t.Error(done, err)
	}
	if w, k := p.Watched(); w != 0 || k != 0 || p.NumDelayed() != 0 {
		t.Error("left behind", w, k)
	}
	var on atomic.Bool
	raises := NewOperation(100_000, Hooks{Test: func() (bool, error) {
		if on.Load() {
			panic("x")
		}
		return false, nil
	}})
	completes := NewOperation(100_000, Hooks{Test: func() (bool, error) { return on.Load(), nil }, OnComplete: func() error { return bad }})
	_, _ = p.TryCompleteElseWatch(raises, "k")
	_, _ = p.TryCompleteElseWatch(completes, "k")
	on.Store(true)
	if n, err := p.CheckAndComplete("k"); n != 1 || !errors.Is(err, bad) || raises.Done() {
		t.Error(n, err)
	}
	var expired atomic.Int64
	for range 2 {
		o := NewOperation(5, Hooks{OnComplete: func() error { panic("y") }, OnExpiration: func() error { expired.Add(1); return bad }})
		_, _ = p.TryCompleteElseWatch(o, "m")
	}
	wait(t, "expired", func() bool { return expired.Load() == 2 && logged.Load() == 4 })
	for _, keys := range [][]any{nil, {[]int{1}}} {
		if _, err := p.TryCompleteElseWatch(NewOperation(1, Hooks{}), keys...); !errors.Is(err, ErrKey) {
			t.Error(err)
		}
	}
	if _, err := p.TryCompleteElseWatch(NewOperation(park.MaxMs+1, Hooks{}), 1); !errors.Is(err, ErrDomain) {
		t.Error(err)
	}
	p.Shutdown()
	if done, _ := raises.ForceComplete(); !done {
		t.Error("not forced after the shutdown")
	}
	if _, err := p.TryCompleteElseWatch(NewOperation(1, Hooks{}), 1); !errors.Is(err, ErrShut) {
		t.Error(err)
	}
}

func TestShutdownByACallback(t *testing.T) {
	p := made(t, 0, nil)
	ended := make(chan bool)
	_, _ = p.TryCompleteElseWatch(NewOperation(5, Hooks{OnComplete: func() error {
		p.Shutdown()
		ended <- true
		return nil
	}}), "k")
	<-ended
}
