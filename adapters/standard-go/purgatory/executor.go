// Package purgatory holds operations that cannot be completed yet: each is
// watched under keys, has a time-out in a timer, and ends once.
package purgatory

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"time"
)

// ErrShut is what refuses after a shutdown.
var ErrShut = errors.New("shut down")

// Panic is what a callback panicked with.
type Panic struct{ Value any }

func (p *Panic) Error() string { return fmt.Sprintf("panic: %v", p.Value) }

// guarded calls f; a panic is an error.
func guarded(f func() error) (err error) {
	if f == nil {
		return nil
	}
	defer func() {
		if r := recover(); r != nil {
			err = &Panic{r}
		}
	}()
	return f()
}

// goroutine is the number of the calling goroutine. Go hides it, and a close
// has to know whether it is called by the very task that it would wait for.
func goroutine() int64 {
	var room [64]byte
	b := room[:runtime.Stack(room[:], false)]
	b = bytes.TrimPrefix(b, []byte("goroutine "))
	n, _ := strconv.ParseInt(string(b[:bytes.IndexByte(b, ' ')]), 10, 64)
	return n
}

// executor runs tasks one after another, on a goroutine of its own.
type executor struct {
	mu      sync.Mutex
	changed *sync.Cond
	queue   []func() error
	busy    bool
	started bool
	shut    bool
	ended   chan struct{}
	who     int64
	log     func(error)
}

func newExecutor(log func(error)) *executor {
	e := &executor{log: log, ended: make(chan struct{})}
	e.changed = sync.NewCond(&e.mu)
	return e
}

func (e *executor) submit(f func() error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.shut {
		return ErrShut
	}
	if !e.started {
		e.started = true
		go e.run()
	}
	e.queue = append(e.queue, f)
	e.changed.Broadcast()
	return nil
}

func (e *executor) run() {
	defer close(e.ended)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.who = goroutine()
	for {
		for len(e.queue) == 0 {
			if e.shut {
				return
			}
			e.changed.Wait()
		}
		f := e.queue[0]
		e.queue[0] = nil
		e.queue = e.queue[1:]
		e.busy = true
		e.mu.Unlock()
		if err := guarded(f); err != nil {
			e.log(err)
		}
		e.mu.Lock()
		e.busy = false
		e.changed.Broadcast()
	}
}

// idle waits until all that was submitted has run. Not for tasks.
func (e *executor) idle() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for e.busy || len(e.queue) > 0 {
		e.changed.Wait()
	}
}

// shutdown takes no more, and waits for what it has, at most 5 s; a task that
// calls it does not wait.
func (e *executor) shutdown() {
	e.mu.Lock()
	e.shut = true
	e.changed.Broadcast()
	wait := e.started && e.who != goroutine()
	e.mu.Unlock()
	if wait {
		select {
		case <-e.ended:
		case <-time.After(5 * time.Second):
		}
	}
}
