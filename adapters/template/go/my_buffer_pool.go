package main

const name, component, profile = "my-pool", "buffer_pool", "longest-waiting-first"

var able = []string{"exact_time", "any_size", "interruption", "close"}

type config struct {
	TotalMemory  int64 `json:"total_memory"`
	PoolableSize int64 `json:"poolable_size"`
	StartMs      int64 `json:"start_ms"`
}

type args struct {
	Buffer           string `json:"buffer"`
	Size             int64  `json:"size"`
	MaxTimeToBlockMs int64  `json:"max_time_to_block_ms"`
	Name             string `json:"name"`
	ToMs             int64  `json:"to_ms"`
}

type allocation struct {
	name             string
	size, deadlineMs int64
}

// Mine is your pool, seen from outside; each test case makes a new one.
//
// This one has no goroutines. If an allocation of yours blocks, run it on a goroutine of its own and
// leave it there; happened waits until each of them waits or has ended.
type Mine struct {
	config
	mu          sync.Mutex // Several callers may call at the same time.
	nowMs, free int64
	closed      bool
	lent        map[string]int64
	waiting     []allocation
	ended       map[string]string
}

// newMine makes a pool of TotalMemory bytes whose clock shows StartMs.
func newMine(c config) *Mine {
	return &Mine{config: c, nowMs: c.StartMs, free: c.TotalMemory,
		lent: map[string]int64{}, ended: map[string]string{}}
}

func (m *Mine) perform(op string, a args) fields {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch op {
	case "allocate": // Allocate Size bytes under the name Buffer.
		if a.Size < 0 || a.Size > m.TotalMemory {
			panic(fmt.Sprint(a.Size, " bytes of ", m.TotalMemory))
		}
		m.waiting = append(m.waiting, allocation{a.Buffer, a.Size, m.nowMs + a.MaxTimeToBlockMs})
	case "deallocate": // Give back what the allocation Buffer got.
		size, isLent := m.lent[a.Buffer]
		if !isLent {
			panic(a.Buffer + " is not on loan")
		}
		delete(m.lent, a.Buffer)
		m.free += size
	case "interrupt": // Interrupt the allocation of this name; no effect if that has ended.
		m.waiting = slices.DeleteFunc(m.waiting, func(one allocation) bool {
			if one.name == a.Name {
				m.ended[one.name] = "interrupted"
			}
			return one.name == a.Name
		})
	case "advance": // Set the clock to ToMs; waits whose time is over end.
		m.nowMs = a.ToMs
	case "close": // Close the pool; nobody gets memory any more.
		m.closed = true
	}
	m.lend()
	return fields{}
}

// happened tells which allocations have ended since the last answer, and the gauges.
func (m *Mine) happened(told fields) {
	m.mu.Lock()
	defer m.mu.Unlock()
	told["ended"], told["available_memory"], told["queued"] = m.ended, m.free, len(m.waiting)
	m.ended = map[string]string{}
}

// lend lends to who has waited longest, as far as there is memory; it ends the other waits.
func (m *Mine) lend() {
	left := []allocation{}
	for _, one := range m.waiting {
		switch mayHave := one.size == 0 || len(left) == 0; {
		case m.closed:
			m.ended[one.name] = "closed"
		case mayHave && one.size <= m.free:
			m.free -= one.size
			m.lent[one.name] = one.size
			m.ended[one.name] = "buffer"
		case one.deadlineMs <= m.nowMs:
			m.ended[one.name] = "exhausted"
		default:
			left = append(left, one)
		}
	}
	m.waiting = left
}
