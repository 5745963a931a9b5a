// An adapter to start from: put calls of your timer into MyTimer, and leave the rest as it is.
//
//     wheelproof conform --driver "node adapter.js"
//
// MyTimer as it stands is a complete timer, so that you begin with a verdict that passes. Times are
// whole milliseconds. Nothing but advance may let time pass: give your timer a clock that shows
// nowMs.
"use strict";

const NAME = "my-timer";
const VERSION = "0.1";

// Your timer, seen from outside; a case begins with a new one.
class MyTimer {
  constructor({ tick_ms, wheel_size, start_ms }) {
    this.ran = []; // Each task appends its name when it runs, in that order.
    this.tickMs = tick_ms;
    this.wheelSize = wheel_size;
    this.nowMs = start_ms;
    this.dueMs = new Map();
  }

  // Let the task run in delayMs; an earlier add of the same name is void.
  add(task, delayMs) {
    const deadline = this.nowMs + delayMs;
    this.dueMs.set(task, Math.floor(deadline / this.tickMs) * this.tickMs);
  }

  // Cancel the task; tell whether it was waiting, or return undefined if your timer does not say.
  cancel(task) {
    return this.dueMs.delete(task);
  }

  // Set the clock to toMs; return when all that is due has run.
  advance(toMs) {
    this.nowMs = toMs;
    const due = [...this.dueMs].filter(([, dueMs]) => dueMs <= toMs).sort((a, b) => a[1] - b[1]);
    for (const [task] of due) {
      this.dueMs.delete(task);
      this.ran.push(task);
    }
  }

  // Return how many tasks wait, or undefined if your timer does not count them.
  size() {
    return this.dueMs.size;
  }
}

// The limits of your timer. A number of JavaScript is exact up to 2^53.
const BOUNDS = { delay_ms: { most: 2 ** 40 } };

let timer = new MyTimer({ tick_ms: 1, wheel_size: 20, start_ms: 0 });

function perform({ op, config, args }) {
  let told = {};
  switch (op) {
    case "hello":
      return {
        impl: NAME,
        version: VERSION,
        components: ["timer"],
        capabilities: ["virtual_time"],
        bounds: { timer: BOUNDS },
      };
    case "reset":
      timer = new MyTimer(config);
      return {};
    case "bye":
      return {};
    case "add":
      timer.add(args.task, args.delay_ms);
      break;
    case "cancel":
      told = { cancelled: timer.cancel(args.task) };
      break;
    case "advance":
      timer.advance(args.to_ms);
      break;
    case "size":
      told = { size: timer.size() };
  }
  return { fired: timer.ran.splice(0), ...told };
}

// Answer each line of standard input (schema wheelproof.driver/1), until bye or its end.
require("node:readline")
  .createInterface({ input: process.stdin })
  .on("line", (line) => {
    const request = JSON.parse(line);
    const reply = { id: request.id };
    try {
      reply.ok = perform(request);
    } catch (error) {
      // A refusal: within what the profile allows, it counts as a failure.
      reply.error = { kind: error.name, message: error.message };
    }
    process.stdout.write(JSON.stringify(reply) + "\n");
    if (request.op === "bye") process.exitCode = 0;
  });
