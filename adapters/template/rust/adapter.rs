// An adapter to start from: put calls of your own into Mine, below, and leave the rest.
//
//     rustc -O --edition 2024 adapter.rs
//     wheelproof conform --driver ./adapter --component COMPONENT
//
// Mine is complete as it is, so your first verdict is a pass. Times are whole milliseconds, and only
// `advance` may let time pass: give your implementation a clock that shows what `advance` has set.
// Leave out of an answer what yours does not tell. What panics is a refusal. If several
// threads may use yours, put "concurrent" into ABLE: then calls of several callers are made at the
// same time. A Mutex is around Mine. If yours has locks of its own, let its methods take `&self`, and
// put an RwLock in place of the Mutex, with `read` for each call: then they run side by side. Rust
// brings no JSON along, so what is needed of it is here.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{BufRead, Write};
use std::iter::Peekable;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::str::Chars;
use std::sync::{Arc, Barrier, Condvar, Mutex};
use std::thread;

/// A value of JSON, as far as requests and answers have them.
#[derive(Clone)]
enum Json {
    Null,
    Bool(bool),
    Int(i64),
    Text(String),
    List(Vec<Json>),
    Object(BTreeMap<String, Json>),
}

#[allow(dead_code)]
impl Json {
    /// Returns a field; what is absent is null.
    fn at(&self, name: &str) -> &Json {
        match self {
            Json::Object(fields) => fields.get(name).unwrap_or(&Json::Null),
            _ => &Json::Null,
        }
    }

    /// Returns a field that is a number, if it is there.
    fn maybe(&self, name: &str) -> Option<i64> {
        if let Json::Int(value) = self.at(name) { Some(*value) } else { None }
    }

    fn int(&self, name: &str) -> i64 {
        self.maybe(name).unwrap()
    }

    /// Returns a field that is a text; what is absent is empty.
    fn text(&self, name: &str) -> String {
        self.at(name).as_text()
    }

    fn as_text(&self) -> String {
        if let Json::Text(value) = self { value.clone() } else { String::new() }
    }

    fn as_int(&self) -> i64 {
        if let Json::Int(value) = self { *value } else { panic!("no number") }
    }

    /// Returns the items of a field that is a list; what is absent is empty.
    fn list(&self, name: &str) -> &[Json] {
        if let Json::List(items) = self.at(name) { items } else { &[] }
    }

    fn texts(&self, name: &str) -> Vec<String> {
        self.list(name).iter().map(Json::as_text).collect()
    }

    fn ints(&self, name: &str) -> Vec<i64> {
        self.list(name).iter().map(Json::as_int).collect()
    }

    /// Returns an object with the fields of both.
    fn and(self, other: Json) -> Json {
        match (self, other) {
            (Json::Object(mut fields), Json::Object(more)) => {
                fields.extend(more);
                Json::Object(fields)
            }
            (one, _) => one,
        }
    }

    fn parse(line: &str) -> Json {
        Self::value(&mut line.chars().peekable())
    }

    fn value(rest: &mut Peekable<Chars>) -> Json {
        match Self::token(rest) {
            '{' => {
                let mut fields = BTreeMap::new();
                let mut separator = Self::token(rest);
                while separator != '}' {
                    if separator == ',' {
                        Self::token(rest);
                    }
                    let name = Self::rest_of_text(rest);
                    Self::token(rest);
                    fields.insert(name, Self::value(rest));
                    separator = Self::token(rest);
                }
                Json::Object(fields)
            }
            '[' => {
                let mut items = vec![];
                while *rest.peek().unwrap() != ']' {
                    items.push(Self::value(rest));
                    if *rest.peek().unwrap() == ',' {
                        rest.next();
                    }
                }
                rest.next();
                Json::List(items)
            }
            '"' => Json::Text(Self::rest_of_text(rest)),
            first => {
                let mut word = first.to_string();
                while let Some(next) = rest.next_if(|one| one.is_alphanumeric()) {
                    word.push(next);
                }
                match word.as_str() {
                    "null" => Json::Null,
                    "true" | "false" => Json::Bool(word == "true"),
                    _ => Json::Int(word.parse().unwrap()),
                }
            }
        }
    }

    fn token(rest: &mut Peekable<Chars>) -> char {
        rest.find(|one| !one.is_whitespace()).unwrap()
    }

    fn rest_of_text(rest: &mut Peekable<Chars>) -> String {
        let mut text = String::new();
        loop {
            match rest.next().unwrap() {
                '"' => return text,
                '\\' => match rest.next().unwrap() {
                    'n' => text.push('\n'),
                    't' => text.push('\t'),
                    'r' => text.push('\r'),
                    'u' => {
                        let digits: String = rest.take(4).collect();
                        let code = u32::from_str_radix(&digits, 16).unwrap();
                        text.push(char::from_u32(code).unwrap_or('?'));
                    }
                    other => text.push(other),
                },
                other => text.push(other),
            }
        }
    }
}

impl fmt::Display for Json {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Json::Null => write!(out, "null"),
            Json::Bool(value) => write!(out, "{value}"),
            Json::Int(value) => write!(out, "{value}"),
            Json::Text(value) => {
                let escaped = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
                write!(out, "\"{escaped}\"")
            }
            Json::List(items) => {
                let items: Vec<String> = items.iter().map(Json::to_string).collect();
                write!(out, "[{}]", items.join(","))
            }
            Json::Object(fields) => {
                let fields: Vec<String> =
                    fields.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
                write!(out, "{{{}}}", fields.join(","))
            }
        }
    }
}

impl From<bool> for Json {
    fn from(value: bool) -> Json {
        Json::Bool(value)
    }
}

impl From<i64> for Json {
    fn from(value: i64) -> Json {
        Json::Int(value)
    }
}

impl From<usize> for Json {
    fn from(value: usize) -> Json {
        Json::Int(value as i64)
    }
}

impl From<&str> for Json {
    fn from(value: &str) -> Json {
        Json::Text(value.to_string())
    }
}

impl From<String> for Json {
    fn from(value: String) -> Json {
        Json::Text(value)
    }
}

impl<T: Into<Json>> From<Option<T>> for Json {
    fn from(value: Option<T>) -> Json {
        value.map_or(Json::Null, T::into)
    }
}

impl<T: Into<Json>> From<Vec<T>> for Json {
    fn from(items: Vec<T>) -> Json {
        Json::List(items.into_iter().map(T::into).collect())
    }
}

impl<T: Into<Json>> From<BTreeMap<String, T>> for Json {
    fn from(fields: BTreeMap<String, T>) -> Json {
        Json::Object(fields.into_iter().map(|(name, value)| (name, value.into())).collect())
    }
}

fn object<const N: usize>(fields: [(&str, Json); N]) -> Json {
    Json::Object(fields.map(|(name, value)| (name.to_string(), value)).into())
}

/// Performs a request; `hello` says what Mine is able to do, and what is not there is not asked.
fn perform(mine: &mut Option<Mine>, request: &Json) -> Json {
    match (request.text("op").as_str(), mine) {
        ("hello", _) => object([
            ("impl", NAME.into()),
            ("version", "0.1".into()),
            ("components", vec![COMPONENT].into()),
            ("capabilities", [&["virtual_time"], ABLE].concat().into()),
            ("profiles", object([(COMPONENT, PROFILE.into())])),
        ]),
        ("reset", mine) => {
            *mine = Some(Mine::new(request.at("config")));
            object([])
        }
        ("bye", _) | (_, None) => object([]),
        (operation, Some(mine)) => mine.perform(operation, request.at("args")),
    }
}

/// Which callers are at work, and what their open calls are.
#[derive(Default)]
struct Callers {
    /// How many of them can go on.
    busy: usize,
    /// An allocation that has not ended, and what its caller asks then.
    open: BTreeMap<String, Vec<Json>>,
}

#[derive(Default)]
struct Server {
    mine: Mutex<Option<Mine>>,
    /// Answers are printed under it.
    callers: Mutex<Callers>,
    rests: Condvar,
}

impl Server {
    /// Makes the call of a request and prints what came of it. `asks` is what its caller asks, this
    /// request first; the answer tells whether the next of it can be asked now.
    fn answer(self: &Arc<Self>, request: &Json, asks: &[Json]) -> bool {
        let (operation, buffer) = (request.text("op"), request.at("args").text("buffer"));
        let waits = !asks.is_empty() && operation == "allocate";
        if waits {
            self.callers.lock().unwrap().open.insert(buffer.clone(), asks.to_vec());
        }
        let called = {
            let mut mine = self.mine.lock().unwrap();
            catch_unwind(AssertUnwindSafe(|| perform(&mut mine, request)))
        };
        let mut callers = self.callers.lock().unwrap();
        let Ok(mut told) = called else {
            // Within the domain, a refusal counts as a failure. The panic is on standard error.
            callers.open.remove(&buffer);
            let error = object([("kind", "panic".into()), ("message", "".into())]);
            tell(request, "error", error);
            return true;
        };
        if operation == "reset" {
            callers.open.clear();
        } else if operation == "hello" || operation == "bye" {
            // Nothing happens.
        } else if let Some(mine) = self.mine.lock().unwrap().as_mut() {
            told = told.and(mine.happened());
            self.end(&mut callers, &mut told);
        }
        if !waits {
            tell(request, "ok", told);
        }
        !waits
    }

    /// Answers the allocations of callers that have ended, which a pool tells; those go on.
    fn end(self: &Arc<Self>, callers: &mut Callers, told: &mut Json) {
        let Json::Object(fields) = told else { return };
        let Some(Json::Object(ended)) = fields.get_mut("ended") else { return };
        ended.retain(|name, outcome| {
            let Some(asks) = callers.open.remove(name) else { return true };
            let end = object([(name.as_str(), outcome.clone())]);
            tell(&asks[0], "ok", object([("ended", end)]));
            callers.busy += 1;
            let server = Arc::clone(self);
            thread::spawn(move || server.work(&asks[1..]));
            false
        });
    }

    /// Makes the calls of one caller, one after the other.
    fn work(self: &Arc<Self>, asks: &[Json]) {
        let goes_on = |(place, one): (usize, &Json)| self.answer(one, &asks[place..]);
        let _ = asks.iter().enumerate().all(goes_on);
        self.callers.lock().unwrap().busy -= 1;
        self.rests.notify_all();
    }

    /// Makes the calls of several callers at the same time, until none of them can go on.
    fn together(self: &Arc<Self>, programs: BTreeMap<String, Vec<Json>>) {
        let start = Arc::new(Barrier::new(programs.len()));
        self.callers.lock().unwrap().busy += programs.len();
        for asks in programs.into_values() {
            let (server, start) = (Arc::clone(self), Arc::clone(&start));
            thread::spawn(move || {
                start.wait();
                server.work(&asks);
            });
        }
        let callers = self.callers.lock().unwrap();
        drop(self.rests.wait_while(callers, |callers| callers.busy > 0).unwrap());
    }
}

fn tell(request: &Json, outcome: &str, told: Json) {
    println!("{}", object([("id", request.int("id").into()), (outcome, told)]));
    std::io::stdout().flush().unwrap();
}

/// Answers each line of standard input (schema wheelproof.driver/1), until `bye` or its end.
fn main() {
    let server = Arc::new(Server::default());
    let mut programs: BTreeMap<String, Vec<Json>> = BTreeMap::new();
    for line in std::io::stdin().lock().lines() {
        let request = Json::parse(&line.unwrap());
        let caller = request.text("caller");
        if !caller.is_empty() {
            programs.entry(caller).or_default().push(request);
            continue;
        }
        // A request without a caller comes behind a burst, and is made when that is over.
        server.together(std::mem::take(&mut programs));
        server.answer(&request, &[]);
        if request.text("op") == "bye" {
            return;
        }
    }
}
