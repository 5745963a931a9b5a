package main

const name, component, profile = "my-purgatory", "purgatory", "wheelproof"

var able = []string{"cancel_for_key"}

type config struct {
	TickMs        int64 `json:"tick_ms"`
	WheelSize     int64 `json:"wheel_size"`
	StartMs       int64 `json:"start_ms"`
	PurgeInterval int64 `json:"purge_interval"`
}

type args struct {
	Operation  string   `json:"operation"`
	DelayMs    int64    `json:"delay_ms"`
	Keys       []string `json:"keys"`
	Conditions []string `json:"conditions"`
	Condition  string   `json:"condition"`
	Key        string   `json:"key"`
	ToMs       int64    `json:"to_ms"`
}

// An operation that waits: done once one of its conditions is set, or at dueMs.
type operation struct {
	name             string
	keys, conditions []string
	dueMs            int64
}

// Mine is your purgatory, seen from outside; each test case makes a new one.
type Mine struct {
	config
	mu         sync.Mutex // Several callers may call at the same time.
	nowMs      int64
	conditions map[string]bool
	waiting    []operation
	// Each callback appends the name of its operation when it runs, in that order.
	completed, expired []string
}

// newMine makes a purgatory whose clock shows StartMs; this one keeps nothing that is done.
func newMine(c config) *Mine {
	return &Mine{config: c, nowMs: c.StartMs, conditions: map[string]bool{}}
}

func (m *Mine) perform(op string, a args) fields {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch op {
	case "try_complete_else_watch": // Hand in an operation; tell whether this call completed it.
		dueMs := m.nowMs + a.DelayMs
		dueMs -= (dueMs%m.TickMs + m.TickMs) % m.TickMs
		m.waiting = append(m.waiting, operation{a.Operation, a.Keys, a.Conditions, dueMs})
		return fields{"completed": m.attempt(a.Operation)}
	case "set_condition": // Make it true; the operations notice it when they are tried.
		m.conditions[a.Condition] = true
	case "check_and_complete": // Try the operations of a key; tell how many this call completed.
		count := 0
		for _, name := range m.watching(a.Key) {
			if m.attempt(name) {
				count++
			}
		}
		return fields{"count": count}
	case "force_complete": // Complete an operation; tell whether this call did it.
		return fields{"completed": m.complete(a.Operation)}
	case "cancel_for_key": // Give up the operations of a key, which are never completed; tell which.
		cancelled := m.watching(a.Key)
		for _, name := range cancelled {
			m.remove(name)
		}
		return fields{"cancelled": cancelled}
	case "advance": // Set the clock to ToMs; return when all that is due has expired.
		m.nowMs = a.ToMs
		inOrder := slices.Clone(m.waiting)
		slices.SortStableFunc(inOrder, func(a, b operation) int { return int(a.dueMs - b.dueMs) })
		for _, one := range inOrder {
			if one.dueMs <= m.nowMs && m.complete(one.name) {
				m.expired = append(m.expired, one.name)
			}
		}
	case "ask_gauges": // Tell how many watches, time-outs and keys there are.
		watched, keys := 0, map[string]bool{}
		for _, one := range m.waiting {
			watched += len(one.keys)
			for _, key := range one.keys {
				keys[key] = true
			}
		}
		return fields{"watched": watched, "num_delayed": len(m.waiting), "num_keys": len(keys)}
	}
	return fields{}
}

// happened tells which callbacks have run since the last answer.
func (m *Mine) happened(told fields) {
	m.mu.Lock()
	defer m.mu.Unlock()
	told["on_complete"], told["on_expiration"] = taken(&m.completed), taken(&m.expired)
}

// watching returns the operations that wait under a key, in the order in which they came.
func (m *Mine) watching(key string) []string {
	names := []string{}
	for _, one := range m.waiting {
		if slices.Contains(one.keys, key) {
			names = append(names, one.name)
		}
	}
	return names
}

// attempt completes an operation if it can be completed; it tells whether this call did it.
func (m *Mine) attempt(name string) bool {
	for _, one := range m.waiting {
		if one.name == name {
			isTrue := func(condition string) bool { return m.conditions[condition] }
			return slices.ContainsFunc(one.conditions, isTrue) && m.complete(name)
		}
	}
	return false
}

// complete completes an operation, unless it is done; it tells whether this call did it.
func (m *Mine) complete(name string) bool {
	if !m.remove(name) {
		return false
	}
	m.completed = append(m.completed, name)
	return true
}

func (m *Mine) remove(name string) bool {
	before := len(m.waiting)
	isIt := func(one operation) bool { return one.name == name }
	m.waiting = slices.DeleteFunc(slices.Clone(m.waiting), isIt)
	return len(m.waiting) < before
}
