package purgatory

import "sync"

type state int

const (
	pending state = iota
	completed
	givenUp
)

// Hooks is what an operation does. Test has no side effects and does not call
// the purgatory. OnComplete may call all of it. nil does nothing; a nil Test
// never holds.
type Hooks struct {
	Test         func() (bool, error)
	OnComplete   func() error
	OnExpiration func() error
}

// Operation ends once: it is completed or given up. Tries, forced completions
// and expiries of one operation exclude each other, OnComplete included; who
// would have to wait for one that is done does not wait.
type Operation struct {
	hooks   Hooks
	delayMs int64

	mu      sync.Mutex
	free    *sync.Cond // not busy, or done
	state   state
	busy    bool
	handed  bool
	home    *Purgatory
	watches int // lists that it is in
	timeout *timeout
}

func NewOperation(delayMs int64, hooks Hooks) *Operation {
	o := &Operation{hooks: hooks, delayMs: delayMs}
	o.free = sync.NewCond(&o.mu)
	return o
}

// Done tells whether it was completed or given up.
func (o *Operation) Done() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.state != pending
}

// enter waits until nobody tries it; false if it is done.
func (o *Operation) enter() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.busy && o.state == pending {
		o.free.Wait()
	}
	if o.state != pending {
		return false
	}
	o.busy = true
	return true
}

func (o *Operation) leave() {
	o.mu.Lock()
	o.busy = false
	o.free.Broadcast()
	o.mu.Unlock()
}

// end makes it done, and takes its time-out away; false if it was.
func (o *Operation) end(s state) bool {
	o.mu.Lock()
	if o.state != pending {
		o.mu.Unlock()
		return false
	}
	o.state = s
	t := o.timeout
	o.timeout = nil
	if o.watches > 0 {
		o.home.garbage.Add(1)
	}
	o.free.Broadcast()
	o.mu.Unlock()
	if t != nil {
		t.cancel()
	}
	return true
}

// completeEntered: by who has entered it.
func (o *Operation) completeEntered() (bool, error) {
	if !o.end(completed) {
		return false, nil
	}
	return true, guarded(o.hooks.OnComplete)
}

// try tests, and completes it if it holds; true if this call completed it.
func (o *Operation) try() (bool, error) {
	if !o.enter() {
		return false, nil
	}
	defer o.leave()
	holds := false
	err := guarded(func() (err error) {
		if o.hooks.Test != nil {
			holds, err = o.hooks.Test()
		}
		return err
	})
	if err != nil || !holds {
		return false, err
	}
	return o.completeEntered()
}

// ForceComplete completes it as it is; true if this call completed it, also
// if OnComplete raises.
func (o *Operation) ForceComplete() (bool, error) {
	if !o.enter() {
		return false, nil
	}
	defer o.leave()
	return o.completeEntered()
}

// expire is the time-out's task.
func (o *Operation) expire(log func(error)) {
	done, err := o.ForceComplete()
	if err != nil {
		log(err)
	}
	if done {
		if err := guarded(o.hooks.OnExpiration); err != nil {
			log(err)
		}
	}
}

// startTimeout: a done operation gets none.
func (o *Operation) startTimeout(t *Timer, log func(error)) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.state != pending {
		return nil
	}
	e, err := t.add(o.delayMs, func() error { o.expire(log); return nil })
	o.timeout = e
	return err
}

// watched and unwatched count the lists that it is in.
func (o *Operation) watched() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.state != pending {
		return false
	}
	o.watches++
	return true
}

func (o *Operation) unwatched() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.watches--
	if o.watches == 0 && o.state != pending {
		o.home.garbage.Add(-1)
	}
}
