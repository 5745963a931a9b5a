package main

// A record's batch begins at the offset base.
type record struct{ epoch, size, base int }

type begun struct{ epoch, first int }

// A follower, as its leader knows it, asked last for end.
type follower struct {
	caughtUpMs, fetchedMs *int64
	end, leaderEnd        int
}

// A replica is a partition of this broker: its log, and its followers while it leads.
type replica struct {
	leads                            bool
	epoch, epochStart, highWatermark int
	records                          []record
	segments                         []int   // The first offset of each.
	epochs                           []begun // Each with its first offset.
	inSync                           map[int]bool
	followers                        map[int]*follower
}

// endFor returns up to where a follower reads, or for nil a consumer.
func (r *replica) endFor(replicaID *int) int {
	if replicaID == nil {
		return r.highWatermark
	}
	return len(r.records)
}

// base returns where the batch of an offset begins, or the end if it lies there.
func (r *replica) base(offset int) int {
	if offset < len(r.records) {
		return r.records[offset].base
	}
	return len(r.records)
}

// after returns where the batch behind the batch of an offset begins.
func (r *replica) after(offset int) int {
	after := offset
	for after < len(r.records) && r.base(after) == r.base(offset) {
		after++
	}
	return after
}

// position returns how many bytes lie in front of the batch of an offset.
func (r *replica) position(offset int) (bytes int) {
	for _, one := range r.records[:r.base(offset)] {
		bytes += one.size
	}
	return bytes
}

// append appends a batch, to a new segment if it does not fit; it returns its first offset.
func (r *replica) append(batch place, segmentBytes int) int {
	first := len(r.records)
	used := r.position(first) - r.position(r.segments[len(r.segments)-1])
	if used > 0 && used+batch.size() > segmentBytes {
		r.segments = append(r.segments, first)
	}
	for _, one := range batch.Records {
		r.records = append(r.records, record{r.epoch, one.Size, first})
	}
	return first
}

func (p place) size() (bytes int) {
	for _, one := range p.Records {
		bytes += one.Size
	}
	return bytes
}

// truncate drops the records from an offset on.
func (r *replica) truncate(offset int) {
	r.records = r.records[:offset]
	r.segments = slices.DeleteFunc(r.segments, func(first int) bool { return first > offset })
	r.epochs = slices.DeleteFunc(r.epochs, func(one begun) bool { return one.first >= offset })
	r.highWatermark = min(r.highWatermark, offset)
}

// endOfEpoch returns the largest epoch up to this one, and where it ends.
func (r *replica) endOfEpoch(epoch int) (known, end int) {
	known = epoch
	for _, one := range r.epochs {
		if one.epoch > epoch {
			return known, one.first
		}
		known = one.epoch
	}
	return known, len(r.records)
}

// diverging returns where a log that ends at offset in the epoch last parts from this one.
func (r *replica) diverging(offset int, last *int) fields {
	if last == nil {
		return nil
	}
	epoch, end := r.endOfEpoch(*last)
	if epoch >= *last && end >= offset {
		return nil
	}
	return fields{"leader_epoch": epoch, "end_offset": end}
}

// read returns the end of what is read, from one segment, and how many bytes that takes.
func (r *replica) read(offset, end, room int, isFirst bool) (last, bytes int) {
	for _, first := range r.segments {
		if first > offset {
			end = min(end, first)
		}
	}
	if end <= offset {
		return offset, 0
	}
	begin := r.position(offset)
	if needed := r.position(r.after(offset)) - begin; needed > room {
		room = 0
		if isFirst {
			room = needed
		}
	}
	last = offset
	for last < end && r.after(last) <= end && r.position(r.after(last))-begin <= room {
		last = r.after(last)
	}
	return last, min(r.position(end)-begin, room)
}

// refusalOfFetch returns why a fetch is refused, be its offset in the log or not; NONE if it is not.
func refusalOfFetch(one place, r *replica, replicaID *int) string {
	if r == nil {
		return "UNKNOWN_TOPIC_OR_PARTITION"
	}
	epoch, last := one.CurrentLeaderEpoch, one.LastFetchedEpoch
	knows := func(begun begun) bool { return begun.epoch >= *last }
	switch {
	case epoch != nil && *epoch < r.epoch:
		return "FENCED_LEADER_EPOCH"
	case epoch != nil && *epoch > r.epoch:
		return "UNKNOWN_LEADER_EPOCH"
	case !r.leads:
		return "NOT_LEADER_OR_FOLLOWER"
	case replicaID != nil && r.followers[*replicaID] == nil && epoch == nil:
		return "NOT_LEADER_OR_FOLLOWER"
	case replicaID != nil && r.followers[*replicaID] == nil:
		return "UNKNOWN_LEADER_EPOCH"
	case one.FetchOffset < 0 || (last != nil && !slices.ContainsFunc(r.epochs, knows)):
		return "OFFSET_OUT_OF_RANGE"
	}
	return "NONE"
}

// isRefusal tells whether the answer for a partition says that it cannot be read there.
func isRefusal(answer fields) bool {
	return answer["error"] != "NONE" || answer["diverging_epoch"] != nil
}
