//! Timers in Rust behind the protocol wheelproof.driver/1, each as its crate has it: `ports tokio`,
//! `ports quad-wheel`. Tokio's clock is paused, and only `advance` moves it. `ports thread-timer record`
//! records the timer that has a thread and the machine's clock.

mod record;

use std::collections::HashMap;
use std::future::poll_fn;
use std::io::{BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Poll;
use std::time::Duration;

use hierarchical_hash_wheel_timer::wheels::{Skip, cancellable::QuadWheelWithOverflow};
use hierarchical_hash_wheel_timer::{IdOnlyTimerEntry, TimerError};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};
use tokio_util::time::{DelayQueue, delay_queue::Key};

const WHEEL_VERSION: &str = "1.4.0";

/// What a timer can be asked. What runs is added to `ran`.
trait Timer {
    fn add(&mut self, task: &str, delay_ms: u64);
    fn cancel(&mut self, task: &str) -> bool;
    fn advance(&mut self, by_ms: u64);
    fn size(&self) -> Option<usize>;
    fn ran(&mut self) -> Vec<String>;
}

/// tokio-util's DelayQueue. A key is good for one expiry, so that it is forgotten then.
struct Tokio {
    runtime: Runtime,
    queue: DelayQueue<String>,
    keys: HashMap<String, Key>,
    ran: Vec<String>,
}

impl Tokio {
    fn new() -> Self {
        let runtime = Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let queue = runtime.block_on(async { DelayQueue::new() });
        Tokio { runtime, queue, keys: HashMap::new(), ran: vec![] }
    }
}

impl Timer for Tokio {
    fn add(&mut self, task: &str, delay_ms: u64) {
        let _entered = self.runtime.enter();
        let delay = Duration::from_millis(delay_ms);
        match self.keys.get(task) {
            Some(key) => self.queue.reset(key, delay),
            None => {
                let key = self.queue.insert(task.into(), delay);
                self.keys.insert(task.into(), key);
            }
        }
    }

    fn cancel(&mut self, task: &str) -> bool {
        let _entered = self.runtime.enter();
        self.keys.remove(task).is_some_and(|key| self.queue.try_remove(&key).is_some())
    }

    fn advance(&mut self, by_ms: u64) {
        let Tokio { runtime, queue, keys, ran } = self;
        runtime.block_on(async {
            tokio::time::advance(Duration::from_millis(by_ms)).await;
            poll_fn(|context| {
                while let Poll::Ready(Some(expired)) = queue.poll_expired(context) {
                    keys.remove(expired.get_ref());
                    ran.push(expired.into_inner());
                }
                Poll::Ready(())
            })
            .await
        });
    }

    fn size(&self) -> Option<usize> {
        Some(self.queue.len())
    }

    fn ran(&mut self) -> Vec<String> {
        std::mem::take(&mut self.ran)
    }
}

/// The wheel of hierarchical_hash_wheel_timer, turned as its SimulationTimer turns it.
struct QuadWheel {
    wheel: QuadWheelWithOverflow<IdOnlyTimerEntry<String>>,
    ran: Vec<String>,
}

impl Timer for QuadWheel {
    fn add(&mut self, task: &str, delay_ms: u64) {
        let _ = self.wheel.cancel(&task.to_string());
        let entry = IdOnlyTimerEntry::new(task.to_string(), Duration::from_millis(delay_ms));
        match self.wheel.insert(entry) {
            Ok(()) => (),
            // The delay is 0: the caller runs it.
            Err(TimerError::Expired(entry)) => self.ran.push(entry.id),
            Err(error) => panic!("{error:?}"),
        }
    }

    fn cancel(&mut self, task: &str) -> bool {
        self.wheel.cancel(&task.to_string()).is_ok()
    }

    fn advance(&mut self, mut by_ms: u64) {
        while by_ms > 0 {
            let skipped = match self.wheel.can_skip() {
                Skip::Empty => by_ms.min(u32::MAX as u64),
                Skip::Millis(ms) => by_ms.min(ms as u64),
                Skip::None => 0,
            };
            if skipped > 0 {
                self.wheel.skip(skipped as u32);
            } else {
                self.ran.extend(self.wheel.tick().into_iter().map(|entry| entry.id.clone()));
            }
            by_ms -= skipped.max(1);
        }
    }

    fn size(&self) -> Option<usize> {
        None
    }

    fn ran(&mut self) -> Vec<String> {
        std::mem::take(&mut self.ran)
    }
}

fn main() {
    let port = std::env::args().nth(1).unwrap_or_default();
    if port == "thread-timer" {
        let options: Vec<String> = std::env::args().skip(3).collect();
        return record::record(WHEEL_VERSION, &options);
    }
    let tokio = port == "tokio";
    let make = || -> Box<dyn Timer> {
        if tokio {
            Box::new(Tokio::new())
        } else {
            Box::new(QuadWheel { wheel: QuadWheelWithOverflow::new(), ran: vec![] })
        }
    };
    // Tokio's queue has up to 2 years, from when it was last looked at.
    let (name, version, longest) =
        if tokio { ("tokio-util DelayQueue", "0.7.20", 1u64 << 30) } else { ("hierarchical_hash_wheel_timer", WHEEL_VERSION, 1 << 40) };
    let bounds = json!({"start_ms": {"most": 0}, "tick_ms": {"most": 1}, "delay_ms": {"least": 0, "most": longest}});
    let hello = json!({"impl": name, "version": version, "components": ["timer"], "capabilities": ["virtual_time"],
        "profiles": {"timer": "exact"}, "bounds": {"timer": bounds}});
    let (mut timer, mut now_ms) = (make(), 0);
    for line in std::io::stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let (op, args) = (request["op"].as_str().unwrap(), &request["args"]);
        let task = args["task"].as_str().unwrap_or_default();
        let answer = catch_unwind(AssertUnwindSafe(|| {
            let mut ok = json!({});
            match op {
                "hello" => return hello.clone(),
                "bye" => return ok,
                "reset" => {
                    (timer, now_ms) = (make(), 0);
                    return ok;
                }
                "add" => timer.add(task, args["delay_ms"].as_u64().unwrap()),
                "cancel" => ok["cancelled"] = json!(timer.cancel(task)),
                "advance" => {
                    let to_ms = args["to_ms"].as_u64().unwrap();
                    timer.advance(to_ms - now_ms);
                    now_ms = to_ms;
                }
                _ => {
                    if let Some(size) = timer.size() {
                        ok["size"] = json!(size);
                    }
                }
            }
            ok["fired"] = json!(timer.ran());
            ok
        }));
        let reply = match answer {
            Ok(ok) => json!({"id": request["id"], "ok": ok}),
            Err(_) => json!({"id": request["id"], "error": {"kind": "panic", "message": "it panicked"}}),
        };
        println!("{reply}");
        std::io::stdout().flush().unwrap();
    }
}
