package purgatory

import (
	"container/heap"
	"errors"
	"fmt"
	"sync"

	"wheelproof/adapters/standard-go/park"
)

var (
	ErrDomain   = errors.New("outside the domain")
	ErrTimerHas = errors.New("this timer has a purgatory already")
)

type timeout struct {
	timer    *Timer
	due, seq int64
	run      func() error
	index    int
}

type timeouts []*timeout

func (a timeouts) Len() int { return len(a) }
func (a timeouts) Less(i, j int) bool {
	return a[i].due < a[j].due || a[i].due == a[j].due && a[i].seq < a[j].seq
}
func (a timeouts) Swap(i, j int) {
	a[i], a[j] = a[j], a[i]
	a[i].index, a[j].index = i, j
}
func (a *timeouts) Push(x any) {
	e := x.(*timeout)
	e.index = len(*a)
	*a = append(*a, e)
}
func (a *timeouts) Pop() any {
	old := *a
	e := old[len(old)-1]
	old[len(old)-1] = nil
	*a = old[:len(old)-1]
	e.index = -1
	return e
}

// Timer runs time-outs on its executor, in the order in which they are due.
// A due time is rounded down to a multiple of the tick.
type Timer struct {
	clock   park.Clock
	tick    int64
	exec    *executor
	earlier chan struct{} // a time-out is the next now

	mu      sync.Mutex
	seq     int64
	heap    timeouts
	closed  bool
	claimed bool
}

// NewTimer makes a timer; log is told what its tasks raise.
func NewTimer(clock park.Clock, tickMs int64, log func(error)) (*Timer, error) {
	if tickMs < 1 || tickMs > park.MaxMs {
		return nil, fmt.Errorf("%w: a tick of %d ms", ErrDomain, tickMs)
	}
	if log == nil {
		log = func(error) {}
	}
	return &Timer{clock: clock, tick: tickMs, exec: newExecutor(log), earlier: make(chan struct{}, 1)}, nil
}

func (t *Timer) claim() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.claimed {
		return ErrTimerHas
	}
	t.claimed = true
	return nil
}

func checkDelay(ms int64) error {
	if ms < -park.MaxMs || ms > park.MaxMs {
		return fmt.Errorf("%w: a delay of %d ms", ErrDomain, ms)
	}
	return nil
}

// add submits at once what is due; nil means that it does not wait.
func (t *Timer) add(delayMs int64, run func() error) (*timeout, error) {
	now, _ := t.clock.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, ErrShut
	}
	due := now + delayMs
	due -= due % t.tick
	if due <= now {
		return nil, t.exec.submit(run)
	}
	t.seq++
	e := &timeout{timer: t, due: due, seq: t.seq, run: run}
	heap.Push(&t.heap, e)
	if e.index == 0 {
		select {
		case t.earlier <- struct{}{}:
		default:
		}
	}
	return e, nil
}

func (e *timeout) cancel() {
	e.timer.mu.Lock()
	defer e.timer.mu.Unlock()
	if e.index >= 0 {
		heap.Remove(&e.timer.heap, e.index)
	}
}

// advance submits all that is due. What is refused stays.
func (t *Timer) advance() error {
	now, _ := t.clock.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return ErrShut
	}
	for len(t.heap) > 0 && t.heap[0].due <= now {
		if err := t.exec.submit(t.heap[0].run); err != nil {
			return err
		}
		heap.Pop(&t.heap)
	}
	return nil
}

// next is when the next one is due.
func (t *Timer) next() (ms int64, any bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.heap) == 0 {
		return 0, false
	}
	return t.heap[0].due, true
}

// Size is how many wait.
func (t *Timer) Size() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.heap)
}

func (t *Timer) close() {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.exec.shutdown()
}
