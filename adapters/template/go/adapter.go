// An adapter to start from: put calls of your own into Mine, below, and leave the rest.
//
//	go build -o adapter adapter.go && wheelproof conform --driver ./adapter --component COMPONENT
//
// Mine is complete as it is, so your first verdict is a pass. Times are whole milliseconds, and only
// `advance` may let time pass: give your implementation a clock that shows what `advance` has set.
// Leave out of an answer what yours does not tell. What panics is a refusal.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
)

type fields = map[string]any

type request struct {
	ID     int64  `json:"id"`
	Op     string `json:"op"`
	Config config `json:"config"`
	Args   args   `json:"args"`
}

// hello says what Mine is able to do: what is not there is not asked.
func hello() fields {
	return fields{"impl": name, "version": "0.1", "components": []string{component},
		"capabilities": slices.Concat([]string{"virtual_time"}, able),
		"profiles":     fields{component: profile}}
}

// perform returns the answer to a request, or the panic by which it is refused.
func perform(mine **Mine, r request) (ok fields, refusal any) {
	defer func() { refusal = recover() }()
	switch r.Op {
	case "hello":
		return hello(), nil
	case "reset":
		*mine = newMine(r.Config)
		return fields{}, nil
	case "bye":
		return fields{}, nil
	}
	ok = (*mine).perform(r.Op, r.Args)
	(*mine).happened(ok)
	return ok, nil
}

// main answers each line of standard input (schema wheelproof.driver/1), until bye or its end.
func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	var mine *Mine
	for lines.Scan() {
		var r request
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			fmt.Fprintln(os.Stderr, "no request:", err)
			os.Exit(2)
		}
		reply := fields{"id": r.ID}
		if ok, refusal := perform(&mine, r); refusal != nil {
			// Within the domain, a refusal counts as a failure.
			reply["error"] = fields{"kind": "panic", "message": fmt.Sprint(refusal)}
		} else {
			reply["ok"] = ok
		}
		line, _ := json.Marshal(reply)
		fmt.Println(string(line))
		if r.Op == "bye" {
			return
		}
	}
}

// taken returns a list and empties it; it is never nil, which would be null in JSON.
func taken[T any](list *[]T) []T {
	had := *list
	*list = nil
	return append([]T{}, had...)
}
