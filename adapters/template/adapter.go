// An adapter to start from: put calls of your timer into myTimer, and leave the rest as it is.
//
//	go build -o adapter adapter.go && wheelproof conform --driver ./adapter
//
// myTimer as it stands is a complete timer, so that you begin with a verdict that passes. Times are
// whole milliseconds. Nothing but advance may let time pass: give your timer a clock that shows
// nowMs.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"sort"
)

const name, version = "my-timer", "0.1"

// myTimer is your timer, seen from outside; a case begins with a new one.
type myTimer struct {
	ran    []string // Each task appends its name when it runs, in that order.
	nowMs  int64
	tickMs int64
	dueMs  map[string]int64
}

func newTimer(tickMs, wheelSize, startMs int64) *myTimer {
	return &myTimer{nowMs: startMs, tickMs: tickMs, dueMs: map[string]int64{}}
}

// add lets the task run in delayMs; an earlier add of the same name is void.
func (t *myTimer) add(task string, delayMs int64) {
	deadline := t.nowMs + delayMs
	t.dueMs[task] = deadline - ((deadline%t.tickMs)+t.tickMs)%t.tickMs
}

// cancel tells whether the task was waiting; return nil if your timer does not say.
func (t *myTimer) cancel(task string) any {
	_, waits := t.dueMs[task]
	delete(t.dueMs, task)
	return waits
}

// advance sets the clock to toMs and returns when all that is due has run.
func (t *myTimer) advance(toMs int64) {
	t.nowMs = toMs
	due := []string{}
	for task, dueMs := range t.dueMs {
		if dueMs <= toMs {
			due = append(due, task)
		}
	}
	sort.Slice(due, func(a, b int) bool { return t.dueMs[due[a]] < t.dueMs[due[b]] })
	for _, task := range due {
		delete(t.dueMs, task)
		t.ran = append(t.ran, task)
	}
}

// size tells how many tasks wait; count them here if your timer does not.
func (t *myTimer) size() int { return len(t.dueMs) }

type request struct {
	ID     int64  `json:"id"`
	Op     string `json:"op"`
	Config struct {
		TickMs    int64 `json:"tick_ms"`
		WheelSize int64 `json:"wheel_size"`
		StartMs   int64 `json:"start_ms"`
	} `json:"config"`
	Args struct {
		Task    string `json:"task"`
		DelayMs int64  `json:"delay_ms"`
		ToMs    int64  `json:"to_ms"`
	} `json:"args"`
}

func perform(timer **myTimer, r request) (ok map[string]any, err error) {
	// A refusal: within what the profile allows, it counts as a failure.
	defer func() {
		if problem := recover(); problem != nil {
			err = fmt.Errorf("%v", problem)
		}
	}()
	ok = map[string]any{}
	t := *timer
	switch r.Op {
	case "hello":
		return map[string]any{"impl": name, "version": version,
			"components": []string{"timer"}, "capabilities": []string{"virtual_time"}}, nil
	case "reset":
		*timer = newTimer(r.Config.TickMs, r.Config.WheelSize, r.Config.StartMs)
		return ok, nil
	case "bye":
		return ok, nil
	case "add":
		t.add(r.Args.Task, r.Args.DelayMs)
	case "cancel":
		if told := t.cancel(r.Args.Task); told != nil {
			ok["cancelled"] = told
		}
	case "advance":
		t.advance(r.Args.ToMs)
	case "size":
		ok["size"] = t.size()
	}
	ok["fired"] = append([]string{}, t.ran...)
	t.ran = nil
	return ok, nil
}

// main answers each line of standard input (schema wheelproof.driver/1), until bye or its end.
func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	answers := bufio.NewWriter(os.Stdout)
	timer := newTimer(1, 20, 0)
	for lines.Scan() {
		var r request
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			fmt.Fprintln(os.Stderr, "no request:", err)
			os.Exit(2)
		}
		reply := map[string]any{"id": r.ID}
		if ok, err := perform(&timer, r); err != nil {
			reply["error"] = map[string]any{"kind": "panic", "message": err.Error()}
		} else {
			reply["ok"] = ok
		}
		line, _ := json.Marshal(reply)
		answers.Write(append(line, '\n'))
		answers.Flush()
		if r.Op == "bye" {
			return
		}
	}
}
