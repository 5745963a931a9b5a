package bufferpool

import (
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"wheelproof/adapters/standard-go/park"
)

func must(t *testing.T, c Config) *Pool {
	t.Helper()
	p, err := New(c)
	if err != nil {
		t.Fatal(err)
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

func TestManyThreadsGiveAllBack(t *testing.T) {
	p := must(t, Config{Total: 1000, Poolable: 100})
	var wg sync.WaitGroup
	var ended [5]atomic.Int64
	for range 10 {
		wg.Go(func() {
			for range 1000 {
				th := &park.Thread{}
				size := rand.Int64N(1001)
				if rand.IntN(2) == 0 {
					size = 100
				}
				if rand.IntN(10) == 0 {
					go th.Interrupt()
				}
				b, err := p.Allocate(th, size, rand.Int64N(4))
				if u := p.Usage(); u.Available+u.Lent+u.Accumulated != 1000 {
					t.Error(u)
				}
				switch {
				case err == nil:
					if int64(len(b.Bytes())) != size {
						t.Error("wrong size")
					}
					for _, x := range b.Bytes() {
						if x != 0 {
							t.Error("not cleared, or two users")
							break
						}
					}
					for i := range b.Bytes() {
						b.Bytes()[i] = 7
					}
					if p.Deallocate(b) != nil {
						t.Error("refused")
					}
					if !errors.Is(p.Deallocate(b), ErrNotLent) {
						t.Error("taken back twice")
					}
					ended[0].Add(1)
				case errors.Is(err, ErrExhausted):
					ended[1].Add(1)
				case errors.Is(err, ErrInterrupted):
					ended[2].Add(1)
				default:
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if u := p.Usage(); u.Available != 1000 || u.Lent != 0 || u.Accumulated != 0 || u.Queued != 0 {
		t.Fatal(u)
	}
	t.Log("lent, exhausted, interrupted:", ended[0].Load(), ended[1].Load(), ended[2].Load())
}

func TestWaitersAreServedInOrder(t *testing.T) {
	p := must(t, Config{Total: 10, Poolable: 1})
	all, err := p.Allocate(nil, 10, 0)
	if err != nil {
		t.Fatal(err)
	}
	const n = 20
	got := make(chan int, n)
	for i := range n {
		go func() {
			b, err := p.Allocate(nil, 7, 60_000)
			if err != nil {
				t.Error(err)
				return
			}
			got <- i
			if err := p.Deallocate(b); err != nil {
				t.Error(err)
			}
		}()
		wait(t, "queued", func() bool { return p.Usage().Queued == i+1 })
	}
	if err := p.Deallocate(all); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if x := <-got; x != i {
			t.Fatalf("%d before %d", x, i)
		}
	}
}

func TestCloseWakesEveryone(t *testing.T) {
	p := must(t, Config{Total: 10, Poolable: 10})
	b, _ := p.Allocate(nil, 10, 0)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, err := p.Allocate(nil, 3, park.MaxMs-1_000_000); !errors.Is(err, ErrClosed) {
				t.Error(err)
			}
		})
	}
	wait(t, "8 queued", func() bool { return p.Usage().Queued == 8 })
	p.Close()
	wg.Wait()
	if _, err := p.Allocate(nil, 0, 0); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if p.Deallocate(b) != nil || p.Usage().Available != 10 {
		t.Error("not taken back")
	}
}

type failing struct{ Heap }

func (failing) Make(th *park.Thread, n int64) ([]byte, error) {
	if th != nil && th.Tag == "fail" {
		panic("no memory")
	}
	return Heap{}.Make(th, n)
}

func TestAFailedAllocationIsRefundedToWhoWaits(t *testing.T) {
	p := must(t, Config{Total: 10, Poolable: 3, Memory: failing{}})
	for range 200 {
		first, _ := p.Allocate(nil, 10, 0)
		got := make(chan error, 2)
		go func() {
			_, err := p.Allocate(&park.Thread{Tag: "fail"}, 10, 10_000)
			got <- err
		}()
		wait(t, "1", func() bool { return p.Usage().Queued == 1 })
		go func() {
			b, err := p.Allocate(nil, 9, 10_000)
			got <- err
			if err == nil {
				_ = p.Deallocate(b)
			}
		}()
		wait(t, "2", func() bool { return p.Usage().Queued == 2 })
		_ = p.Deallocate(first)
		if a, b := <-got, <-got; (a == nil) == (b == nil) {
			t.Fatal(a, b)
		}
		wait(t, "all back", func() bool { return p.Usage().Available == 10 })
	}
}

func TestInterruptAfterTheSignalComesTooLate(t *testing.T) {
	p := must(t, Config{Total: 10, Poolable: 3})
	for range 200 {
		b, _ := p.Allocate(nil, 10, 0)
		th := &park.Thread{}
		got := make(chan error)
		go func() {
			b, err := p.Allocate(th, 10, 10_000)
			if err == nil {
				_ = p.Deallocate(b)
			}
			got <- err
		}()
		wait(t, "queued", func() bool { return p.Usage().Queued == 1 })
		_ = p.Deallocate(b)
		th.Interrupt()
		if err := <-got; err != nil || !th.IsInterrupted() {
			t.Fatal(err)
		}
	}
}

func TestMappedMemory(t *testing.T) {
	p := must(t, Config{Total: 1 << 20, Poolable: 4096, Memory: Mapped{}})
	for i := range int64(100) {
		b, err := p.Allocate(nil, 4096*(i%3), 0)
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.Bytes() {
			b.Bytes()[i] = 1
		}
		if err := p.Deallocate(b); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWindows(t *testing.T) {
	var w WaitTime
	_ = w.Record(nil, 1000, Nanos{Ms: 1000})
	if r := w.Ratio(1000); r != 1.0/30 {
		t.Error(r)
	}
	_ = w.Record(nil, 30_000, Nanos{Ms: 2000})
	if r := w.Ratio(80_000); r != 3000.0/79_000 {
		t.Error(r)
	}
	if r := w.Ratio(90_000); r != 0 {
		t.Error(r)
	}
}
