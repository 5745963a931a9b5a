package main

const name, component, profile = "my-accumulator", "accumulator", "wheelproof"

var able = []string{"exact_time", "close", "flush", "reenqueue", "many_batches"}

type config struct {
	BatchSize         int64 `json:"batch_size"`
	LingerMs          int64 `json:"linger_ms"`
	RetryBackoffMs    int64 `json:"retry_backoff_ms"`
	RetryBackoffMaxMs int64 `json:"retry_backoff_max_ms"`
	StartMs           int64 `json:"start_ms"`
}

type args struct {
	Record     string `json:"record"`
	Partition  int    `json:"partition"`
	Size       int64  `json:"size"`
	Callback   string `json:"callback"`
	Partitions []int  `json:"partitions"`
	Batch      string `json:"batch"`
	Offset     *int64 `json:"offset"`
	Flush      string `json:"flush"`
	ToMs       int64  `json:"to_ms"`
}

// A batch has records that are sent together; it was made, or put back, at sinceMs.
type batch struct {
	partition     int
	sinceMs, size int64
	records       []string
	attempts      int
	closed        bool
}

// Mine is your accumulator, seen from outside; each test case makes a new one.
//
// This one has no goroutines and no pool. If an append or a flush of yours blocks, run it on a
// goroutine of its own and leave it there; happened waits until each of them waits or has ended.
type Mine struct {
	config
	nowMs      int64
	closed     bool
	queues     map[int][]*batch
	inFlight   map[string]*batch
	drained    int
	again      map[string]args            // The appends that the callbacks of records make.
	flushes    map[string]map[string]bool // The records that each flush waits for.
	calledBack []fields
	appended   []fields
	refused    map[string]string
}

// newMine makes an accumulator whose clock shows StartMs.
func newMine(c config) *Mine {
	return &Mine{config: c, nowMs: c.StartMs, queues: map[int][]*batch{},
		inFlight: map[string]*batch{}, again: map[string]args{},
		flushes: map[string]map[string]bool{}, refused: map[string]string{}}
}

func (m *Mine) perform(op string, a args) fields {
	switch op {
	case "append":
		m.append(a)
	case "drain":
		return fields{"batches": m.drain(a.Partitions)}
	case "respond": // End a batch: it is stored from Offset on, or it failed; unmute its partition.
		m.end(m.land(a.Batch), a.Offset, "Failed")
	case "reenqueue": // Put a batch back for another attempt; unmute its partition.
		again := m.land(a.Batch)
		again.attempts++
		again.sinceMs = m.nowMs
		m.queues[again.partition] = append([]*batch{again}, m.queues[again.partition]...)
	case "flush": // Begin to wait for all records that have not been called back.
		awaited := map[string]bool{}
		for _, one := range m.allBatches() {
			for _, record := range one.records {
				awaited[record] = true
			}
		}
		m.flushes[a.Flush] = awaited
	case "advance": // Set the clock to ToMs.
		m.nowMs = a.ToMs
	case "close": // Close; nothing is accepted any more.
		m.closed = true
	case "abort": // End all batches; those in flight are still responded to.
		batches := m.allBatches()
		clear(m.queues)
		for _, one := range batches {
			m.end(one, nil, "Aborted")
		}
	}
	return fields{}
}

// happened tells what has happened since the last answer.
func (m *Mine) happened(told fields) {
	flushed := map[string]bool{}
	for flush, awaited := range m.flushes {
		if len(awaited) == 0 {
			flushed[flush] = false // It was not interrupted.
			delete(m.flushes, flush)
		}
	}
	queued := func(queue []*batch) bool { return len(queue) > 0 }
	hasUndrained := false
	for _, queue := range m.queues {
		hasUndrained = hasUndrained || queued(queue)
	}
	isIncomplete := func(one *batch) bool { return len(one.records) > 0 }
	told["called_back"], told["appended"] = taken(&m.calledBack), taken(&m.appended)
	told["refused"], told["flushed"] = m.refused, flushed
	told["flush_in_progress"], told["has_undrained"] = len(m.flushes) > 0, hasUndrained
	told["has_incomplete"] = slices.ContainsFunc(m.allBatches(), isIncomplete)
	m.refused = map[string]string{}
}

// append appends a record; a Callback that raises keeps nobody else from being told.
func (m *Mine) append(a args) {
	if m.closed {
		m.refused[a.Record] = "closed"
		return
	}
	queue := m.queues[a.Partition]
	if len(queue) > 0 && queue[len(queue)-1].size+a.Size > m.BatchSize {
		queue[len(queue)-1].closed = true
	}
	isNew := len(queue) == 0 || queue[len(queue)-1].closed
	if isNew {
		queue = append(queue, &batch{partition: a.Partition, sinceMs: m.nowMs})
		m.queues[a.Partition] = queue
	}
	last := queue[len(queue)-1]
	last.records = append(last.records, a.Record)
	last.size += a.Size
	last.closed = last.size >= m.BatchSize
	if a.Callback == "sends_again" {
		m.again[a.Record] = args{Record: a.Record + "'", Partition: a.Partition, Size: a.Size}
	}
	m.appended = append(m.appended, fields{"record": a.Record, "new_batch_created": isNew,
		"batch_is_full": len(queue) > 1 || last.closed})
}

// drain takes the first batch of each partition that can be sent; it mutes these partitions.
func (m *Mine) drain(partitions []int) []fields {
	muted := map[int]bool{}
	for _, one := range m.inFlight {
		muted[one.partition] = true
	}
	batches := []fields{}
	for _, partition := range partitions {
		queue := m.queues[partition]
		if muted[partition] || !m.isReady(queue) {
			continue
		}
		m.drained++
		first, name := queue[0], fmt.Sprint("b", m.drained)
		first.closed = true
		m.queues[partition], m.inFlight[name] = queue[1:], first
		batches = append(batches,
			fields{"batch": name, "partition": partition, "records": first.records})
	}
	return batches
}

// isReady tells whether the first batch can be sent: neither backing off nor lingering.
func (m *Mine) isReady(queue []*batch) bool {
	if len(queue) == 0 {
		return false
	}
	first := queue[0]
	waitedMs := m.nowMs - first.sinceMs
	doubledMs := m.RetryBackoffMs << max(first.attempts-1, 0)
	if first.attempts > 0 && waitedMs < min(doubledMs, m.RetryBackoffMaxMs) {
		return false
	}
	hurried := m.closed || len(m.flushes) > 0
	return hurried || len(queue) > 1 || first.closed || waitedMs >= m.LingerMs
}

// allBatches returns the batches in flight and in the queues, the oldest of a partition first.
func (m *Mine) allBatches() []*batch {
	all := []*batch{}
	for _, one := range m.inFlight {
		all = append(all, one)
	}
	for _, queue := range m.queues {
		all = append(all, queue...)
	}
	return all
}

// land takes a batch out of those in flight.
func (m *Mine) land(name string) *batch {
	one := m.inFlight[name]
	if one == nil {
		panic(name + " is not in flight")
	}
	delete(m.inFlight, name)
	return one
}

// end calls back the records of a batch, which are told once.
func (m *Mine) end(one *batch, offset *int64, problem string) {
	for place, record := range taken(&one.records) {
		told := fields{"record": record, "offset": nil, "error": problem}
		if offset != nil {
			told["offset"], told["error"] = *offset+int64(place), nil
		}
		m.calledBack = append(m.calledBack, told)
		for _, awaited := range m.flushes {
			delete(awaited, record)
		}
		if again, found := m.again[record]; found {
			delete(m.again, record)
			m.append(again)
		}
	}
}
