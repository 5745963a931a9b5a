// The driver: the protocol wheelproof.driver/1 for a buffer pool and a purgatory
// under a virtual clock. All of it was written from docs/standard and
// adapters/README.md alone; docs/standard/from-the-text.md tells how.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

type object = map[string]any

type request struct {
	ID        json.RawMessage `json:"id"`
	Op        string          `json:"op"`
	Schema    string          `json:"schema"`
	Component string          `json:"component"`
	Config    json.RawMessage `json:"config"`
	Args      json.RawMessage `json:"args"`
}

// component answers what is asked of it, or refuses.
type component interface {
	ask(op string, args json.RawMessage) (object, error)
	end()
}

type refusal struct{ kind, message string }

func (r *refusal) Error() string { return r.message }

func refuse(kind, format string, args ...any) error {
	return &refusal{kind, fmt.Sprintf(format, args...)}
}

func parse(raw json.RawMessage, into any) error {
	if len(raw) == 0 {
		raw = json.RawMessage("{}")
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return refuse("IllegalArgument", "%v", err)
	}
	return nil
}

func (r *request) answer(now *component) (object, error) {
	switch r.Op {
	case "hello":
		return object{
			"impl": "standard-go", "version": "1", "components": []string{"purgatory", "buffer_pool"},
			"capabilities": []string{"virtual_time", "interruption", "close", "faults", "exact_time", "any_size", "cancel_for_key"},
			"profiles":     object{"purgatory": "wheelproof", "buffer_pool": "longest-waiting-first"},
		}, nil
	case "reset":
		if *now != nil {
			(*now).end()
			*now = nil
		}
		var err error
		switch r.Component {
		case "buffer_pool":
			*now, err = newPoolDriver(r.Config)
		case "purgatory":
			*now, err = newPurgatoryDriver(r.Config)
		default:
			err = refuse("Unsupported", "no component %q", r.Component)
		}
		return object{}, err
	case "bye":
		return object{}, nil
	}
	if *now == nil {
		return nil, refuse("IllegalState", "%s before reset", r.Op)
	}
	return (*now).ask(r.Op, r.Args)
}

func serve(in io.Reader, out io.Writer) error {
	lines := bufio.NewReaderSize(in, 1<<16)
	w := bufio.NewWriter(out)
	var now component
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF && len(line) == 0 {
			return nil
		}
		if err != nil && err != io.EOF {
			return err
		}
		var r request
		if err := json.Unmarshal(line, &r); err != nil {
			return err
		}
		answer := object{"id": r.ID}
		ok, err := r.answer(&now)
		if err != nil {
			kind := "IllegalArgument"
			if re, is := errors.AsType[*refusal](err); is {
				kind = re.kind
			}
			answer["error"] = object{"kind": kind, "message": err.Error()}
		} else {
			answer["ok"] = ok
		}
		b, err := json.Marshal(answer)
		if err != nil {
			return err
		}
		w.Write(append(b, '\n'))
		if err := w.Flush(); err != nil {
			return err
		}
		if r.Op == "bye" {
			return nil
		}
	}
}

func main() {
	if err := serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
