include!("adapter.rs");
include!("my_replication_log.rs");

use std::collections::BTreeSet;
use std::mem::take;

const NAME: &str = "my-broker";
const COMPONENT: &str = "replication";
const PROFILE: &str = "wheelproof";
const ABLE: &[&str] = &[];

/// A produce that waits; pending are the partitions that are not replicated yet.
struct Produce {
    expires_ms: i64,
    answers: BTreeMap<String, Json>,
    pending: BTreeMap<String, (i64, i64, i64)>, // The epoch, the first offset and the end.
}

/// Your broker, seen from outside; each test case makes a new one.
struct Mine {
    config: Json,
    now_ms: i64,
    replicas: BTreeMap<String, Replica>,
    produces: BTreeMap<String, Produce>,
    fetches: BTreeMap<String, (i64, Json)>, // When each expires, and what it asks for.
    produced: Vec<Json>,
    fetched: Vec<Json>,
}

impl Mine {
    /// Makes a broker without partitions, whose clock shows `start_ms`.
    fn new(config: &Json) -> Self {
        Mine {
            config: config.clone(),
            now_ms: config.int("start_ms"),
            replicas: BTreeMap::new(),
            produces: BTreeMap::new(),
            fetches: BTreeMap::new(),
            produced: vec![],
            fetched: vec![],
        }
    }

    fn perform(&mut self, operation: &str, args: &Json) -> Json {
        let partition = args.text("partition");
        match operation {
            // Lead a partition in a new epoch.
            "become_leader" => self.become_leader(args),
            // Follow another broker in a new epoch.
            "become_follower" => {
                let replica = self.in_new_epoch(args);
                replica.leads = false;
                replica.followers.clear();
                replica.in_sync.clear();
            }
            // Forget a partition and its log.
            "stop_replica" => drop(self.replicas.remove(&partition)),
            // Drop the records of a followed partition from an offset on.
            "truncate_as_follower" => {
                let replica = self.replicas.get_mut(&partition).expect("a partition");
                let offset = usize::try_from(args.int("offset")).unwrap();
                assert!(!replica.leads && offset <= replica.end(), "a log that is followed");
                replica.truncate(offset);
            }
            // Drop followers that have fallen behind from the in-sync sets.
            "maybe_shrink_in_sync" => {
                let names: Vec<String> = self.replicas.keys().cloned().collect();
                for name in names {
                    let replica = &self.replicas[&name];
                    let followers = replica.followers.iter();
                    let behind: Vec<i64> = followers
                        .filter(|(id, one)| {
                            replica.in_sync.contains(id) && !self.is_caught_up(replica, one)
                        })
                        .map(|(id, _)| *id)
                        .collect();
                    if !behind.is_empty() {
                        self.replica(&name).in_sync.retain(|id| !behind.contains(id));
                        self.raise_high_watermark(&name);
                    }
                }
            }
            // Append, and answer as soon as `required_acks` says.
            "append_records" => self.append_records(args),
            // Read, and note where a follower is; answer as soon as there is enough.
            "fetch_messages" => self.fetch_messages(args),
            // Tell how many watches and keys are left; what is done is dropped.
            "purge_completed" => return self.watches(),
            // Set the clock to `to_ms`; answer the requests whose time is over.
            "advance" => self.now_ms = args.int("to_ms"),
            _ => panic!("{operation}"),
        }
        self.settle(operation == "advance");
        object([])
    }

    /// Returns the requests that have been answered since the last answer.
    fn happened(&mut self) -> Json {
        object([
            ("produced", take(&mut self.produced).into()),
            ("fetched", take(&mut self.fetched).into()),
            ("num_delayed", (self.produces.len() + self.fetches.len()).into()),
        ])
    }

    fn become_leader(&mut self, args: &Json) {
        let (me, now_ms) = (self.config.int("broker_id"), self.now_ms);
        let (ids, in_sync) = (args.ints("replica_ids"), args.ints("in_sync_ids"));
        assert!(in_sync.contains(&me), "the leader is in sync");
        assert!(in_sync.iter().all(|id| ids.contains(id)), "who is in sync is a replica");
        let replica = self.in_new_epoch(args);
        let first = replica.end();
        replica.leads = true;
        replica.epoch_start = first as i64;
        replica.epochs.retain(|(_, begin)| *begin < first);
        replica.epochs.push((replica.epoch, first));
        let before = take(&mut replica.followers);
        for id in ids.into_iter().filter(|id| *id != me) {
            let end = before.get(&id).map_or(-1, |one| one.end);
            let caught_up_ms = in_sync.contains(&id).then_some(now_ms);
            replica.followers.insert(id, Follower { caught_up_ms, end, ..Follower::default() });
        }
        replica.in_sync = in_sync.into_iter().collect();
        self.raise_high_watermark(&args.text("partition"));
    }

    fn append_records(&mut self, args: &Json) {
        let entries = args.list("entries");
        require_once(entries);
        assert!(entries.iter().all(|one| !one.list("records").is_empty()), "no records");
        let (acks, segment_bytes) = (args.int("required_acks"), self.config.int("segment_bytes"));
        let expires_ms = self.now_ms + args.int("timeout_ms");
        let (mut answers, mut pending) = (BTreeMap::new(), BTreeMap::new());
        for entry in entries {
            let name = entry.text("partition");
            let records = entry.list("records").iter();
            let sizes: Vec<i64> = records.map(|one| one.int("size")).collect();
            let mut error = self.refusal_of_append(&name, acks, sizes.iter().sum());
            let mut first = -1;
            if error == "NONE" {
                let replica = self.replica(&name);
                first = replica.append(&sizes, segment_bytes);
                let appended = (replica.epoch, first, replica.end() as i64);
                self.raise_high_watermark(&name);
                if acks == -1 {
                    error = "REQUEST_TIMED_OUT";
                    pending.insert(name.clone(), appended);
                }
            }
            answers.insert(name.clone(), produce_answer(&name, error, first));
        }
        self.produces.insert(args.text("request"), Produce { expires_ms, answers, pending });
    }

    fn fetch_messages(&mut self, args: &Json) {
        let places = args.list("partitions");
        require_once(places);
        let (answers, bytes) = self.read(args);
        let mut must_not_wait = args.int("max_wait_ms") == 0 || places.is_empty();
        for (answer, place) in answers.iter().zip(places) {
            if is_refusal(answer) {
                must_not_wait = true;
            } else if let Some(id) = args.maybe("replica_id") {
                self.note_follower(id, place);
            }
        }
        let request = args.text("request");
        if must_not_wait || bytes >= args.int("min_bytes") {
            let told = [("request", request.into()), ("partitions", answers.into())];
            self.fetched.push(object(told));
        } else {
            let expires_ms = self.now_ms + args.int("max_wait_ms");
            self.fetches.insert(request, (expires_ms, args.clone()));
        }
    }

    fn watches(&self) -> Json {
        let produces: Vec<String> =
            self.produces.values().flat_map(|one| one.answers.keys().cloned()).collect();
        let places = self.fetches.values().flat_map(|(_, args)| args.list("partitions"));
        let fetches: Vec<String> = places.map(|one| one.text("partition")).collect();
        let watched = produces.len() + fetches.len();
        let distinct = |keys: Vec<String>| keys.into_iter().collect::<BTreeSet<_>>().len();
        let num_keys = distinct(produces) + distinct(fetches);
        object([("watched", watched.into()), ("num_keys", num_keys.into())])
    }

    /// Answers the requests that need not wait longer, with what there is.
    fn settle(&mut self, clock_moved: bool) {
        for (request, mut produce) in take(&mut self.produces) {
            let is_over = clock_moved && produce.expires_ms <= self.now_ms;
            if self.is_replicated(&mut produce) || is_over {
                let answers: Vec<Json> = produce.answers.into_values().collect();
                let told = [("request", request.into()), ("partitions", answers.into())];
                self.produced.push(object(told));
            } else {
                self.produces.insert(request, produce);
            }
        }
        for (request, (expires_ms, args)) in take(&mut self.fetches) {
            let is_over = clock_moved && expires_ms <= self.now_ms;
            if self.has_enough(&args) || is_over {
                let answers = self.read(&args).0;
                let told = [("request", request.into()), ("partitions", answers.into())];
                self.fetched.push(object(told));
            } else {
                self.fetches.insert(request, (expires_ms, args));
            }
        }
    }

    /// Notes what has become of the partitions of a produce; tells whether all have an end.
    fn is_replicated(&self, produce: &mut Produce) -> bool {
        let answers = &mut produce.answers;
        produce.pending.retain(|name, (epoch, first, end)| {
            let outcome = self.outcome(self.replicas.get(name), *epoch, *end);
            if let Some(error) = outcome {
                answers.insert(name.clone(), produce_answer(name, error, *first));
            }
            outcome.is_none()
        });
        produce.pending.is_empty()
    }

    /// Returns the outcome of an append of an epoch, up to `end`; none while it is open.
    fn outcome(&self, replica: Option<&Replica>, epoch: i64, end: i64) -> Option<&'static str> {
        let Some(replica) = replica else { return Some("UNKNOWN_TOPIC_OR_PARTITION") };
        let (there, epoch_end) = replica.end_of_epoch(epoch);
        if !replica.leads || there != epoch || epoch_end < end {
            return Some("NOT_LEADER_OR_FOLLOWER");
        }
        if replica.high_watermark < end {
            return None;
        }
        let enough = self.has_enough_in_sync(replica);
        Some(if enough { "NONE" } else { "NOT_ENOUGH_REPLICAS_AFTER_APPEND" })
    }

    /// Tells whether a fetch has enough bytes, or need not wait for another reason.
    fn has_enough(&self, args: &Json) -> bool {
        let replica_id = args.maybe("replica_id");
        let mut bytes = 0;
        for one in args.list("partitions") {
            if is_refusal(&self.look(one, replica_id)) {
                return true;
            }
            let replica = &self.replicas[&one.text("partition")];
            let offset = one.int("fetch_offset") as usize;
            let (end, base) = (replica.end_for(replica_id), replica.base(offset));
            let is_older = replica.segments.iter().any(|first| base < *first && *first <= end);
            if offset != end && (base > end || is_older) {
                return true; // It begins beyond the end, or on an older segment.
            }
            let there = (replica.position(end) - replica.position(offset)).max(0);
            bytes += there.min(one.int("max_bytes"));
        }
        bytes >= args.int("min_bytes")
    }

    /// Returns the answers of a fetch, and how many bytes they take.
    fn read(&self, args: &Json) -> (Vec<Json>, i64) {
        let replica_id = args.maybe("replica_id");
        let (mut answers, mut bytes) = (vec![], 0);
        for one in args.list("partitions") {
            let mut answer = self.look(one, replica_id);
            if !is_refusal(&answer) {
                let replica = &self.replicas[&one.text("partition")];
                let offset = one.int("fetch_offset") as usize;
                let room = one.int("max_bytes").min((args.int("max_bytes") - bytes).max(0));
                let end = replica.end_for(replica_id);
                let (last, read) = replica.read(offset, end, room, bytes == 0);
                bytes += read;
                let records: Vec<Json> = (offset..last)
                    .map(|at| {
                        object([
                            ("offset", at.into()),
                            ("leader_epoch", replica.records[at].epoch.into()),
                            ("size", replica.records[at].size.into()),
                        ])
                    })
                    .collect();
                answer = answer.and(object([("records", records.into())]));
            }
            answers.push(answer);
        }
        (answers, bytes)
    }

    /// Returns the answer for one partition, but for its records.
    fn look(&self, one: &Json, replica_id: Option<i64>) -> Json {
        let (name, offset) = (one.text("partition"), one.int("fetch_offset"));
        let replica = self.replicas.get(&name);
        let mut error = refusal_of_fetch(one, replica, replica_id);
        let diverging = replica.and_then(|it| it.diverging(offset, one.maybe("last_fetched_epoch")));
        let is_beyond = replica.is_some_and(|it| offset > it.end() as i64);
        if error == "NONE" && diverging.is_none() && is_beyond {
            error = "OFFSET_OUT_OF_RANGE";
        }
        let answer = object([("partition", name.into()), ("error", error.into())]);
        let Some(replica) = replica.filter(|_| error == "NONE") else { return answer };
        let answer = answer.and(object([("high_watermark", replica.high_watermark.into())]));
        match diverging {
            Some(epoch) => answer.and(object([("diverging_epoch", epoch)])),
            None => answer,
        }
    }

    /// Notes how far a follower has come; it may be in sync again.
    fn note_follower(&mut self, id: i64, place: &Json) {
        let (name, now_ms) = (place.text("partition"), self.now_ms);
        let replica = self.replica(&name);
        let end = replica.end() as i64;
        let reached = replica.base(place.int("fetch_offset") as usize) as i64;
        let follower = replica.followers.get_mut(&id).unwrap();
        let mut has_changed = reached != follower.end;
        follower.end = reached;
        if reached >= end {
            follower.caught_up_ms = Some(now_ms);
        } else if reached >= follower.leader_end {
            follower.caught_up_ms = follower.caught_up_ms.max(follower.fetched_ms);
        }
        follower.fetched_ms = Some(now_ms);
        follower.leader_end = follower.leader_end.max(end);
        if reached >= replica.high_watermark.max(replica.epoch_start) {
            has_changed |= replica.in_sync.insert(id);
        }
        if has_changed {
            self.raise_high_watermark(&name);
        }
    }

    /// Raises it to the least end of the replicas that are in sync, or are caught up.
    fn raise_high_watermark(&mut self, name: &str) {
        let replica = &self.replicas[name];
        if !self.has_enough_in_sync(replica) {
            return;
        }
        let followers = replica.followers.iter();
        let counts = |id: &i64, one: &Follower| {
            replica.in_sync.contains(id) || self.is_caught_up(replica, one)
        };
        let counted = followers.filter(|(id, one)| counts(id, one)).map(|(_, one)| one.end);
        let least = counted.fold(replica.end() as i64, i64::min).max(replica.high_watermark);
        self.replica(name).high_watermark = least;
    }

    /// Returns the replica of a partition, in an epoch that has to be new.
    fn in_new_epoch(&mut self, args: &Json) -> &mut Replica {
        let replica = self.replicas.entry(args.text("partition")).or_insert_with(Replica::new);
        let epoch = args.int("leader_epoch");
        assert!(epoch > replica.epoch, "the epoch is {} already", replica.epoch);
        replica.epoch = epoch;
        replica
    }

    fn replica(&mut self, name: &str) -> &mut Replica {
        self.replicas.get_mut(name).unwrap()
    }

    /// Tells whether a follower has everything, or had a short time ago.
    fn is_caught_up(&self, replica: &Replica, follower: &Follower) -> bool {
        let lag_ms = self.config.int("replica_lag_time_max_ms");
        let had = follower.caught_up_ms.is_some_and(|since_ms| self.now_ms - since_ms <= lag_ms);
        had || follower.end == replica.end() as i64
    }

    /// Tells whether as many replicas are in sync as have to be.
    fn has_enough_in_sync(&self, replica: &Replica) -> bool {
        let least = self.config.int("min_in_sync_replicas") as usize;
        replica.in_sync.len() >= least.min(1 + replica.followers.len())
    }

    /// Returns why an append is refused; NONE if it is not.
    fn refusal_of_append(&self, name: &str, acks: i64, size: i64) -> &'static str {
        match self.replicas.get(name) {
            _ if !(-1..=1).contains(&acks) => "INVALID_REQUIRED_ACKS",
            None => "UNKNOWN_TOPIC_OR_PARTITION",
            Some(replica) if !replica.leads => "NOT_LEADER_OR_FOLLOWER",
            Some(replica) if acks == -1 && !self.has_enough_in_sync(replica) => {
                "NOT_ENOUGH_REPLICAS"
            }
            _ if size > self.config.int("segment_bytes") => "RECORD_LIST_TOO_LARGE",
            _ => "NONE",
        }
    }
}

fn produce_answer(name: &str, error: &str, first: i64) -> Json {
    object([("partition", name.into()), ("error", error.into()), ("base_offset", first.into())])
}

/// Panics if a request names a partition twice.
fn require_once(places: &[Json]) {
    let names: BTreeSet<String> = places.iter().map(|one| one.text("partition")).collect();
    assert!(names.len() == places.len(), "a partition is named twice");
}
