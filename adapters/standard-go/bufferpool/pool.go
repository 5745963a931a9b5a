// Package bufferpool lends memory of a fixed total to threads. Who finds too
// little waits in a line, and only the first of the line takes what comes back.
package bufferpool

import (
	"errors"
	"fmt"
	"sync"

	"wheelproof/adapters/standard-go/park"
)

// MaxBytes is the largest total and poolable size (standard 3.1.2).
const MaxBytes = int64(1)<<62 - 1

var (
	ErrDomain      = errors.New("outside the domain")
	ErrNotLent     = errors.New("this buffer is not on loan from this pool")
	ErrExhausted   = errors.New("buffer exhausted: no memory within the time")
	ErrClosed      = errors.New("the pool is closed")
	ErrInterrupted = errors.New("interrupted while waiting for memory")
)

// Memory is where buffers come from. Make is called without the pool's lock
// and may take long or fail; Drop is called with it and has to be quick.
type Memory interface {
	Make(t *park.Thread, n int64) ([]byte, error)
	Drop([]byte)
}

// Heap is Go's heap. What is dropped is there until the next collection, so
// 6.6.1 is kept only up to the collector; Mapped keeps it.
type Heap struct{}

func (Heap) Make(_ *park.Thread, n int64) ([]byte, error) {
	if int64(int(n)) != n {
		return nil, fmt.Errorf("%w: %d bytes", ErrDomain, n)
	}
	return make([]byte, n), nil
}

func (Heap) Drop([]byte) {}

// Recorder is told of each wait.
type Recorder interface {
	Record(t *park.Thread, endMs int64, waitedNs Nanos) error
}

// Buffer is one loan: a memory that is lent again has another Buffer.
type Buffer struct {
	pool  *Pool
	size  int64
	bytes []byte
	lent  bool // with the pool's lock
}

// Bytes is the memory; it is not to be touched after Deallocate.
func (b *Buffer) Bytes() []byte { return b.bytes }

// Size is what was asked for.
func (b *Buffer) Size() int64 { return b.size }

// Config of a pool. Clock, Memory and Recorder have defaults; Activity is for
// drivers only.
type Config struct {
	Total, Poolable int64
	Clock           park.Clock
	Memory          Memory
	Recorder        Recorder
	Activity        *park.Activity
}

type place struct{ cond park.Cond }

// Pool is safe for many threads.
type Pool struct {
	total, poolable int64
	clock           park.Clock
	memory          Memory
	recorder        Recorder
	act             *park.Activity

	mu          sync.Mutex
	kept        [][]byte // each of the poolable size
	unallocated int64
	lent        int64 // with what is being allocated
	accumulated int64 // by the first of the line only
	line        []*place
	closed      bool
}

func New(c Config) (*Pool, error) {
	if c.Total < 0 || c.Total > MaxBytes || c.Poolable < 1 || c.Poolable > MaxBytes {
		return nil, fmt.Errorf("%w: total %d, poolable size %d", ErrDomain, c.Total, c.Poolable)
	}
	if c.Clock == nil {
		c.Clock = park.NewSystem()
	}
	if c.Memory == nil {
		c.Memory = Heap{}
	}
	if c.Recorder == nil {
		c.Recorder = &WaitTime{}
	}
	return &Pool{total: c.Total, poolable: c.Poolable, clock: c.Clock, memory: c.Memory,
		recorder: c.Recorder, act: c.Activity, unallocated: c.Total}, nil
}

// available: no overflow, since all of it is part of the total.
func (p *Pool) available() int64 { return p.unallocated + int64(len(p.kept))*p.poolable }

// wake signals the first of the line, if anything is available.
func (p *Pool) wake() {
	if len(p.line) > 0 && p.available() > 0 {
		p.line[0].cond.Notify()
	}
}

// take moves up to n available bytes out; kept buffers are broken up only as needed.
func (p *Pool) take(n int64) int64 {
	for p.unallocated < n && len(p.kept) > 0 {
		last := len(p.kept) - 1
		p.memory.Drop(p.kept[last])
		p.kept[last] = nil
		p.kept = p.kept[:last]
		p.unallocated += p.poolable
	}
	n = min(n, p.unallocated)
	p.unallocated -= n
	return n
}

func (p *Pool) takeKept() []byte {
	last := len(p.kept) - 1
	b := p.kept[last]
	p.kept[last] = nil
	p.kept = p.kept[:last]
	return b
}

// Allocate lends size bytes, or waits for them, at most maxMs from now. t may be nil.
func (p *Pool) Allocate(t *park.Thread, size, maxMs int64) (*Buffer, error) {
	if size < 0 || size > p.total {
		return nil, fmt.Errorf("%w: a size of %d bytes of %d", ErrDomain, size, p.total)
	}
	if maxMs < 0 || maxMs > park.MaxMs {
		return nil, fmt.Errorf("%w: a limit of %d ms", ErrDomain, maxMs)
	}
	begin, _ := p.clock.Now()
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, ErrClosed
	}
	var memory []byte
	var err error
	if size == 0 || len(p.line) == 0 && p.available() >= size {
		if size == p.poolable && len(p.kept) > 0 {
			memory = p.takeKept()
		} else {
			p.take(size)
		}
	} else if memory, err = p.wait(t, size, begin+maxMs); err != nil {
		p.mu.Unlock()
		return nil, err
	}
	p.lent += size
	p.mu.Unlock()
	if memory == nil {
		if memory, err = p.make(t, size); err != nil {
			p.mu.Lock()
			p.lent -= size
			p.unallocated += size
			p.wake()
			p.mu.Unlock()
			return nil, err
		}
	} else {
		clear(memory)
	}
	return &Buffer{pool: p, size: size, bytes: memory, lent: true}, nil
}

// make is the allocator's call; a panic of it is an error of it.
func (p *Pool) make(t *park.Thread, size int64) (memory []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			memory, err = nil, fmt.Errorf("the allocator panicked: %v", r)
		}
	}()
	memory, err = p.memory.Make(t, size)
	if err == nil && memory == nil {
		memory = []byte{}
	}
	return memory, err
}

func (p *Pool) record(t *park.Thread, end int64, waited Nanos) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the metric panicked: %v", r)
		}
	}()
	return p.recorder.Record(t, end, waited)
}

// wait has the lock when it begins and when it ends. Without an error size
// bytes are the caller's: a kept buffer, or as many that are no buffer yet.
func (p *Pool) wait(t *park.Thread, size, deadline int64) (memory []byte, err error) {
	me := &place{park.Cond{L: &p.mu, Clock: p.clock, Act: p.act}}
	p.line = append(p.line, me)
	var mine int64
	defer func() {
		for i, w := range p.line {
			if w == me {
				p.line = append(p.line[:i], p.line[i+1:]...)
				break
			}
		}
		p.accumulated -= mine
		if err != nil {
			p.unallocated += mine
		}
		p.wake()
	}()
	gather := func() bool {
		if p.line[0] != me {
			return false
		}
		if mine == 0 && size == p.poolable && len(p.kept) > 0 {
			memory = p.takeKept()
			return true
		}
		n := p.take(size - mine)
		mine += n
		p.accumulated += n
		return mine == size
	}
	if gather() { // cannot be enough: it was tested
		return memory, nil
	}
	for {
		beginMs, beginNs := p.clock.Now()
		outcome := me.cond.Wait(t, deadline)
		endMs, endNs := p.clock.Now()
		if err := p.record(t, endMs, between(beginMs, beginNs, endMs, endNs)); err != nil {
			return nil, err
		}
		switch {
		case outcome == park.Interrupted:
			return nil, ErrInterrupted
		case p.closed:
			return nil, ErrClosed
		case gather():
			return memory, nil
		case outcome == park.TimedOut || endMs >= deadline:
			return nil, ErrExhausted
		}
	}
}

// Deallocate takes a buffer back.
func (p *Pool) Deallocate(b *Buffer) error {
	if b == nil || b.pool != p {
		return ErrNotLent
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !b.lent {
		return ErrNotLent
	}
	b.lent = false
	memory := b.bytes
	b.bytes = nil
	p.lent -= b.size
	if b.size == p.poolable {
		p.kept = append(p.kept, memory)
	} else {
		p.memory.Drop(memory)
		p.unallocated += b.size
	}
	if len(p.line) > 0 {
		p.line[0].cond.Notify()
	}
	return nil
}

// Close ends every wait, and every later allocation, by ErrClosed.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, w := range p.line {
		w.cond.Notify()
	}
}

// Usage is one look at all of it.
type Usage struct {
	Available, Unallocated, Lent, Accumulated int64
	Queued                                    int
}

func (p *Pool) Usage() Usage {
	p.mu.Lock()
	defer p.mu.Unlock()
	return Usage{p.available(), p.unallocated, p.lent, p.accumulated, len(p.line)}
}
