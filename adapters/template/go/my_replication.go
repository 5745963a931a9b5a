package main

const name, component, profile = "my-broker", "replication", "wheelproof"

var able = []string{}

type config struct {
	BrokerID            int   `json:"broker_id"`
	SegmentBytes        int   `json:"segment_bytes"`
	MinInSyncReplicas   int   `json:"min_in_sync_replicas"`
	ReplicaLagTimeMaxMs int64 `json:"replica_lag_time_max_ms"`
	StartMs             int64 `json:"start_ms"`
}

type args struct {
	Partition    string  `json:"partition"`
	LeaderEpoch  int     `json:"leader_epoch"`
	ReplicaIDs   []int   `json:"replica_ids"`
	InSyncIDs    []int   `json:"in_sync_ids"`
	Offset       int     `json:"offset"`
	Request      string  `json:"request"`
	RequiredAcks int     `json:"required_acks"`
	TimeoutMs    int64   `json:"timeout_ms"`
	Entries      []place `json:"entries"`
	ReplicaID    *int    `json:"replica_id"`
	MaxWaitMs    int64   `json:"max_wait_ms"`
	MinBytes     int     `json:"min_bytes"`
	MaxBytes     int     `json:"max_bytes"`
	Partitions   []place `json:"partitions"`
	ToMs         int64   `json:"to_ms"`
}

// A place is what a request appends to a partition, or where it reads there.
type place struct {
	Partition string `json:"partition"`
	Records   []struct {
		Size int `json:"size"`
	} `json:"records"`
	FetchOffset        int  `json:"fetch_offset"`
	MaxBytes           int  `json:"max_bytes"`
	CurrentLeaderEpoch *int `json:"current_leader_epoch"`
	LastFetchedEpoch   *int `json:"last_fetched_epoch"`
}

type produce struct {
	expiresMs int64
	answers   []fields
	pending   map[int]begun // By the place of the answer: the epoch, and the end.
}

type fetch struct {
	args
	expiresMs int64
}

// Mine is your broker, seen from outside; each test case makes a new one.
type Mine struct {
	config
	nowMs             int64
	replicas          map[string]*replica
	produces          map[string]*produce
	fetches           map[string]fetch
	produced, fetched []fields
}

// newMine makes a broker without partitions, whose clock shows StartMs.
func newMine(c config) *Mine {
	return &Mine{config: c, nowMs: c.StartMs, replicas: map[string]*replica{},
		produces: map[string]*produce{}, fetches: map[string]fetch{}}
}

func (m *Mine) perform(op string, a args) fields {
	switch op {
	case "become_leader": // Lead a partition in a new epoch.
		m.becomeLeader(a)
	case "become_follower": // Follow another broker in a new epoch.
		r := m.inNewEpoch(a)
		r.leads, r.followers, r.inSync = false, map[int]*follower{}, map[int]bool{}
	case "stop_replica": // Forget a partition and its log.
		delete(m.replicas, a.Partition)
	case "truncate_as_follower": // Drop the records of a followed partition from Offset on.
		r := m.replicas[a.Partition]
		if r == nil || r.leads || a.Offset < 0 || a.Offset > len(r.records) {
			panic("a log is truncated while it is followed, up to its end")
		}
		r.truncate(a.Offset)
	case "maybe_shrink_in_sync": // Drop followers that have fallen behind from the in-sync sets.
		for _, r := range m.replicas {
			known := len(r.inSync)
			for id, one := range r.followers {
				if r.inSync[id] && !m.isCaughtUp(r, one) {
					delete(r.inSync, id)
				}
			}
			if len(r.inSync) < known {
				m.raiseHighWatermark(r)
			}
		}
	case "append_records": // Append, and answer as soon as RequiredAcks says.
		m.appendRecords(a)
	case "fetch_messages": // Read, and note where a follower is; answer once there is enough.
		m.fetchMessages(a)
	case "purge_completed": // Tell how many watches and keys are left; what is done is dropped.
		return m.watches()
	case "advance": // Set the clock to ToMs; answer the requests whose time is over.
		m.nowMs = a.ToMs
	}
	m.settle(op == "advance")
	return fields{}
}

// happened tells which requests have been answered since the last answer.
func (m *Mine) happened(told fields) {
	told["produced"], told["fetched"] = taken(&m.produced), taken(&m.fetched)
	told["num_delayed"] = len(m.produces) + len(m.fetches)
}

func (m *Mine) becomeLeader(a args) {
	isReplica := func(id int) bool { return slices.Contains(a.ReplicaIDs, id) }
	isStranger := func(id int) bool { return !isReplica(id) }
	if !slices.Contains(a.InSyncIDs, m.BrokerID) || slices.ContainsFunc(a.InSyncIDs, isStranger) {
		panic("who is in sync is a replica, and the leader is in sync")
	}
	r := m.inNewEpoch(a)
	first, before := len(r.records), r.followers
	r.leads, r.epochStart, r.inSync = true, first, map[int]bool{}
	r.epochs = slices.DeleteFunc(r.epochs, func(one begun) bool { return one.first >= first })
	r.epochs = append(r.epochs, begun{a.LeaderEpoch, first})
	for _, id := range a.InSyncIDs {
		r.inSync[id] = true
	}
	r.followers = map[int]*follower{}
	for _, id := range a.ReplicaIDs {
		if id == m.BrokerID {
			continue
		}
		one := &follower{end: -1}
		if before[id] != nil {
			one.end = before[id].end
		}
		if nowMs := m.nowMs; r.inSync[id] {
			one.caughtUpMs = &nowMs
		}
		r.followers[id] = one
	}
	m.raiseHighWatermark(r)
}

func (m *Mine) appendRecords(a args) {
	requireOnce(a.Entries)
	for _, one := range a.Entries {
		if len(one.Records) == 0 {
			panic("no records")
		}
	}
	p := &produce{expiresMs: m.nowMs + a.TimeoutMs, pending: map[int]begun{}}
	for at, one := range a.Entries {
		problem, first := m.refusalOfAppend(one, a.RequiredAcks), -1
		if problem == "NONE" {
			r := m.replicas[one.Partition]
			first = r.append(one, m.SegmentBytes)
			m.raiseHighWatermark(r)
			if a.RequiredAcks == -1 {
				problem, p.pending[at] = "REQUEST_TIMED_OUT", begun{r.epoch, len(r.records)}
			}
		}
		p.answers = append(p.answers,
			fields{"partition": one.Partition, "error": problem, "base_offset": first})
	}
	m.produces[a.Request] = p
}

func (m *Mine) fetchMessages(a args) {
	requireOnce(a.Partitions)
	answers, bytes := m.read(a)
	mustNotWait := a.MaxWaitMs == 0 || len(answers) == 0
	for at, answer := range answers {
		if isRefusal(answer) {
			mustNotWait = true
		} else if a.ReplicaID != nil {
			m.noteFollower(*a.ReplicaID, a.Partitions[at])
		}
	}
	if mustNotWait || bytes >= a.MinBytes {
		m.fetched = append(m.fetched, fields{"request": a.Request, "partitions": answers})
	} else {
		m.fetches[a.Request] = fetch{a, m.nowMs + a.MaxWaitMs}
	}
}

func (m *Mine) watches() fields {
	watched, keys := 0, map[string]bool{}
	for _, p := range m.produces {
		for _, answer := range p.answers {
			watched++
			keys[fmt.Sprint("produce ", answer["partition"])] = true
		}
	}
	for _, f := range m.fetches {
		for _, one := range f.Partitions {
			watched++
			keys["fetch "+one.Partition] = true
		}
	}
	return fields{"watched": watched, "num_keys": len(keys)}
}

// settle answers the requests that need not wait longer, with what there is.
func (m *Mine) settle(clockMoved bool) {
	for request, p := range m.produces {
		if m.isReplicated(p) || (clockMoved && p.expiresMs <= m.nowMs) {
			delete(m.produces, request)
			m.produced = append(m.produced, fields{"request": request, "partitions": p.answers})
		}
	}
	for request, f := range m.fetches {
		if m.hasEnough(f.args) || (clockMoved && f.expiresMs <= m.nowMs) {
			delete(m.fetches, request)
			answers, _ := m.read(f.args)
			m.fetched = append(m.fetched, fields{"request": request, "partitions": answers})
		}
	}
}

// isReplicated notes what has become of a produce; it tells whether all partitions have an end.
func (m *Mine) isReplicated(p *produce) bool {
	for at, one := range p.pending {
		r := m.replicas[p.answers[at]["partition"].(string)]
		if outcome := m.outcome(r, one.epoch, one.first); outcome != "" {
			delete(p.pending, at)
			p.answers[at]["error"] = outcome
		}
	}
	return len(p.pending) == 0
}

// outcome returns the outcome of an append of an epoch, up to end; it is empty while it is open.
func (m *Mine) outcome(r *replica, epoch, end int) string {
	if r == nil {
		return "UNKNOWN_TOPIC_OR_PARTITION"
	}
	there, epochEnd := r.endOfEpoch(epoch)
	switch {
	case !r.leads || there != epoch || epochEnd < end:
		return "NOT_LEADER_OR_FOLLOWER"
	case r.highWatermark < end:
		return ""
	case m.hasEnoughInSync(r):
		return "NONE"
	}
	return "NOT_ENOUGH_REPLICAS_AFTER_APPEND"
}

// hasEnough tells whether a fetch has enough bytes, or need not wait for another reason.
func (m *Mine) hasEnough(a args) bool {
	bytes := 0
	for _, one := range a.Partitions {
		if isRefusal(m.look(one, a.ReplicaID)) {
			return true
		}
		r, offset := m.replicas[one.Partition], one.FetchOffset
		end, base := r.endFor(a.ReplicaID), r.base(offset)
		isOlder := func(first int) bool { return base < first && first <= end }
		// It begins beyond the end, or on an older segment.
		if offset != end && (base > end || slices.ContainsFunc(r.segments, isOlder)) {
			return true
		}
		bytes += min(max(r.position(end)-r.position(offset), 0), one.MaxBytes)
	}
	return bytes >= a.MinBytes
}

// read returns the answers of a fetch, and how many bytes they take.
func (m *Mine) read(a args) (answers []fields, bytes int) {
	answers = []fields{}
	for _, one := range a.Partitions {
		answer := m.look(one, a.ReplicaID)
		answers = append(answers, answer)
		if isRefusal(answer) {
			continue
		}
		r, room := m.replicas[one.Partition], min(one.MaxBytes, max(a.MaxBytes-bytes, 0))
		last, read := r.read(one.FetchOffset, r.endFor(a.ReplicaID), room, bytes == 0)
		bytes += read
		records := []fields{}
		for at := one.FetchOffset; at < last; at++ {
			records = append(records, fields{"offset": at,
				"leader_epoch": r.records[at].epoch, "size": r.records[at].size})
		}
		answer["records"] = records
	}
	return answers, bytes
}

// look returns the answer for one partition, but for its records.
func (m *Mine) look(one place, replicaID *int) fields {
	r := m.replicas[one.Partition]
	problem := refusalOfFetch(one, r, replicaID)
	if problem != "NONE" {
		return fields{"partition": one.Partition, "error": problem}
	}
	diverging := r.diverging(one.FetchOffset, one.LastFetchedEpoch)
	if diverging == nil && one.FetchOffset > len(r.records) {
		return fields{"partition": one.Partition, "error": "OFFSET_OUT_OF_RANGE"}
	}
	answer := fields{"partition": one.Partition, "error": problem, "high_watermark": r.highWatermark}
	if diverging != nil {
		answer["diverging_epoch"] = diverging
	}
	return answer
}

// noteFollower notes how far a follower has come; it may be in sync again.
func (m *Mine) noteFollower(id int, fetched place) {
	r := m.replicas[fetched.Partition]
	one, end, nowMs := r.followers[id], len(r.records), m.nowMs
	before, known := one.end, len(r.inSync)
	one.end = r.base(fetched.FetchOffset)
	if one.end >= end {
		one.caughtUpMs = &nowMs
	} else if one.fetchedMs != nil && one.end >= one.leaderEnd &&
		(one.caughtUpMs == nil || *one.caughtUpMs < *one.fetchedMs) {
		one.caughtUpMs = one.fetchedMs
	}
	one.fetchedMs, one.leaderEnd = &nowMs, max(one.leaderEnd, end)
	if one.end >= max(r.highWatermark, r.epochStart) {
		r.inSync[id] = true
	}
	if one.end != before || len(r.inSync) != known {
		m.raiseHighWatermark(r)
	}
}

// raiseHighWatermark raises it to the least end of the replicas that are in sync, or caught up.
func (m *Mine) raiseHighWatermark(r *replica) {
	if !m.hasEnoughInSync(r) {
		return
	}
	least := len(r.records)
	for id, one := range r.followers {
		if r.inSync[id] || m.isCaughtUp(r, one) {
			least = min(least, one.end)
		}
	}
	r.highWatermark = max(r.highWatermark, least)
}

// inNewEpoch returns the replica of a partition, in an epoch that has to be new.
func (m *Mine) inNewEpoch(a args) *replica {
	r := m.replicas[a.Partition]
	if r == nil {
		r = &replica{epoch: -1, segments: []int{0}}
	}
	if a.LeaderEpoch <= r.epoch {
		panic(fmt.Sprint("the epoch is ", r.epoch, " already"))
	}
	r.epoch, m.replicas[a.Partition] = a.LeaderEpoch, r
	return r
}

// isCaughtUp tells whether a follower has everything, or had a short time ago.
func (m *Mine) isCaughtUp(r *replica, one *follower) bool {
	had := one.caughtUpMs != nil && m.nowMs-*one.caughtUpMs <= m.ReplicaLagTimeMaxMs
	return had || one.end == len(r.records)
}

// hasEnoughInSync tells whether as many replicas are in sync as have to be.
func (m *Mine) hasEnoughInSync(r *replica) bool {
	return len(r.inSync) >= min(m.MinInSyncReplicas, 1+len(r.followers))
}

// refusalOfAppend returns why an append is refused; NONE if it is not.
func (m *Mine) refusalOfAppend(batch place, acks int) string {
	r := m.replicas[batch.Partition]
	switch {
	case acks < -1 || acks > 1:
		return "INVALID_REQUIRED_ACKS"
	case r == nil:
		return "UNKNOWN_TOPIC_OR_PARTITION"
	case !r.leads:
		return "NOT_LEADER_OR_FOLLOWER"
	case acks == -1 && !m.hasEnoughInSync(r):
		return "NOT_ENOUGH_REPLICAS"
	case batch.size() > m.SegmentBytes:
		return "RECORD_LIST_TOO_LARGE"
	}
	return "NONE"
}

// requireOnce panics if a request names a partition twice.
func requireOnce(named []place) {
	names := map[string]bool{}
	for _, one := range named {
		names[one.Partition] = true
	}
	if len(names) < len(named) {
		panic("a partition is named twice")
	}
}
