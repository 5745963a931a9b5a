// Timers of npm behind the protocol wheelproof.driver/1, each as its package has it:
// `run fake-timers`, `run timer-wheel`.
import { createInterface } from "node:readline";
import { createRequire } from "node:module";
import FakeTimers from "@sinonjs/fake-timers";
import wheels from "timer-wheel";

const require = createRequire(import.meta.url);

// setTimeout of @sinonjs/fake-timers, the clock of many test suites.
class FakeTimer {
  constructor({ start_ms }) {
    this.clock = FakeTimers.createClock(start_ms);
    this.handles = new Map();
    this.ran = [];
  }

  add({ task, delay_ms }) {
    this.clock.clearTimeout(this.handles.get(task));
    this.handles.set(task, this.clock.setTimeout(() => this.ran.push(task), delay_ms));
    return {};
  }

  cancel({ task }) {
    this.clock.clearTimeout(this.handles.get(task));
    return {};
  }

  advance({ to_ms }) {
    this.clock.tick(to_ms - this.clock.now);
    return {};
  }

  size() {
    return { size: this.clock.countTimers() };
  }
}

// timer-wheel, whose clock is Date.now. "For larger delays, and has a minimum delay of 1000 ms".
class Wheel {
  constructor() {
    Date.now = () => this.nowMs;
    this.nowMs = 0;
    this.wheel = new wheels.ReschedulingTimerWheel();
    this.ran = [];
  }

  add({ task, delay_ms }) {
    this.wheel.schedule(task, delay_ms);
    return {};
  }

  cancel({ task }) {
    return { cancelled: this.wheel.unschedule(task) };
  }

  advance({ to_ms }) {
    this.nowMs = to_ms;
    this.ran.push(...this.wheel.advance());
    return {};
  }

  size() {
    return {};
  }
}

const ports = {
  "fake-timers": {
    make: (config) => new FakeTimer(config),
    name: "@sinonjs/fake-timers",
    profile: "exact",
    // A timeout above 2^31 - 1 is one of 1 ms, as in browsers and Node.
    bounds: { tick_ms: { most: 1 }, delay_ms: { least: 0, most: 2 ** 31 - 1 } },
  },
  "timer-wheel": {
    make: () => new Wheel(),
    name: "timer-wheel",
    profile: "within-a-tick",
    // Its tick is the power of two above a second.
    bounds: {
      tick_ms: { least: 1024, most: 1024 },
      start_ms: { most: 0 },
      delay_ms: { least: 1000, most: 2 ** 22 },
    },
  },
};

const port = ports[process.argv[2]];

function hello() {
  return {
    impl: port.name,
    version: require(`${port.name}/package.json`).version,
    components: ["timer"],
    capabilities: ["virtual_time"],
    profiles: { timer: port.profile },
    bounds: { timer: port.bounds },
  };
}

let timer;

function perform({ op, config, args }) {
  switch (op) {
    case "hello":
      return hello();
    case "reset":
      timer = port.make(config);
      return {};
    case "bye":
      return {};
    default: {
      const told = timer[op](args ?? {});
      return { fired: timer.ran.splice(0), ...told };
    }
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  let reply;
  try {
    reply = { id: request.id, ok: perform(request) };
  } catch (error) {
    reply = { id: request.id, error: { kind: error.name, message: error.message } };
  }
  process.stdout.write(`${JSON.stringify(reply)}\n`);
  if (request.op === "bye") break;
}
