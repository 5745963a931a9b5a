// Timers in Go behind the protocol wheelproof.driver/1, each as its module has it. Time passes in
// a bubble of testing/synctest alone: its clock stands still until all goroutines of the timer wait.
//
//	./run russellluo
package ports

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/RussellLuo/timingwheel"
	"github.com/zeromicro/go-zero/core/collection"
)

var name = flag.String("port", "", "the timer")

// timer is what a port can be asked; cancel tells whether the task waited, nil if it does not say.
type timer interface {
	add(task string, delay time.Duration, run func())
	cancel(task string) any
	stop()
}

type port struct {
	impl, version, profile string
	bounds                 map[string]any
	make                   func(tick time.Duration, wheelSize int) timer
}

// A bubble begins in 2000; time.Time ends its nanoseconds in 2262.
var delays = map[string]int64{"least": 0, "most": 1 << 36}

var ports = map[string]port{
	"afterfunc": {"time.AfterFunc", "go1.26", "exact",
		map[string]any{"start_ms": map[string]int{"most": 0}, "delay_ms": delays},
		func(time.Duration, int) timer { return afterFunc{handles[*time.Timer]{}} }},
	"russellluo": {"RussellLuo/timingwheel", "v0.0.0-20220218152713-54845bda3108", "kafka",
		map[string]any{"start_ms": map[string]int{"most": 0}, "delay_ms": delays},
		func(tick time.Duration, size int) timer {
			wheel := timingwheel.NewTimingWheel(tick, int64(size))
			wheel.Start()
			return russellLuo{handles[*timingwheel.Timer]{}, wheel}
		}},
	// A delay of 0 or less is refused, by its documentation.
	"go-zero": {"go-zero/core/collection.TimingWheel", "v1.10.3", "exact",
		map[string]any{"tick_ms": map[string]int{"most": 1}, "start_ms": map[string]int{"most": 0},
			"delay_ms": map[string]int64{"least": 1, "most": 1 << 36}},
		func(tick time.Duration, size int) timer {
			wheel, err := collection.NewTimingWheel(tick, size, func(_, run any) { run.(func())() })
			must(err)
			return goZero{wheel}
		}},
}

// handles are what add has returned, for cancel; a task that has run has no handle.
type handles[H interface{ Stop() bool }] map[string]H

func (h handles[H]) cancel(task string) any {
	handle, known := h[task]
	if !known {
		return false
	}
	delete(h, task)
	return handle.Stop()
}

type afterFunc struct{ handles[*time.Timer] }

func (t afterFunc) add(task string, delay time.Duration, run func()) {
	t.cancel(task)
	t.handles[task] = time.AfterFunc(delay, run)
}

func (t afterFunc) stop() {
	for task := range t.handles {
		t.cancel(task)
	}
}

type russellLuo struct {
	handles[*timingwheel.Timer]
	wheel *timingwheel.TimingWheel
}

func (t russellLuo) add(task string, delay time.Duration, run func()) {
	t.cancel(task)
	t.handles[task] = t.wheel.AfterFunc(delay, run)
}

func (t russellLuo) stop() { t.wheel.Stop() }

type goZero struct{ wheel *collection.TimingWheel }

func (t goZero) add(task string, delay time.Duration, run func()) {
	must(t.wheel.SetTimer(task, run, delay)) // A key that is set again is moved.
}

func (t goZero) cancel(task string) any {
	must(t.wheel.RemoveTimer(task))
	return nil
}

func (t goZero) stop() { t.wheel.Stop() }

type settings struct {
	TickMs    int64 `json:"tick_ms"`
	WheelSize int   `json:"wheel_size"`
}

type request struct {
	ID     int64    `json:"id"`
	Op     string   `json:"op"`
	Config settings `json:"config"`
	Args   struct {
		Task    string `json:"task"`
		DelayMs int64  `json:"delay_ms"`
		ToMs    int64  `json:"to_ms"`
	} `json:"args"`
}

type driver struct {
	port  port
	timer timer
	start time.Time
	mutex sync.Mutex
	fired []string
}

func (d *driver) perform(r request) map[string]any {
	switch r.Op {
	case "hello":
		return map[string]any{"impl": d.port.impl, "version": d.port.version,
			"components": []string{"timer"}, "capabilities": []string{"virtual_time"},
			"profiles": map[string]string{"timer": d.port.profile},
			"bounds":   map[string]any{"timer": d.port.bounds}}
	case "bye":
		return map[string]any{}
	case "reset":
		if d.timer != nil {
			d.timer.stop()
		}
		tickMs := r.Config.TickMs
		tick := time.Duration(tickMs) * time.Millisecond
		d.start = time.UnixMilli((time.Now().UnixMilli()/tickMs + 1) * tickMs) // Where a tick begins.
		time.Sleep(time.Until(d.start))
		synctest.Wait()
		d.timer, d.fired = d.port.make(tick, r.Config.WheelSize), nil
		return map[string]any{}
	}
	ok := map[string]any{}
	switch r.Op {
	case "add":
		timer, task := d.timer, r.Args.Task
		timer.add(task, time.Duration(r.Args.DelayMs)*time.Millisecond, func() {
			d.mutex.Lock()
			defer d.mutex.Unlock()
			d.fired = append(d.fired, task)
		})
	case "cancel":
		if told := d.timer.cancel(r.Args.Task); told != nil {
			ok["cancelled"] = told
		}
	case "advance":
		time.Sleep(time.Until(d.start.Add(time.Duration(r.Args.ToMs) * time.Millisecond)))
	}
	synctest.Wait()
	ok["fired"], d.fired = append([]string{}, d.fired...), nil
	return ok
}

func TestDriver(t *testing.T) {
	debug.SetMaxStack(64 << 20) // Who recurses without end is to end soon.
	synctest.Test(t, func(*testing.T) {
		lines, answers := bufio.NewScanner(os.Stdin), bufio.NewWriter(os.Stdout)
		driver := &driver{port: ports[*name]}
		for lines.Scan() {
			var r request
			must(json.Unmarshal(lines.Bytes(), &r))
			must(json.NewEncoder(answers).Encode(answer(driver, r)))
			must(answers.Flush())
			if r.Op == "bye" {
				break
			}
		}
		os.Exit(0)
	})
}

func answer(d *driver, r request) (reply map[string]any) {
	defer func() {
		if problem := recover(); problem != nil {
			said := map[string]any{"kind": "panic", "message": fmt.Sprint(problem)}
			reply = map[string]any{"id": r.ID, "error": said}
		}
	}()
	return map[string]any{"id": r.ID, "ok": d.perform(r)}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
