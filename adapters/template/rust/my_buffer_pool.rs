include!("adapter.rs");

const NAME: &str = "my-pool";
const COMPONENT: &str = "buffer_pool";
const PROFILE: &str = "longest-waiting-first";
const ABLE: &[&str] = &["exact_time", "any_size", "interruption", "close"];

struct Allocation {
    name: String,
    size: i64,
    deadline_ms: i64,
}

/// Your pool, seen from outside; each test case makes a new one.
///
/// This one has no threads. If an allocation of yours blocks, run it on a thread of its own and leave
/// it there; `happened` waits until each thread waits or has ended.
struct Mine {
    total: i64,
    free: i64,
    now_ms: i64,
    closed: bool,
    lent: BTreeMap<String, i64>,
    waiting: Vec<Allocation>,
    ended: BTreeMap<String, &'static str>,
}

impl Mine {
    /// Makes a pool of `total_memory` bytes whose clock shows `start_ms`.
    fn new(config: &Json) -> Self {
        Mine {
            total: config.int("total_memory"),
            free: config.int("total_memory"),
            now_ms: config.int("start_ms"),
            closed: false,
            lent: BTreeMap::new(),
            waiting: vec![],
            ended: BTreeMap::new(),
        }
    }

    fn perform(&mut self, operation: &str, args: &Json) -> Json {
        match operation {
            // Allocate `size` bytes under the name `buffer`.
            "allocate" => {
                let size = args.int("size");
                assert!((0..=self.total).contains(&size), "{size} bytes of {}", self.total);
                let deadline_ms = self.now_ms + args.int("max_time_to_block_ms");
                self.waiting.push(Allocation { name: args.text("buffer"), size, deadline_ms });
            }
            // Give back what the allocation `buffer` got.
            "deallocate" => {
                self.free += self.lent.remove(&args.text("buffer")).expect("it is on loan");
            }
            // Interrupt the thread of an allocation; no effect if that has ended.
            "interrupt" => {
                let name = args.text("name");
                if let Some(place) = self.waiting.iter().position(|one| one.name == name) {
                    self.waiting.remove(place);
                    self.ended.insert(name, "interrupted");
                }
            }
            // Set the clock to `to_ms`; waits whose time is over end.
            "advance" => self.now_ms = args.int("to_ms"),
            // Close the pool; nobody gets memory any more.
            "close" => self.closed = true,
            _ => panic!("{operation}"),
        }
        self.lend();
        object([])
    }

    /// Returns the allocations that have ended since the last answer, and the gauges.
    fn happened(&mut self) -> Json {
        object([
            ("ended", std::mem::take(&mut self.ended).into()),
            ("available_memory", self.free.into()),
            ("queued", self.waiting.len().into()),
        ])
    }

    /// Lends to who has waited longest, as far as there is memory; ends the other waits.
    fn lend(&mut self) {
        let mut left = vec![];
        for one in std::mem::take(&mut self.waiting) {
            let may_have = one.size == 0 || left.is_empty();
            let end = if self.closed {
                "closed"
            } else if may_have && one.size <= self.free {
                self.free -= one.size;
                self.lent.insert(one.name.clone(), one.size);
                "buffer"
            } else if one.deadline_ms <= self.now_ms {
                "exhausted"
            } else {
                left.push(one);
                continue;
            };
            self.ended.insert(one.name, end);
        }
        self.waiting = left;
    }
}
