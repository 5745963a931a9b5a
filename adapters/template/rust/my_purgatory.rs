include!("adapter.rs");

use std::collections::BTreeSet;
use std::mem::take;

const NAME: &str = "my-purgatory";
const COMPONENT: &str = "purgatory";
const PROFILE: &str = "wheelproof";
const ABLE: &[&str] = &["cancel_for_key"];

/// An operation that waits: done once one of its conditions is set, or at `due_ms`.
struct Operation {
    name: String,
    keys: Vec<String>,
    conditions: Vec<String>,
    due_ms: i64,
}

/// Your purgatory, seen from outside; each test case makes a new one.
struct Mine {
    tick_ms: i64,
    now_ms: i64,
    conditions: BTreeSet<String>,
    waiting: Vec<Operation>,
    // Each callback appends the name of its operation when it runs, in that order.
    completed: Vec<String>,
    expired: Vec<String>,
}

impl Mine {
    /// Makes a purgatory whose clock shows `start_ms`; this one keeps nothing that is done.
    fn new(config: &Json) -> Self {
        Mine {
            tick_ms: config.int("tick_ms"),
            now_ms: config.int("start_ms"),
            conditions: BTreeSet::new(),
            waiting: vec![],
            completed: vec![],
            expired: vec![],
        }
    }

    fn perform(&mut self, operation: &str, args: &Json) -> Json {
        match operation {
            // Hand in an operation; tell whether this call completed it.
            "try_complete_else_watch" => {
                let deadline_ms = self.now_ms + args.int("delay_ms");
                let name = args.text("operation");
                self.waiting.push(Operation {
                    name: name.clone(),
                    keys: args.texts("keys"),
                    conditions: args.texts("conditions"),
                    due_ms: deadline_ms.div_euclid(self.tick_ms) * self.tick_ms,
                });
                object([("completed", self.attempt(&name).into())])
            }
            // Make a condition true; the operations notice it when they are tried.
            "set_condition" => {
                self.conditions.insert(args.text("condition"));
                object([])
            }
            // Try the operations of a key; tell how many this call completed.
            "check_and_complete" => {
                let names = self.watching(&args.text("key"));
                let count = names.iter().filter(|name| self.attempt(name)).count();
                object([("count", count.into())])
            }
            // Complete an operation; tell whether this call did it.
            "force_complete" => {
                object([("completed", self.complete(&args.text("operation")).into())])
            }
            // Give up the operations of a key, which are never completed then; tell which.
            "cancel_for_key" => {
                let cancelled = self.watching(&args.text("key"));
                self.waiting.retain(|one| !cancelled.contains(&one.name));
                object([("cancelled", cancelled.into())])
            }
            // Set the clock to `to_ms`; return when all that is due has expired.
            "advance" => {
                self.now_ms = args.int("to_ms");
                let mut due: Vec<(i64, String)> =
                    self.waiting.iter().map(|one| (one.due_ms, one.name.clone())).collect();
                due.sort();
                due.retain(|(due_ms, _)| *due_ms <= self.now_ms);
                for (_, name) in due {
                    self.complete(&name);
                    self.expired.push(name);
                }
                object([])
            }
            // Tell how many watches, time-outs and keys there are.
            "ask_gauges" => {
                let keys: Vec<&String> = self.waiting.iter().flat_map(|one| &one.keys).collect();
                object([
                    ("watched", keys.len().into()),
                    ("num_delayed", self.waiting.len().into()),
                    ("num_keys", keys.into_iter().collect::<BTreeSet<_>>().len().into()),
                ])
            }
            _ => panic!("{operation}"),
        }
    }

    /// Returns the callbacks that have run since the last answer.
    fn happened(&mut self) -> Json {
        object([
            ("on_complete", take(&mut self.completed).into()),
            ("on_expiration", take(&mut self.expired).into()),
        ])
    }

    /// Returns the operations that wait under a key, in the order in which they came.
    fn watching(&self, key: &str) -> Vec<String> {
        let found = self.waiting.iter().filter(|one| one.keys.iter().any(|one| one == key));
        found.map(|one| one.name.clone()).collect()
    }

    /// Completes an operation if it can be completed; tells whether this call did it.
    fn attempt(&mut self, name: &str) -> bool {
        let one = self.waiting.iter().find(|one| one.name == name);
        let may = one.is_some_and(|one| one.conditions.iter().any(|c| self.conditions.contains(c)));
        may && self.complete(name)
    }

    /// Completes an operation, unless it is done; tells whether this call did it.
    fn complete(&mut self, name: &str) -> bool {
        let Some(place) = self.waiting.iter().position(|one| one.name == name) else {
            return false;
        };
        self.waiting.remove(place);
        self.completed.push(name.to_string());
        true
    }
}
