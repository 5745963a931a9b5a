package main

const name, component, profile = "my-timer", "timer", "kafka"

var able = []string{}

type config struct {
	TickMs    int64 `json:"tick_ms"`
	WheelSize int64 `json:"wheel_size"`
	StartMs   int64 `json:"start_ms"`
}

type args struct {
	Task    string `json:"task"`
	DelayMs int64  `json:"delay_ms"`
	ToMs    int64  `json:"to_ms"`
}

// Mine is your timer, seen from outside; each test case makes a new one.
type Mine struct {
	config
	mu    sync.Mutex // Several callers may call at the same time.
	nowMs int64
	ran   []string // Each task appends its name when it runs, in that order.
	dueMs map[string]int64
}

// newMine makes a timer whose clock shows StartMs.
func newMine(c config) *Mine {
	return &Mine{config: c, nowMs: c.StartMs, dueMs: map[string]int64{}}
}

func (m *Mine) perform(op string, a args) fields {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch op {
	case "add": // Schedule the task in DelayMs, and drop an earlier add of the same name.
		deadline := m.nowMs + a.DelayMs
		m.dueMs[a.Task] = deadline - (deadline%m.TickMs+m.TickMs)%m.TickMs
	case "cancel": // Cancel the task; tell whether it was waiting.
		_, waits := m.dueMs[a.Task]
		delete(m.dueMs, a.Task)
		return fields{"cancelled": waits}
	case "advance": // Set the clock to ToMs; return when all due tasks have run.
		m.nowMs = a.ToMs
		for task, waits := m.firstDue(); waits; task, waits = m.firstDue() {
			delete(m.dueMs, task)
			m.ran = append(m.ran, task)
		}
	case "size": // Tell how many tasks wait; count them here if your timer does not.
		return fields{"size": len(m.dueMs)}
	}
	return fields{}
}

// happened tells which tasks have run since the last answer.
func (m *Mine) happened(told fields) {
	m.mu.Lock()
	defer m.mu.Unlock()
	told["fired"] = taken(&m.ran)
}

// firstDue returns the task that is to run next, if one is due.
func (m *Mine) firstDue() (first string, found bool) {
	for task, dueMs := range m.dueMs {
		if dueMs <= m.nowMs && (!found || dueMs < m.dueMs[first]) {
			first, found = task, true
		}
	}
	return first, found
}
