// Package park has what a thread waits with: a clock, a condition for one
// waiter, an interrupt, and a count of who can go on.
package park

import (
	"container/heap"
	"errors"
	"runtime"
	"sync"
	"time"
)

// MaxMs is the largest time and limit (standard 6.1.1).
const MaxMs = int64(1)<<62 - 1

// Clock is monotonic. Now is whole milliseconds and the nanoseconds beyond.
type Clock interface {
	Now() (ms int64, ns int64)
	// At calls f once the clock shows ms. f must not block.
	At(ms int64, f func()) (stop func())
}

// System is the machine's clock, from 0.
type System struct{ begin time.Time }

func NewSystem() *System { return &System{begin: time.Now()} }

func (c *System) Now() (int64, int64) {
	d := time.Since(c.begin)
	return int64(d / time.Millisecond), int64(d % time.Millisecond)
}

func (c *System) At(ms int64, f func()) func() {
	left := time.Duration(1<<63 - 1)
	if ms < int64(left/time.Millisecond) {
		left = time.Duration(ms)*time.Millisecond - time.Since(c.begin)
	}
	t := time.AfterFunc(left, f)
	return func() { t.Stop() }
}

type alarm struct {
	ms, seq int64
	f       func()
	index   int
}

type alarms []*alarm

func (a alarms) Len() int { return len(a) }
func (a alarms) Less(i, j int) bool {
	return a[i].ms < a[j].ms || a[i].ms == a[j].ms && a[i].seq < a[j].seq
}
func (a alarms) Swap(i, j int) {
	a[i], a[j] = a[j], a[i]
	a[i].index, a[j].index = i, j
}
func (a *alarms) Push(x any) {
	e := x.(*alarm)
	e.index = len(*a)
	*a = append(*a, e)
}
func (a *alarms) Pop() any {
	old := *a
	e := old[len(old)-1]
	old[len(old)-1] = nil
	*a = old[:len(old)-1]
	e.index = -1
	return e
}

// Manual is a clock that is set.
type Manual struct {
	mu  sync.Mutex
	ms  int64
	seq int64
	due alarms
}

func NewManual(ms int64) *Manual { return &Manual{ms: ms} }

func (c *Manual) Now() (int64, int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ms, 0
}

func (c *Manual) At(ms int64, f func()) func() {
	c.mu.Lock()
	if ms <= c.ms {
		c.mu.Unlock()
		f()
		return func() {}
	}
	c.seq++
	e := &alarm{ms: ms, seq: c.seq, f: f}
	heap.Push(&c.due, e)
	c.mu.Unlock()
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if e.index >= 0 {
			heap.Remove(&c.due, e.index)
		}
	}
}

var ErrBackwards = errors.New("the clock does not go back")

// Advance sets the clock, then rings what is due, in the order of the times;
// after each, settle is called, if there is one.
func (c *Manual) Advance(to int64, settle func()) error {
	c.mu.Lock()
	if to < c.ms || to > MaxMs {
		c.mu.Unlock()
		return ErrBackwards
	}
	c.ms = to
	for len(c.due) > 0 && c.due[0].ms <= c.ms {
		e := heap.Pop(&c.due).(*alarm)
		c.mu.Unlock()
		e.f()
		if settle != nil {
			settle()
		}
		c.mu.Lock()
	}
	c.mu.Unlock()
	return nil
}

// Activity counts the threads that can go on. Whoever wakes a thread counts
// it, so that the count is 0 only if all wait or have ended. nil counts nobody.
type Activity struct {
	mu   sync.Mutex
	zero *sync.Cond
	n    int
}

func NewActivity() *Activity {
	a := &Activity{}
	a.zero = sync.NewCond(&a.mu)
	return a
}

func (a *Activity) Add(n int) {
	if a == nil {
		return
	}
	a.mu.Lock()
	a.n += n
	if a.n == 0 {
		a.zero.Broadcast()
	}
	a.mu.Unlock()
}

// Settle waits until nobody can go on.
func (a *Activity) Settle() {
	a.mu.Lock()
	for a.n != 0 {
		a.zero.Wait()
	}
	a.mu.Unlock()
}

// Outcome says what ended a wait.
type Outcome int

const (
	Notified Outcome = iota
	TimedOut
	Interrupted
)

type parked struct {
	mu      sync.Mutex
	claimed bool
	outcome Outcome
	gone    chan struct{}
	act     *Activity
}

// claim ends the wait, if nobody else has.
func (p *parked) claim(o Outcome) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.claimed {
		return false
	}
	p.claimed, p.outcome = true, o
	p.act.Add(1)
	close(p.gone)
	return true
}

// Thread is who waits: it can be interrupted. Tag is its owner's.
type Thread struct {
	Tag    any
	mu     sync.Mutex
	status bool
	at     *parked
}

func (t *Thread) Interrupt() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.at != nil && t.at.claim(Interrupted) {
		return // the wait takes the status with it
	}
	t.status = true
}

// IsInterrupted tells the status.
func (t *Thread) IsInterrupted() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.status
}

// park registers a wait; false if the status was set, which is cleared.
func (t *Thread) park(p *parked) bool {
	if t == nil {
		return true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.status {
		t.status = false
		return false
	}
	t.at = p
	return true
}

func (t *Thread) unpark() {
	if t == nil {
		return
	}
	t.mu.Lock()
	t.at = nil
	t.mu.Unlock()
}

// Cond is a condition with one waiter. Its lock is held in all calls.
type Cond struct {
	L     sync.Locker
	Clock Clock
	Act   *Activity
	at    *parked
}

// Wait gives up the lock until it is notified, the thread is interrupted or
// the clock shows the deadline; the lock is held again when it returns.
func (c *Cond) Wait(t *Thread, deadlineMs int64) Outcome {
	p := &parked{gone: make(chan struct{}), act: c.Act}
	if !t.park(p) {
		return Interrupted
	}
	c.at = p
	if now, _ := c.Clock.Now(); now >= deadlineMs {
		c.L.Unlock()
		runtime.Gosched()
		p.claim(TimedOut) // or somebody else was first: either counts this thread again
		<-p.gone
		c.Act.Add(-1)
		c.L.Lock()
	} else {
		stop := c.Clock.At(deadlineMs, func() { p.claim(TimedOut) })
		c.L.Unlock()
		c.Act.Add(-1)
		<-p.gone
		stop()
		c.L.Lock()
	}
	c.at = nil
	t.unpark()
	return p.outcome
}

// Notify ends the wait; false if nobody waits or its wait has ended.
func (c *Cond) Notify() bool { return c.at != nil && c.at.claim(Notified) }
