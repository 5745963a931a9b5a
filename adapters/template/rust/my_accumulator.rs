include!("adapter.rs");

use std::collections::BTreeSet;
use std::mem::take;

const NAME: &str = "my-accumulator";
const COMPONENT: &str = "accumulator";
const PROFILE: &str = "wheelproof";
const ABLE: &[&str] = &["exact_time", "close", "flush", "reenqueue", "many_batches"];

/// Records that are sent together; it was made, or put back, at `since_ms`.
#[derive(Default)]
struct Batch {
    partition: i64,
    since_ms: i64,
    size: i64,
    records: Vec<String>,
    attempts: u32,
    closed: bool,
}

/// Your accumulator, seen from outside; each test case makes a new one.
///
/// This one has no threads and no pool. If an append or a flush of yours blocks, run it on a thread
/// of its own and leave it there; `happened` waits until each thread waits or has ended.
#[derive(Default)]
struct Mine {
    batch_size: i64,
    linger_ms: i64,
    backoff_ms: i64,
    longest_backoff_ms: i64,
    now_ms: i64,
    closed: bool,
    queues: BTreeMap<i64, Vec<Batch>>,
    in_flight: BTreeMap<String, Batch>,
    drained: usize,
    again: BTreeMap<String, (i64, i64)>, // The partition and the size that a callback sends once more.
    flushes: BTreeMap<String, BTreeSet<String>>, // The records that each flush waits for.
    called_back: Vec<Json>,
    appended: Vec<Json>,
    refused: BTreeMap<String, &'static str>,
}

impl Mine {
    /// Makes an accumulator whose clock shows `start_ms`.
    fn new(config: &Json) -> Self {
        Mine {
            batch_size: config.int("batch_size"),
            linger_ms: config.int("linger_ms"),
            backoff_ms: config.int("retry_backoff_ms"),
            longest_backoff_ms: config.int("retry_backoff_max_ms"),
            now_ms: config.int("start_ms"),
            ..Mine::default()
        }
    }

    fn perform(&mut self, operation: &str, args: &Json) -> Json {
        match operation {
            "append" => {
                let (record, callback) = (args.text("record"), args.text("callback"));
                self.append(record, args.int("partition"), args.int("size"), &callback);
            }
            "drain" => return object([("batches", self.drain(args.ints("partitions")).into())]),
            // End a batch: it is stored from `offset` on, or it failed; unmute its partition.
            "respond" => {
                let batch = self.in_flight.remove(&args.text("batch")).unwrap();
                self.end(batch.records, args.maybe("offset"), "Failed");
            }
            // Put a batch back for another attempt; unmute its partition.
            "reenqueue" => {
                let mut batch = self.in_flight.remove(&args.text("batch")).unwrap();
                batch.attempts += 1;
                batch.since_ms = self.now_ms;
                self.queues.entry(batch.partition).or_default().insert(0, batch);
            }
            // Begin to wait for all records that have not been called back.
            "flush" => {
                let awaited = self.batches().flat_map(|batch| batch.records.clone()).collect();
                self.flushes.insert(args.text("flush"), awaited);
            }
            // Set the clock to `to_ms`.
            "advance" => self.now_ms = args.int("to_ms"),
            // Close; nothing is accepted any more.
            "close" => self.closed = true,
            // End all batches; those in flight are still responded to.
            "abort" => {
                let in_flight = self.in_flight.values_mut().map(|batch| take(&mut batch.records));
                let mut ended: Vec<Vec<String>> = in_flight.collect();
                let queued = take(&mut self.queues).into_values().flatten();
                ended.extend(queued.map(|batch| batch.records));
                for records in ended {
                    self.end(records, None, "Aborted");
                }
            }
            _ => panic!("{operation}"),
        }
        object([])
    }

    /// Returns what has happened since the last answer.
    fn happened(&mut self) -> Json {
        let done = self.flushes.iter().filter(|(_, awaited)| awaited.is_empty());
        let flushed: BTreeMap<String, bool> =
            done.map(|(flush, _)| (flush.clone(), false)).collect(); // None was interrupted.
        self.flushes.retain(|flush, _| !flushed.contains_key(flush));
        object([
            ("called_back", take(&mut self.called_back).into()),
            ("appended", take(&mut self.appended).into()),
            ("refused", take(&mut self.refused).into()),
            ("flushed", flushed.into()),
            ("flush_in_progress", (!self.flushes.is_empty()).into()),
            ("has_undrained", self.queues.values().any(|queue| !queue.is_empty()).into()),
            ("has_incomplete", self.batches().any(|batch| !batch.records.is_empty()).into()),
        ])
    }

    /// Appends a record; a `callback` that raises keeps nobody else from being told.
    fn append(&mut self, record: String, partition: i64, size: i64, callback: &str) {
        if self.closed {
            self.refused.insert(record, "closed");
            return;
        }
        let queue = self.queues.entry(partition).or_default();
        if let Some(last) = queue.last_mut() {
            last.closed = last.closed || last.size + size > self.batch_size;
        }
        let is_new = queue.last().is_none_or(|last| last.closed);
        if is_new {
            queue.push(Batch { partition, since_ms: self.now_ms, ..Batch::default() });
        }
        let is_second = queue.len() > 1;
        let last = queue.last_mut().unwrap();
        last.records.push(record.clone());
        last.size += size;
        last.closed = last.size >= self.batch_size;
        let is_full = is_second || last.closed;
        if callback == "sends_again" {
            self.again.insert(record.clone(), (partition, size));
        }
        self.appended.push(object([
            ("record", record.into()),
            ("batch_is_full", is_full.into()),
            ("new_batch_created", is_new.into()),
        ]));
    }

    /// Takes the first batch of each partition that can be sent; mutes these partitions.
    fn drain(&mut self, partitions: Vec<i64>) -> Vec<Json> {
        let muted: BTreeSet<i64> = self.in_flight.values().map(|batch| batch.partition).collect();
        let mut taken = vec![];
        for partition in partitions {
            if muted.contains(&partition) || !self.is_ready(partition) {
                continue;
            }
            let mut batch = self.queues.get_mut(&partition).unwrap().remove(0);
            batch.closed = true;
            self.drained += 1;
            let name = format!("b{}", self.drained);
            taken.push(object([
                ("batch", name.clone().into()),
                ("partition", partition.into()),
                ("records", batch.records.clone().into()),
            ]));
            self.in_flight.insert(name, batch);
        }
        taken
    }

    /// Tells whether the first batch can be sent: neither backing off nor lingering.
    fn is_ready(&self, partition: i64) -> bool {
        let Some(queue) = self.queues.get(&partition) else { return false };
        let Some(first) = queue.first() else { return false };
        let waited_ms = self.now_ms - first.since_ms;
        let doubled_ms = self.backoff_ms << first.attempts.saturating_sub(1);
        if first.attempts > 0 && waited_ms < doubled_ms.min(self.longest_backoff_ms) {
            return false;
        }
        let hurried = self.closed || !self.flushes.is_empty();
        hurried || queue.len() > 1 || first.closed || waited_ms >= self.linger_ms
    }

    /// Returns the batches in flight and in the queues, the oldest of a partition first.
    fn batches(&self) -> impl Iterator<Item = &Batch> {
        self.in_flight.values().chain(self.queues.values().flatten())
    }

    /// Calls back the records of a batch, which are told once.
    fn end(&mut self, records: Vec<String>, offset: Option<i64>, error: &str) {
        for (place, record) in records.into_iter().enumerate() {
            let error = if offset.is_none() { Some(error) } else { None };
            self.called_back.push(object([
                ("record", record.clone().into()),
                ("offset", offset.map(|first| first + place as i64).into()),
                ("error", error.into()),
            ]));
            for awaited in self.flushes.values_mut() {
                awaited.remove(&record);
            }
            if let Some((partition, size)) = self.again.remove(&record) {
                self.append(record + "'", partition, size, "");
            }
        }
    }
}
