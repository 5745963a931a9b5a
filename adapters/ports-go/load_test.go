package ports

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

type object = map[string]any

// event is a line of what begins or ends.
type event struct {
	Index   int64  `json:"index"`
	Process string `json:"process"`
	TimeNs  int64  `json:"time_ns"`
	Type    string `json:"type"`
	F       string `json:"f"`
	Value   object `json:"value"`
}

// step is what a caller has to do, as `wheelproof load` writes it.
type step struct {
	ID      int64    `json:"id"`
	Caller  *int     `json:"caller"`
	Callers int      `json:"callers"`
	Op      string   `json:"op"`
	Config  settings `json:"config"`
	Args    struct {
		Task    string `json:"task"`
		DelayMs int64  `json:"delay_ms"`
		Us      int64  `json:"us"`
	} `json:"args"`
	met *sync.WaitGroup // Of a meeting: who has not come yet.
}

// task is one that any goroutine may cancel, as soon as it has a handle.
type task struct {
	cancel atomic.Pointer[func() any]
	over   atomic.Bool // It has run, or nobody waits for it any more.
}

// recorder keeps a line for what begins and for what ends; all share nothing but a counter.
type recorder struct {
	after   func(name string, delay time.Duration, run func()) (cancel func() any)
	stop    func()
	started time.Time
	index   atomic.Int64
	lines   [][]event // Of each goroutine that calls.
	tasks   map[string]*task
	waiting atomic.Int64
	closing sync.RWMutex // An add begins before a close has returned, or not at all.
	closed  bool
	mutex   sync.Mutex
	ran     []event
}

func (r *recorder) note(process, kind, call string, value object) event {
	// First the clock, then the index: at the moment of the index the clock shows this or more.
	ns := time.Since(r.started).Nanoseconds()
	return event{r.index.Add(1) - 1, process, ns, kind, call, value}
}

func (r *recorder) over(t *task) {
	if t.over.CompareAndSwap(false, true) {
		r.waiting.Add(-1)
	}
}

func (r *recorder) act(caller int, steps []step) {
	process := fmt.Sprintf("c%d", caller)
	note := func(kind, call string, value object) {
		r.lines[caller] = append(r.lines[caller], r.note(process, kind, call, value))
	}
	for _, s := range steps {
		switch s.Op {
		case "meet":
			s.met.Done()
			s.met.Wait()
		case "pause":
			time.Sleep(time.Duration(s.Args.Us) * time.Microsecond)
		case "add":
			added := r.tasks[s.Args.Task]
			r.closing.RLock()
			closed := r.closed
			if !closed {
				r.waiting.Add(1)
				note("invoke", "add", object{"task": s.Args.Task, "delay_ms": s.Args.DelayMs})
			}
			r.closing.RUnlock()
			if closed {
				continue // None of these timers says what an add to a stopped one does.
			}
			cancel := r.after(s.Args.Task, time.Duration(s.Args.DelayMs)*time.Millisecond, func() {
				r.mutex.Lock()
				defer r.mutex.Unlock()
				process := "run " + s.Args.Task
				r.ran = append(r.ran, r.note(process, "invoke", "run", object{"task": s.Args.Task}))
				r.over(added)
			})
			note("ok", "add", object{})
			added.cancel.Store(&cancel)
		case "cancel":
			known := r.tasks[s.Args.Task]
			if known == nil || known.cancel.Load() == nil {
				continue // There is nothing yet to cancel it by.
			}
			note("invoke", "cancel", object{"task": s.Args.Task})
			switch told := (*known.cancel.Load())(); told {
			case nil: // Whether it runs is unknown.
				note("ok", "cancel", object{})
				r.over(known)
			default:
				note("ok", "cancel", object{"cancelled": told})
				if told == true {
					r.over(known)
				}
			}
		case "close":
			note("invoke", "close", object{})
			r.stop()
			r.closing.Lock()
			r.closed = true
			note("ok", "close", object{})
			r.closing.Unlock()
		}
	}
}

// What has not come to rest by then is lost or stuck, and the history says so.
const patience = 5 * time.Second

// priorities of the callers' threads: whenever a tick lets another thread run, the system stops one
// of low priority, in the middle of a call, until nobody else has anything to do.
var priorities = []int{0, 19, 5, 19, 10, 19, 15, 19}

// halt stops the timer, which may never return.
func (r *recorder) halt() {
	stopped := make(chan bool)
	go func() {
		r.stop()
		close(stopped)
	}()
	select {
	case <-stopped:
	case <-time.After(patience):
		dump()
	}
}

// dump tells where each goroutine is.
func dump() { must(pprof.Lookup("goroutine").WriteTo(os.Stderr, 1)) }

func (r *recorder) do(steps []step, callers int) (all []event, ending object) {
	r.lines, r.tasks = make([][]event, callers), map[string]*task{}
	mine := make([][]step, callers)
	for _, s := range steps {
		if s.Op == "add" {
			r.tasks[s.Args.Task] = &task{}
		}
		if s.Op == "meet" {
			s.met = &sync.WaitGroup{}
			s.met.Add(callers)
		}
		for caller := range callers {
			if s.Caller == nil || *s.Caller == caller {
				mine[caller] = append(mine[caller], s)
			}
		}
	}
	r.started = time.Now()
	var working sync.WaitGroup
	for caller := range callers {
		working.Go(func() {
			// A thread of its own, which ends with the goroutine, so that its priority does, too.
			runtime.LockOSThread()
			_ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, priorities[caller%len(priorities)])
			r.act(caller, mine[caller])
		})
	}
	ended := make(chan bool)
	go func() {
		working.Wait()
		close(ended)
	}()
	ending = object{"quiet": true}
	select {
	case <-ended:
		for wait := time.Duration(0); wait < patience && r.waiting.Load() > 0 && !r.closed; {
			time.Sleep(10 * time.Millisecond)
			wait += 10 * time.Millisecond
		}
		if !r.closed {
			r.halt()
		}
	case <-time.After(patience):
		dump()
		ending = object{"quiet": false, "stuck": true}
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	// Who is stuck writes no more.
	return slices.Concat(slices.Concat(r.lines...), r.ran), ending
}

func TestLoad(t *testing.T) {
	// More threads than processors: the system then stops some of them in the middle of a call.
	runtime.GOMAXPROCS(64)
	lines, answers := bufio.NewScanner(os.Stdin), bufio.NewWriter(os.Stdout)
	write := func(what any) { must(json.NewEncoder(answers).Encode(what)) }
	port := ports[*name]
	var steps []step
	var r *recorder
	for lines.Scan() {
		var s step
		must(json.Unmarshal(lines.Bytes(), &s))
		ok := object{}
		switch s.Op {
		case "hello":
			ok = object{"impl": port.impl, "version": port.version, "components": []string{"timer"},
				"capabilities": []string{"add", "cancel", "close"},
				"profiles":     object{"timer": port.profile}, "bounds": object{"timer": port.bounds}}
		case "reset":
			r, steps = &recorder{}, nil
			r.after, r.stop = port.record(s.Config)
			ok = object{"clock_resolution_ns": 1_000}
		case "run":
			events, ending := r.do(steps, s.Callers)
			for _, one := range events {
				write(one)
			}
			ok = ending
		case "bye":
		default:
			steps = append(steps, s)
			continue
		}
		write(object{"id": s.ID, "ok": ok})
		must(answers.Flush())
		if s.Op == "bye" {
			break
		}
	}
	os.Exit(0)
}

// record makes the timer as it is, on the machine's clock.
func (p port) record(config settings) (
	after func(string, time.Duration, func()) func() any, stop func()) {
	made := p.make(time.Duration(config.TickMs)*time.Millisecond, config.WheelSize)
	switch timer := made.(type) {
	case russellLuo:
		return func(_ string, d time.Duration, run func()) func() any {
			handle := timer.wheel.AfterFunc(d, run)
			return func() any { return handle.Stop() }
		}, timer.stop
	case goZero:
		return func(name string, d time.Duration, run func()) func() any {
			must(timer.wheel.SetTimer(name, run, d))
			return func() any { return timer.cancel(name) }
		}, timer.stop
	default:
		return func(_ string, d time.Duration, run func()) func() any {
			handle := time.AfterFunc(d, run)
			return func() any { return handle.Stop() }
		}, timer.stop
	}
}
