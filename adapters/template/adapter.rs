//! An adapter to start from: put calls of your timer into MyTimer, and leave the rest as it is.
//!
//!     rustc -O adapter.rs && wheelproof conform --driver ./adapter
//!
//! MyTimer as it stands is a complete timer, so that you begin with a verdict that passes. Times are
//! whole milliseconds. Nothing but advance may let time pass: give your timer a clock that shows
//! now_ms. Rust brings no JSON along: what is asked is flat, and `field` reads it.

use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

const NAME: &str = "my-timer";
const VERSION: &str = "0.1";

/// Your timer, seen from outside; a case begins with a new one.
struct MyTimer {
    /// Each task appends its name when it runs, in that order.
    ran: Vec<String>,
    now_ms: i64,
    tick_ms: i64,
    due_ms: HashMap<String, i64>,
}

impl MyTimer {
    fn new(tick_ms: i64, _wheel_size: i64, start_ms: i64) -> Self {
        MyTimer { ran: vec![], now_ms: start_ms, tick_ms, due_ms: HashMap::new() }
    }

    /// Lets the task run in delay_ms; an earlier add of the same name is void.
    fn add(&mut self, task: &str, delay_ms: i64) {
        let due_ms = (self.now_ms + delay_ms).div_euclid(self.tick_ms) * self.tick_ms;
        self.due_ms.insert(task.to_string(), due_ms);
    }

    /// Cancels the task; tells whether it was waiting, or None if your timer does not say.
    fn cancel(&mut self, task: &str) -> Option<bool> {
        Some(self.due_ms.remove(task).is_some())
    }

    /// Sets the clock to to_ms; returns when all that is due has run.
    fn advance(&mut self, to_ms: i64) {
        self.now_ms = to_ms;
        let mut due: Vec<(i64, String)> = self
            .due_ms
            .iter()
            .filter(|(_, due_ms)| **due_ms <= to_ms)
            .map(|(task, due_ms)| (*due_ms, task.clone()))
            .collect();
        due.sort();
        for (_, task) in due {
            self.due_ms.remove(&task);
            self.ran.push(task);
        }
    }

    /// Returns how many tasks wait, or None if your timer does not count them.
    fn size(&self) -> Option<usize> {
        Some(self.due_ms.len())
    }
}

/// Returns a field of a request, a text without its quotes.
fn field<'line>(line: &'line str, name: &str) -> &'line str {
    let key = format!("\"{name}\":");
    let Some(place) = line.find(&key) else { return "" };
    let rest = &line[place + key.len()..];
    match rest.strip_prefix('"') {
        Some(text) => &text[..text.find('"').unwrap()],
        None => &rest[..rest.find([',', '}']).unwrap()],
    }
}

fn perform(timer: &mut MyTimer, line: &str) -> String {
    let number = |name| field(line, name).parse::<i64>().unwrap();
    let task = field(line, "task");
    let mut told = String::new();
    match field(line, "op") {
        "hello" => {
            return format!(
                "\"impl\":\"{NAME}\",\"version\":\"{VERSION}\",\"components\":[\"timer\"],\
                 \"capabilities\":[\"virtual_time\"]"
            );
        }
        "reset" => {
            *timer = MyTimer::new(number("tick_ms"), number("wheel_size"), number("start_ms"));
            return told;
        }
        "bye" => return told,
        "add" => timer.add(task, number("delay_ms")),
        "cancel" => {
            if let Some(cancelled) = timer.cancel(task) {
                told = format!(",\"cancelled\":{cancelled}");
            }
        }
        "advance" => timer.advance(number("to_ms")),
        _ => {
            if let Some(size) = timer.size() {
                told = format!(",\"size\":{size}");
            }
        }
    }
    let ran: Vec<String> = timer.ran.drain(..).map(|task| format!("\"{task}\"")).collect();
    format!("\"fired\":[{}]{told}", ran.join(","))
}

/// Answers each line of standard input (schema wheelproof.driver/1), until bye or its end.
fn main() {
    let mut timer = MyTimer::new(1, 20, 0);
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap();
        // A panic is a refusal: within what the profile allows, it counts as a failure.
        let answer = match catch_unwind(AssertUnwindSafe(|| perform(&mut timer, &line))) {
            Ok(ok) => format!("\"ok\":{{{ok}}}"),
            Err(_) => r#""error":{"kind":"panic","message":"see standard error"}"#.to_string(),
        };
        println!("{{\"id\":{},{answer}}}", field(&line, "id"));
        std::io::stdout().flush().unwrap();
        if field(&line, "op") == "bye" {
            return;
        }
    }
}
