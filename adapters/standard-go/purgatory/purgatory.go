package purgatory

import (
	"errors"
	"fmt"
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"
)

var (
	ErrKey    = errors.New("a key cannot be hashed, or there is none")
	ErrHanded = errors.New("this operation was handed in before")
)

const (
	shards = 64
	passMs = 200
)

type shard struct {
	mu    sync.Mutex
	lists map[any][]*Operation
}

// Config of a purgatory. Without a Timer nothing expires. Reaper starts the
// thread that makes a pass at least every 200 ms; else call Pass.
type Config struct {
	Timer         *Timer
	PurgeInterval int
	Reaper        bool
	Log           func(error)
}

// Purgatory is safe for many threads.
type Purgatory struct {
	timer    *Timer
	interval int64
	log      func(error)
	seed     maphash.Seed
	shards   [shards]shard
	garbage  atomic.Int64 // operations that are done and in a list
	shut     atomic.Bool
	pass     sync.Mutex
	stop     chan struct{}
	stopOnce sync.Once
	reaped   chan struct{}
}

func New(c Config) (*Purgatory, error) {
	if c.PurgeInterval < 0 {
		return nil, fmt.Errorf("%w: a purge interval of %d", ErrDomain, c.PurgeInterval)
	}
	if c.Timer != nil {
		if err := c.Timer.claim(); err != nil {
			return nil, err
		}
	}
	if c.Log == nil {
		c.Log = func(error) {}
	}
	p := &Purgatory{timer: c.Timer, interval: int64(c.PurgeInterval), log: c.Log, seed: maphash.MakeSeed(),
		stop: make(chan struct{}), reaped: make(chan struct{})}
	for i := range p.shards {
		p.shards[i].lists = map[any][]*Operation{}
	}
	if c.Reaper {
		go p.reap()
	} else {
		close(p.reaped)
	}
	return p, nil
}

// shardOf panics for a key that cannot be hashed.
func (p *Purgatory) shardOf(key any) *shard {
	return &p.shards[maphash.Comparable(p.seed, key)%shards]
}

func (p *Purgatory) checkKeys(keys []any) (err error) {
	if len(keys) == 0 {
		return ErrKey
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v", ErrKey, r)
		}
	}()
	for _, k := range keys {
		p.shardOf(k)
	}
	return nil
}

// TryCompleteElseWatch tries the operation, watches it under each key, tries
// it again and starts its time-out. True if this call completed it, also with
// an error, if OnComplete raised.
func (p *Purgatory) TryCompleteElseWatch(o *Operation, keys ...any) (bool, error) {
	if err := p.checkKeys(keys); err != nil {
		return false, err
	}
	if err := checkDelay(o.delayMs); err != nil {
		return false, err
	}
	if p.shut.Load() {
		return false, ErrShut
	}
	o.mu.Lock()
	if o.handed {
		o.mu.Unlock()
		return false, ErrHanded
	}
	o.handed = true
	o.home = p
	o.mu.Unlock()
	if done, err := o.try(); done || err != nil {
		if !done { // as it was: it may be handed in again
			o.mu.Lock()
			o.handed = false
			o.mu.Unlock()
		}
		return done, err
	}
	seen := make(map[any]bool, len(keys))
	for _, k := range keys {
		if seen[k] {
			continue
		}
		seen[k] = true
		if !o.watched() {
			break // done meanwhile: nobody need find it
		}
		s := p.shardOf(k)
		s.mu.Lock()
		s.lists[k] = append(s.lists[k], o)
		s.mu.Unlock()
	}
	done, err := o.try()
	if err == nil && !done && p.timer != nil {
		err = o.startTimeout(p.timer, p.log)
	}
	if err != nil {
		o.end(givenUp)
		for k := range seen {
			p.remove(k, func(x *Operation) bool { return x == o })
		}
	}
	return done, err
}

// remove takes out of the list of a key whom out names, and drops it if empty.
func (p *Purgatory) remove(key any, out func(*Operation) bool) {
	s := p.shardOf(key)
	s.mu.Lock()
	gone := s.remove(key, out)
	s.mu.Unlock()
	for _, o := range gone {
		o.unwatched()
	}
}

// remove is with the shard's lock; unwatched is to be called without it, since
// the operation's lock comes first.
func (s *shard) remove(key any, out func(*Operation) bool) (gone []*Operation) {
	list, ok := s.lists[key]
	if !ok {
		return nil
	}
	var kept []*Operation
	for _, o := range list {
		if out(o) {
			gone = append(gone, o)
		} else {
			kept = append(kept, o)
		}
	}
	if len(kept) == 0 {
		delete(s.lists, key)
	} else {
		s.lists[key] = kept
	}
	return gone
}

func (p *Purgatory) snapshot(key any) []*Operation {
	s := p.shardOf(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*Operation(nil), s.lists[key]...)
}

// CheckAndComplete tries who is watched under the key, in the order of the
// watches, and counts whom this call completed. Whatever is raised, all are tried.
func (p *Purgatory) CheckAndComplete(key any) (count int, err error) {
	if err := p.checkKeys([]any{key}); err != nil {
		return 0, err
	}
	var errs []error
	done := map[*Operation]bool{}
	for _, o := range p.snapshot(key) {
		completed, err := o.try()
		if completed {
			count++
		}
		if err != nil {
			errs = append(errs, err)
		}
		if o.Done() {
			done[o] = true
		}
	}
	if len(done) > 0 {
		p.remove(key, func(o *Operation) bool { return done[o] })
	}
	return count, errors.Join(errs...)
}

// CancelForKey gives up who waits under the key, and returns them.
func (p *Purgatory) CancelForKey(key any) ([]*Operation, error) {
	if err := p.checkKeys([]any{key}); err != nil {
		return nil, err
	}
	s := p.shardOf(key)
	s.mu.Lock()
	list := s.lists[key]
	delete(s.lists, key)
	s.mu.Unlock()
	var mine []*Operation
	for _, o := range list {
		if o.end(givenUp) {
			mine = append(mine, o)
		}
		o.unwatched()
	}
	return mine, nil
}

// Pass is one pass of the reaper: what is due is submitted, and the lists are
// purged if more than the interval is done in them.
func (p *Purgatory) Pass() error {
	p.pass.Lock()
	defer p.pass.Unlock()
	err := p.Expire()
	p.PurgeIfDue()
	return err
}

// Expire submits what is due to the timer's executor.
func (p *Purgatory) Expire() error {
	if p.timer == nil {
		return nil
	}
	return p.timer.advance()
}

// PurgeIfDue purges if more than the interval is done in the lists.
func (p *Purgatory) PurgeIfDue() {
	if p.garbage.Load() > p.interval {
		p.Purge()
	}
}

// Purge drops all that are done from the lists.
func (p *Purgatory) Purge() {
	for i := range p.shards {
		s := &p.shards[i]
		s.mu.Lock()
		keys := make([]any, 0, len(s.lists))
		for k := range s.lists {
			keys = append(keys, k)
		}
		s.mu.Unlock()
		for _, k := range keys {
			done := map[*Operation]bool{}
			for _, o := range p.snapshot(k) {
				if o.Done() {
					done[o] = true
				}
			}
			if len(done) > 0 {
				p.remove(k, func(o *Operation) bool { return done[o] })
			}
		}
	}
}

// Idle waits until the expiries that were submitted have run. Not for callbacks.
func (p *Purgatory) Idle() {
	if p.timer != nil {
		p.timer.exec.idle()
	}
}

// Watched counts each operation once for each of its keys, done ones that are
// not dropped yet included; keys is how many have a list.
func (p *Purgatory) Watched() (watched, keys int) {
	for i := range p.shards {
		s := &p.shards[i]
		s.mu.Lock()
		keys += len(s.lists)
		for _, l := range s.lists {
			watched += len(l)
		}
		s.mu.Unlock()
	}
	return watched, keys
}

// NumDelayed is how many time-outs wait.
func (p *Purgatory) NumDelayed() int {
	if p.timer == nil {
		return 0
	}
	return p.timer.Size()
}

func (p *Purgatory) reap() {
	defer close(p.reaped)
	for {
		wait := time.Duration(passMs) * time.Millisecond
		var earlier chan struct{}
		if p.timer != nil {
			earlier = p.timer.earlier
			if due, any := p.timer.next(); any {
				if now, _ := p.timer.clock.Now(); due-now < passMs {
					wait = time.Duration(max(due-now, 0)) * time.Millisecond
				}
			}
		}
		alarm := time.NewTimer(wait)
		select {
		case <-p.stop:
			alarm.Stop()
			return
		case <-earlier:
			alarm.Stop()
		case <-alarm.C:
		}
		if err := p.guardedPass(); errors.Is(err, ErrShut) {
			return
		} else if err != nil {
			p.log(err)
			select {
			case <-p.stop:
				return
			case <-time.After(passMs * time.Millisecond):
			}
		}
	}
}

func (p *Purgatory) guardedPass() error { return guarded(p.Pass) }

// Shutdown refuses operations from now on, lets a pass and the expiries under
// way end, and ends the threads. Who is pending stays so, and can be
// triggered, forced and cancelled. A callback may call it.
func (p *Purgatory) Shutdown() {
	p.shut.Store(true)
	p.stopOnce.Do(func() { close(p.stop) })
	<-p.reaped
	if p.timer != nil {
		p.timer.close()
	}
}
