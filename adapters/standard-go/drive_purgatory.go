package main

import (
	"encoding/json"
	"sync"

	"wheelproof/adapters/standard-go/park"
	"wheelproof/adapters/standard-go/purgatory"
)

type purgatoryDriver struct {
	clock *park.Manual
	p     *purgatory.Purgatory

	mu         sync.Mutex
	conditions map[string]bool
	operations map[string]*purgatory.Operation
	names      map[*purgatory.Operation]string
	completed  []string
	expired    []string
}

func newPurgatoryDriver(config json.RawMessage) (component, error) {
	var c struct {
		Tick     int64 `json:"tick_ms"`
		Wheel    int64 `json:"wheel_size"`
		Start    int64 `json:"start_ms"`
		Interval int   `json:"purge_interval"`
	}
	if err := parse(config, &c); err != nil {
		return nil, err
	}
	d := &purgatoryDriver{clock: park.NewManual(c.Start), conditions: map[string]bool{},
		operations: map[string]*purgatory.Operation{}, names: map[*purgatory.Operation]string{}}
	timer, err := purgatory.NewTimer(d.clock, c.Tick, nil)
	if err != nil {
		return nil, err
	}
	d.p, err = purgatory.New(purgatory.Config{Timer: timer, PurgeInterval: c.Interval})
	if err != nil {
		return nil, err
	}
	return d, nil
}

func (d *purgatoryDriver) end() { d.p.Shutdown() }

func (d *purgatoryDriver) operation(name string, delay int64, conditions []string) *purgatory.Operation {
	note := func(list *[]string) func() error {
		return func() error {
			d.mu.Lock()
			defer d.mu.Unlock()
			*list = append(*list, name)
			return nil
		}
	}
	return purgatory.NewOperation(delay, purgatory.Hooks{
		Test: func() (bool, error) {
			d.mu.Lock()
			defer d.mu.Unlock()
			for _, c := range conditions {
				if d.conditions[c] {
					return true, nil
				}
			}
			return false, nil
		},
		OnComplete:   note(&d.completed),
		OnExpiration: note(&d.expired),
	})
}

func (d *purgatoryDriver) ask(op string, args json.RawMessage) (object, error) {
	var a struct {
		Operation  string   `json:"operation"`
		Delay      int64    `json:"delay_ms"`
		Keys       []string `json:"keys"`
		Conditions []string `json:"conditions"`
		Condition  string   `json:"condition"`
		Key        string   `json:"key"`
		To         int64    `json:"to_ms"`
	}
	if err := parse(args, &a); err != nil {
		return nil, err
	}
	ok := object{}
	switch op {
	case "try_complete_else_watch":
		if d.operations[a.Operation] != nil {
			return nil, refuse("IllegalArgument", "the name %q repeats", a.Operation)
		}
		o := d.operation(a.Operation, a.Delay, a.Conditions)
		keys := make([]any, len(a.Keys))
		for i, k := range a.Keys {
			keys[i] = k
		}
		done, err := d.p.TryCompleteElseWatch(o, keys...)
		if err != nil {
			return nil, err
		}
		d.operations[a.Operation] = o
		d.names[o] = a.Operation
		ok["completed"] = done
	case "set_condition":
		d.mu.Lock()
		d.conditions[a.Condition] = true
		d.mu.Unlock()
	case "check_and_complete":
		count, err := d.p.CheckAndComplete(a.Key)
		if err != nil {
			return nil, err
		}
		ok["count"] = count
	case "force_complete":
		o := d.operations[a.Operation]
		if o == nil {
			return nil, refuse("IllegalArgument", "no operation %q", a.Operation)
		}
		done, err := o.ForceComplete()
		if err != nil {
			return nil, err
		}
		ok["completed"] = done
	case "cancel_for_key":
		gone, err := d.p.CancelForKey(a.Key)
		if err != nil {
			return nil, err
		}
		cancelled := []string{}
		for _, o := range gone {
			cancelled = append(cancelled, d.names[o])
		}
		ok["cancelled"] = cancelled
	case "advance":
		if err := d.clock.Advance(a.To, nil); err != nil {
			return nil, err
		}
		if err := d.p.Expire(); err != nil {
			return nil, err
		}
		d.p.Idle()
		d.p.PurgeIfDue()
	case "ask_gauges":
		ok["watched"], ok["num_keys"] = d.p.Watched()
		ok["num_delayed"] = d.p.NumDelayed()
	default:
		return nil, refuse("Unsupported", "no operation %q", op)
	}
	d.p.Idle()
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.completed) > 0 {
		ok["on_complete"] = d.completed
	}
	if len(d.expired) > 0 {
		ok["on_expiration"] = d.expired
	}
	d.completed, d.expired = nil, nil
	return ok, nil
}
