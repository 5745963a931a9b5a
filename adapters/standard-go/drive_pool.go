package main

import (
	"encoding/json"
	"errors"
	"sync"

	"wheelproof/adapters/standard-go/bufferpool"
	"wheelproof/adapters/standard-go/park"
)

var (
	errNoMemory = errors.New("the allocator fails")
	errMetric   = errors.New("the metric fails")
)

// standIn lends small memories: only the sizes are asked for.
type standIn struct{}

func (standIn) Make(t *park.Thread, n int64) ([]byte, error) {
	if t.Tag == "allocator" {
		return nil, errNoMemory
	}
	return make([]byte, min(n, 16)), nil
}

func (standIn) Drop([]byte) {}

type faulty struct{ bufferpool.WaitTime }

func (f *faulty) Record(t *park.Thread, endMs int64, waited bufferpool.Nanos) error {
	if t.Tag == "metric" {
		return errMetric
	}
	return f.WaitTime.Record(t, endMs, waited)
}

type poolDriver struct {
	clock *park.Manual
	act   *park.Activity
	pool  *bufferpool.Pool
	waits *faulty

	mu      sync.Mutex
	threads map[string]*park.Thread
	buffers map[string]*bufferpool.Buffer
	ended   map[string]string
	refused error
}

func newPoolDriver(config json.RawMessage) (component, error) {
	var c struct {
		Total    int64 `json:"total_memory"`
		Poolable int64 `json:"poolable_size"`
		Start    int64 `json:"start_ms"`
	}
	if err := parse(config, &c); err != nil {
		return nil, err
	}
	d := &poolDriver{clock: park.NewManual(c.Start), act: park.NewActivity(), waits: &faulty{},
		threads: map[string]*park.Thread{}, buffers: map[string]*bufferpool.Buffer{}, ended: map[string]string{}}
	var err error
	d.pool, err = bufferpool.New(bufferpool.Config{Total: c.Total, Poolable: c.Poolable, Clock: d.clock,
		Memory: standIn{}, Recorder: d.waits, Activity: d.act})
	if err != nil {
		return nil, err
	}
	return d, nil
}

func (d *poolDriver) end() {
	d.pool.Close()
	d.act.Settle()
}

func (d *poolDriver) allocate(name string, t *park.Thread, size, limit int64) {
	defer d.act.Add(-1)
	b, err := d.pool.Allocate(t, size, limit)
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case err == nil:
		d.buffers[name] = b
		d.ended[name] = "buffer"
	case errors.Is(err, bufferpool.ErrDomain):
		d.refused = err
	case errors.Is(err, bufferpool.ErrExhausted):
		d.ended[name] = "exhausted"
	case errors.Is(err, bufferpool.ErrClosed):
		d.ended[name] = "closed"
	case errors.Is(err, bufferpool.ErrInterrupted):
		d.ended[name] = "interrupted"
	case errors.Is(err, errNoMemory):
		d.ended[name] = "out_of_memory"
	case errors.Is(err, errMetric):
		d.ended[name] = "metric_failed"
	default:
		d.refused = err
	}
}

func (d *poolDriver) ask(op string, args json.RawMessage) (object, error) {
	var a struct {
		Buffer string `json:"buffer"`
		Name   string `json:"name"`
		Size   int64  `json:"size"`
		Limit  int64  `json:"max_time_to_block_ms"`
		Fault  string `json:"fault"`
		To     int64  `json:"to_ms"`
	}
	if err := parse(args, &a); err != nil {
		return nil, err
	}
	switch op {
	case "allocate":
		if d.threads[a.Buffer] != nil {
			return nil, refuse("IllegalArgument", "the name %q repeats", a.Buffer)
		}
		t := &park.Thread{Tag: a.Fault}
		d.threads[a.Buffer] = t
		if a.Fault == "interrupted_before" {
			t.Interrupt()
		}
		d.act.Add(1)
		go d.allocate(a.Buffer, t, a.Size, a.Limit)
	case "deallocate":
		d.mu.Lock()
		b := d.buffers[a.Buffer]
		d.mu.Unlock()
		if err := d.pool.Deallocate(b); err != nil {
			return nil, err
		}
	case "interrupt":
		if a.Name == "" {
			a.Name = a.Buffer
		}
		if t := d.threads[a.Name]; t != nil {
			t.Interrupt()
		}
	case "advance":
		if err := d.clock.Advance(a.To, d.act.Settle); err != nil {
			return nil, err
		}
	case "close":
		d.pool.Close()
	default:
		return nil, refuse("Unsupported", "no operation %q", op)
	}
	d.act.Settle()
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.refused; err != nil {
		d.refused = nil
		return nil, err
	}
	ended := d.ended
	d.ended = map[string]string{}
	u := d.pool.Usage()
	now, _ := d.clock.Now()
	return object{"ended": ended, "available_memory": u.Available, "unallocated_memory": u.Unallocated, "queued": u.Queued,
		"wait_time_ns_total": d.waits.TotalNs(), "wait_ratio_ppm": int64(d.waits.Ratio(now) * 1e6)}, nil
}
