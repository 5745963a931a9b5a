package ports

import (
	"bufio"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var (
	_          = flag.String("component", "timer", "what is recorded")
	threads    = flag.Int("threads", 8, "goroutines that call")
	operations = flag.Int("operations", 10_000, "calls of a history")
	histories  = flag.Int("histories", 1, "how many")
	seed       = flag.Int64("seed", 1, "of the choices")
	output     = flag.String("output", "", "the file of schema wheelproof.history/1")
)

type object = map[string]any

type line struct {
	index int64
	what  object
}

// recorder keeps a line for what begins and for what ends; all share nothing but a counter.
type recorder struct {
	history string
	started time.Time
	index   atomic.Int64
	lines   [][]line // of each goroutine that calls
	mutex   sync.Mutex
	ran     []line
	waiting atomic.Int64
}

func (r *recorder) note(process, kind, call string, value object) line {
	// First the clock, then the index: at the moment of the index the clock shows this or more.
	ns := time.Since(r.started).Nanoseconds()
	index := r.index.Add(1) - 1
	return line{index, object{"kind": "op", "history": r.history, "index": index, "process": process,
		"time_ns": ns, "type": kind, "f": call, "value": value}}
}

// known is a task that any goroutine may cancel; it is there before its handle is.
type known struct {
	name   string
	cancel atomic.Pointer[func() bool]
}

type load struct {
	*recorder
	after  func(delay time.Duration, run func()) func() bool
	recent [64]atomic.Pointer[known]
}

func (l *load) caller(number, calls int, chance *rand.Rand) {
	process := fmt.Sprintf("c%d", number)
	note := func(kind, call string, value object) {
		l.lines[number] = append(l.lines[number], l.note(process, kind, call, value))
	}
	for call := range calls {
		slot := chance.Intn(len(l.recent))
		old := l.recent[slot].Load()
		if old != nil && old.cancel.Load() != nil && chance.Intn(100) < 30 {
			note("invoke", "cancel", object{"task": old.name})
			cancelled := (*old.cancel.Load())()
			note("ok", "cancel", object{"cancelled": cancelled})
			if cancelled {
				l.waiting.Add(-1)
			}
		} else {
			// Half of them in the lowest wheel, and some on each of the next two.
			delayMs := delay(chance)
			task := &known{name: fmt.Sprintf("%s-%d", process, call)}
			l.waiting.Add(1)
			note("invoke", "add", object{"task": task.name, "delay_ms": delayMs})
			cancel := l.after(time.Duration(delayMs)*time.Millisecond, func() {
				l.mutex.Lock()
				defer l.mutex.Unlock()
				l.ran = append(l.ran, l.note("run "+task.name, "invoke", "run", object{"task": task.name}))
				l.waiting.Add(-1)
			})
			note("ok", "add", object{})
			task.cancel.Store(&cancel)
			l.recent[slot].Store(task)
		}
		if chance.Intn(8) == 0 {
			time.Sleep(time.Duration(chance.Intn(2_000_000)))
		}
	}
}

func delay(chance *rand.Rand) int {
	switch drawn := chance.Intn(100); {
	case drawn < 5:
		return 0
	case drawn < 55:
		return 1 + chance.Intn(19)
	case drawn < 90:
		return 20 + chance.Intn(180)
	}
	return 200 + chance.Intn(400)
}

func TestRecord(t *testing.T) {
	file, err := os.Create(*output)
	must(err)
	lines := bufio.NewWriter(file)
	write := func(what object) { must(json.NewEncoder(lines).Encode(what)) }
	port := ports[*name]
	for number := range *histories {
		after, stop := port.record()
		r := &recorder{history: fmt.Sprintf("h%d", number), started: time.Now(), lines: make([][]line, *threads)}
		load := &load{recorder: r, after: after}
		var callers sync.WaitGroup
		for caller := range *threads {
			chance := rand.New(rand.NewSource((*seed*31+int64(number))*1_000_003 + int64(caller)))
			callers.Go(func() { load.caller(caller, *operations / *threads, chance) })
		}
		callers.Wait()
		// What has not run in ten seconds is lost, and the history says so.
		for wait := 0; wait < 1_000 && r.waiting.Load() > 0; wait++ {
			time.Sleep(10 * time.Millisecond)
		}
		stop()
		r.mutex.Lock()
		all := slices.Concat(slices.Concat(r.lines...), r.ran)
		slices.SortFunc(all, func(a, b line) int { return cmp.Compare(a.index, b.index) })
		write(object{"schema": "wheelproof.history/1", "kind": "header", "history": r.history,
			"component": "timer", "clock": "monotonic_ns", "clock_resolution_ns": 1_000, "profile": port.profile,
			"impl":   object{"name": port.impl, "version": port.version},
			"config": object{"tick_ms": 1, "wheel_size": 20, "runs": "later", "lateness_ms": latenessMs}})
		for _, one := range all {
			write(one.what)
		}
		write(object{"kind": "end", "history": r.history, "ops": len(all), "quiet": true})
		r.mutex.Unlock()
	}
	must(lines.Flush())
	must(file.Close())
}

// Goroutines wait for a processor too.
const latenessMs = 1_000

// record makes the timer as it is, on the machine's clock.
func (p port) record() (after func(time.Duration, func()) func() bool, stop func()) {
	switch timer := p.make(time.Millisecond, 20).(type) {
	case russellLuo:
		return func(d time.Duration, run func()) func() bool { return timer.wheel.AfterFunc(d, run).Stop }, timer.stop
	default:
		return func(d time.Duration, run func()) func() bool { return time.AfterFunc(d, run).Stop }, timer.stop
	}
}
