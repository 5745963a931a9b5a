include!("adapter.rs");

const NAME: &str = "my-timer";
const COMPONENT: &str = "timer";
const PROFILE: &str = "kafka";
const ABLE: &[&str] = &[];

/// Your timer, seen from outside; each test case makes a new one.
struct Mine {
    tick_ms: i64,
    now_ms: i64,
    due_ms: BTreeMap<String, i64>,
    ran: Vec<String>, // Each task appends its name when it runs, in that order.
}

impl Mine {
    /// Makes a timer whose clock shows `start_ms`.
    fn new(config: &Json) -> Self {
        let (tick_ms, now_ms) = (config.int("tick_ms"), config.int("start_ms"));
        Mine { tick_ms, now_ms, due_ms: BTreeMap::new(), ran: vec![] }
    }

    fn perform(&mut self, operation: &str, args: &Json) -> Json {
        match operation {
            // Schedule the task in `delay_ms`, and drop an earlier add of the same name.
            "add" => {
                let deadline_ms = self.now_ms + args.int("delay_ms");
                let due_ms = deadline_ms.div_euclid(self.tick_ms) * self.tick_ms;
                self.due_ms.insert(args.text("task"), due_ms);
                object([])
            }
            // Cancel the task; tell whether it was waiting.
            "cancel" => {
                let waited = self.due_ms.remove(&args.text("task")).is_some();
                object([("cancelled", waited.into())])
            }
            // Set the clock to `to_ms`; return when all due tasks have run.
            "advance" => {
                self.now_ms = args.int("to_ms");
                let mut due: Vec<(i64, String)> =
                    self.due_ms.iter().map(|(task, due_ms)| (*due_ms, task.clone())).collect();
                due.sort();
                for (_, task) in due.into_iter().filter(|(due_ms, _)| *due_ms <= self.now_ms) {
                    self.due_ms.remove(&task);
                    self.ran.push(task);
                }
                object([])
            }
            // Tell how many tasks wait; count them here if your timer does not.
            "size" => object([("size", self.due_ms.len().into())]),
            _ => panic!("{operation}"),
        }
    }

    /// Returns the tasks that have run since the last answer.
    fn happened(&mut self) -> Json {
        object([("fired", std::mem::take(&mut self.ran).into())])
    }
}
