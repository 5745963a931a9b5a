//! Records hierarchical_hash_wheel_timer's thread timer as it is, on the machine's clock: threads add and
//! cancel, and its own thread runs. Histories are of schema wheelproof.history/1.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use hierarchical_hash_wheel_timer::thread_timer::TimerWithThread;
use hierarchical_hash_wheel_timer::{ClosureTimer, OneShotClosureState, PeriodicClosureState, Timer};
use serde_json::{Value, json};

/// Threads wait for a processor too.
const LATENESS_MS: u64 = 1_000;

type Thread = TimerWithThread<u64, OneShotClosureState<u64>, PeriodicClosureState<u64>>;

/// A linear congruential generator: the same choices for a seed on each machine.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % most
    }

    fn delay_ms(&mut self) -> u64 {
        match self.below(100) {
            0..5 => 0,
            5..55 => 1 + self.below(19),
            55..90 => 20 + self.below(180),
            _ => 200 + self.below(400),
        }
    }
}

/// What all threads of a history note; the lock gives the order.
struct Notes {
    history: String,
    started: Instant,
    lines: Mutex<Vec<Value>>,
}

impl Notes {
    fn note(&self, process: &str, kind: &str, call: &str, value: Value) {
        let mut lines = self.lines.lock().unwrap();
        let ns = self.started.elapsed().as_nanos() as u64;
        let index = lines.len();
        lines.push(json!({"kind": "op", "history": self.history, "index": index, "process": process,
            "time_ns": ns, "type": kind, "f": call, "value": value}));
    }
}

fn call(notes: &Arc<Notes>, timer: &Thread, number: u64, calls: u64, mut chance: Chance) {
    let (mut timer, process) = (timer.timer_ref(), format!("c{number}"));
    for one in 0..calls {
        // Every fourth call cancels a task of this thread, which may have run.
        if one > 0 && chance.below(4) == 0 {
            let old = number * calls + chance.below(one);
            notes.note(&process, "invoke", "cancel", json!({"task": format!("t{old}")}));
            // It sends a message, and tells nothing.
            let _ = timer.cancel(&old);
            notes.note(&process, "ok", "cancel", json!({}));
            continue;
        }
        let (id, delay_ms, noting) = (number * calls + one, chance.delay_ms(), notes.clone());
        let task = format!("t{id}");
        notes.note(&process, "invoke", "add", json!({"task": task, "delay_ms": delay_ms}));
        timer.schedule_action_once(id, Duration::from_millis(delay_ms), move |_| {
            noting.note(&format!("run {task}"), "invoke", "run", json!({"task": task}));
        });
        notes.note(&process, "ok", "add", json!({}));
        if chance.below(8) == 0 {
            thread::sleep(Duration::from_micros(chance.below(2_000)));
        }
    }
}

/// Writes the histories that the options ask for.
pub fn record(version: &str, options: &[String]) {
    let given: HashMap<&str, &str> = options.chunks(2).map(|two| (two[0].as_str(), two[1].as_str())).collect();
    let number = |name: &str, usual: u64| given.get(name).map_or(usual, |one| one.parse().expect(name));
    let (threads, operations) = (number("--threads", 8), number("--operations", 10_000));
    let mut file = BufWriter::new(File::create(given["--output"]).expect("the output"));
    for history in 0..number("--histories", 1) {
        let timer = Thread::new().expect("a thread");
        let notes = Arc::new(Notes {
            history: format!("h{history}"),
            started: Instant::now(),
            lines: Mutex::default(),
        });
        thread::scope(|scope| {
            for caller in 0..threads {
                let chance = Chance((number("--seed", 1) * 31 + history) * 1_000_003 + caller);
                let (notes, timer) = (&notes, &timer);
                scope.spawn(move || call(notes, timer, caller, operations / threads, chance));
            }
        });
        // The longest delay and the declared lateness: what has not run by then was cancelled or is lost.
        thread::sleep(Duration::from_millis(600 + 2 * LATENESS_MS));
        timer.shutdown().expect("the thread ends");
        let lines = notes.lines.lock().unwrap();
        let header = json!({"schema": "wheelproof.history/1", "kind": "header", "history": notes.history,
            "component": "timer", "clock": "monotonic_ns", "clock_resolution_ns": 1_000, "profile": "exact",
            "impl": {"name": "hierarchical_hash_wheel_timer TimerWithThread", "version": version},
            "config": {"tick_ms": 1, "wheel_size": 20, "runs": "later", "lateness_ms": LATENESS_MS}});
        writeln!(file, "{header}").unwrap();
        for line in lines.iter() {
            writeln!(file, "{line}").unwrap();
        }
        let end = json!({"kind": "end", "history": notes.history, "ops": lines.len(), "quiet": true});
        writeln!(file, "{end}").unwrap();
    }
    file.flush().unwrap();
}
