// An adapter to start from: put calls of your own into Mine, below, and leave the rest.
//
//	go build -o adapter adapter.go && wheelproof conform --driver ./adapter --component COMPONENT
//
// Mine is complete as it is, so your first verdict is a pass. Times are whole milliseconds, and only
// `advance` may let time pass: give your implementation a clock that shows what `advance` has set.
// Leave out of an answer what yours does not tell. What panics is a refusal. If several
// goroutines may use yours, put "concurrent" into able: then calls of several callers are made at the
// same time, and it has its own lock, as Mine has.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"sync"
)

type fields = map[string]any

type request struct {
	ID     int64  `json:"id"`
	Op     string `json:"op"`
	Caller string `json:"caller"`
	Config config `json:"config"`
	Args   args   `json:"args"`
	buffer string // The name of an allocation, whatever args has.
}

// read returns the request on a line.
func read(line []byte) (r request, err error) {
	var more struct{ Args struct{ Buffer string } }
	if err = json.Unmarshal(line, &r); err == nil {
		err = json.Unmarshal(line, &more)
	}
	r.buffer = more.Args.Buffer
	return r, err
}

// hello says what Mine is able to do: what is not there is not asked.
func hello() fields {
	return fields{"impl": name, "version": "0.1", "components": []string{component},
		"capabilities": slices.Concat([]string{"virtual_time"}, able),
		"profiles":     fields{component: profile}}
}

// A server answers the requests. What is below mu is written and read under it.
type server struct {
	mine *Mine
	busy sync.WaitGroup // The callers that can go on.
	mu   sync.Mutex
	open map[string][]request // An allocation that has not ended, and what its caller asks then.
}

// perform makes the call of a request. It returns what that tells, or the panic that refuses it.
func (s *server) perform(r request) (ok fields, refusal any) {
	defer func() { refusal = recover() }()
	switch r.Op {
	case "hello":
		return hello(), nil
	case "reset":
		s.mine, s.open = newMine(r.Config), map[string][]request{}
		return fields{}, nil
	case "bye":
		return fields{}, nil
	}
	return s.mine.perform(r.Op, r.Args), nil
}

// answer makes the call of a request and prints what came of it. asksThen is what the same caller
// asks behind it; answer tells whether that can be asked now.
func (s *server) answer(r request, asksThen []request) bool {
	waits := r.Caller != "" && r.Op == "allocate"
	if waits {
		s.mu.Lock()
		s.open[r.buffer] = append([]request{r}, asksThen...)
		s.mu.Unlock()
	}
	ok, refusal := s.perform(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	if refusal != nil {
		// Within the domain, a refusal counts as a failure.
		delete(s.open, r.buffer)
		tell(r, "error", fields{"kind": "panic", "message": fmt.Sprint(refusal)})
		return true
	}
	if r.Op != "hello" && r.Op != "reset" && r.Op != "bye" {
		s.mine.happened(ok)
		s.end(ok)
	}
	if !waits {
		tell(r, "ok", ok)
	}
	return !waits
}

// end answers the allocations of callers that have ended, which a pool tells. Those callers go on.
func (s *server) end(told fields) {
	ended, _ := told["ended"].(map[string]string)
	for name, outcome := range ended {
		if asks, isOpen := s.open[name]; isOpen {
			delete(s.open, name)
			delete(ended, name)
			tell(asks[0], "ok", fields{"ended": fields{name: outcome}})
			s.busy.Add(1)
			go s.work(asks[1:])
		}
	}
}

// work makes the calls of one caller, one after the other.
func (s *server) work(asks []request) {
	defer s.busy.Done()
	for place, r := range asks {
		if !s.answer(r, asks[place+1:]) {
			return
		}
	}
}

// together makes the calls of several callers at the same time, until none of them can go on.
func (s *server) together(callers map[string][]request) {
	start := make(chan struct{})
	for _, asks := range callers {
		s.busy.Add(1)
		go func() {
			<-start
			s.work(asks)
		}()
	}
	close(start)
	s.busy.Wait()
}

// main answers each line of standard input (schema wheelproof.driver/1), until bye or its end.
func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	var s server
	callers := map[string][]request{}
	for lines.Scan() {
		r, err := read(lines.Bytes())
		if err != nil {
			fmt.Fprintln(os.Stderr, "no request:", err)
			os.Exit(2)
		}
		if r.Caller != "" {
			callers[r.Caller] = append(callers[r.Caller], r)
			continue
		}
		// A request without a caller comes behind a burst, and is made when that is over.
		s.together(callers)
		clear(callers)
		s.answer(r, nil)
		if r.Op == "bye" {
			return
		}
	}
}

func tell(r request, outcome string, told fields) {
	line, _ := json.Marshal(fields{"id": r.ID, outcome: told})
	fmt.Println(string(line))
}

// taken returns a list and empties it; it is never nil, which would be null in JSON.
func taken[T any](list *[]T) []T {
	had := *list
	*list = nil
	return append([]T{}, had...)
}
