// The log of the broker in my_replication.rs.

/// A record of a log; its batch begins at the offset `base`.
struct Record {
    epoch: i64,
    size: i64,
    base: usize,
}

/// What a leader knows of a follower, which asked last for `end`; -1 if it has not asked.
#[derive(Default)]
struct Follower {
    caught_up_ms: Option<i64>,
    fetched_ms: Option<i64>,
    end: i64,
    leader_end: i64,
}

/// A partition of this broker: its log, and its followers while it leads.
struct Replica {
    leads: bool,
    epoch: i64,
    epoch_start: i64,
    high_watermark: i64,
    records: Vec<Record>,
    segments: Vec<usize>,      // The first offset of each.
    epochs: Vec<(i64, usize)>, // Each with its first offset.
    in_sync: BTreeSet<i64>,
    followers: BTreeMap<i64, Follower>,
}

impl Replica {
    fn new() -> Self {
        Replica {
            leads: false,
            epoch: -1,
            epoch_start: 0,
            high_watermark: 0,
            records: vec![],
            segments: vec![0],
            epochs: vec![],
            in_sync: BTreeSet::new(),
            followers: BTreeMap::new(),
        }
    }

    /// Returns the offset of the next record.
    fn end(&self) -> usize {
        self.records.len()
    }

    /// Returns up to where a follower reads, or for none a consumer.
    fn end_for(&self, replica_id: Option<i64>) -> usize {
        if replica_id.is_none() { self.high_watermark as usize } else { self.end() }
    }

    /// Returns where the batch of an offset begins, or the end if it lies there.
    fn base(&self, offset: usize) -> usize {
        self.records.get(offset).map_or(self.end(), |one| one.base)
    }

    /// Returns where the batch behind the batch of an offset begins.
    fn after(&self, offset: usize) -> usize {
        let is_behind = |at: &usize| self.base(*at) != self.base(offset);
        (offset..self.end()).find(is_behind).unwrap_or(self.end())
    }

    /// Returns how many bytes lie in front of the batch of an offset.
    fn position(&self, offset: usize) -> i64 {
        self.records[..self.base(offset)].iter().map(|one| one.size).sum()
    }

    /// Appends a batch, to a new segment if it does not fit; returns its first offset.
    fn append(&mut self, sizes: &[i64], segment_bytes: i64) -> i64 {
        let first = self.end();
        let used = self.position(first) - self.position(*self.segments.last().unwrap());
        if used > 0 && used + sizes.iter().sum::<i64>() > segment_bytes {
            self.segments.push(first);
        }
        let epoch = self.epoch;
        self.records.extend(sizes.iter().map(|size| Record { epoch, size: *size, base: first }));
        first as i64
    }

    /// Drops the records from an offset on.
    fn truncate(&mut self, offset: usize) {
        self.records.truncate(offset);
        self.segments.retain(|first| *first <= offset);
        self.epochs.retain(|(_, first)| *first < offset);
        self.high_watermark = self.high_watermark.min(offset as i64);
    }

    /// Returns the largest epoch up to this one, and where it ends.
    fn end_of_epoch(&self, epoch: i64) -> (i64, i64) {
        let known = self.epochs.iter().rev().find(|(one, _)| *one <= epoch);
        let later = self.epochs.iter().find(|(one, _)| *one > epoch);
        let end = later.map_or(self.end(), |(_, first)| *first);
        (known.map_or(epoch, |(one, _)| *one), end as i64)
    }

    /// Returns where a log that ends at `offset` in the epoch `last` parts from this one.
    fn diverging(&self, offset: i64, last: Option<i64>) -> Option<Json> {
        let (epoch, end) = self.end_of_epoch(last?);
        let told = [("leader_epoch", epoch.into()), ("end_offset", end.into())];
        if epoch < last? || end < offset { Some(object(told)) } else { None }
    }

    /// Returns the end of what is read, from one segment, and how many bytes that takes.
    fn read(&self, offset: usize, end: usize, room: i64, is_first: bool) -> (usize, i64) {
        let next_segment = self.segments.iter().find(|first| **first > offset);
        let end = next_segment.map_or(end, |first| end.min(*first));
        if end <= offset {
            return (offset, 0);
        }
        let begin = self.position(offset);
        let needed = self.position(self.after(offset)) - begin;
        let room = match needed > room {
            true if is_first => needed,
            true => 0,
            false => room,
        };
        let mut last = offset;
        while last < end && self.after(last) <= end {
            if self.position(self.after(last)) - begin > room {
                break;
            }
            last = self.after(last);
        }
        (last, room.min(self.position(end) - begin))
    }
}

/// Returns why a fetch is refused, be its offset in the log or not; NONE if it is not.
fn refusal_of_fetch(one: &Json, replica: Option<&Replica>, id: Option<i64>) -> &'static str {
    let Some(replica) = replica else { return "UNKNOWN_TOPIC_OR_PARTITION" };
    let (epoch, last) = (one.maybe("current_leader_epoch"), one.maybe("last_fetched_epoch"));
    let is_stranger = id.is_some_and(|id| !replica.followers.contains_key(&id));
    let knows = last.is_none_or(|last| replica.epochs.iter().any(|(one, _)| *one >= last));
    match epoch {
        Some(epoch) if epoch < replica.epoch => "FENCED_LEADER_EPOCH",
        Some(epoch) if epoch > replica.epoch => "UNKNOWN_LEADER_EPOCH",
        _ if !replica.leads => "NOT_LEADER_OR_FOLLOWER",
        Some(_) if is_stranger => "UNKNOWN_LEADER_EPOCH",
        None if is_stranger => "NOT_LEADER_OR_FOLLOWER",
        _ if !knows || one.int("fetch_offset") < 0 => "OFFSET_OUT_OF_RANGE",
        _ => "NONE",
    }
}

/// Tells whether the answer for a partition says that it cannot be read there.
fn is_refusal(answer: &Json) -> bool {
    answer.text("error") != "NONE" || matches!(answer.at("diverging_epoch"), Json::Object(_))
}
