// Timers and pools of npm behind the protocol wheelproof.driver/1, each as its package has it:
// `run fake-timers`, `run timer-wheel`, `run tarn`, `run generic-pool`. `run confirm-tarn` repeats a
// finding. Of a pool `run tarn concurrent` also makes calls that overlap.
import { createInterface } from "node:readline";
import { createRequire } from "node:module";
import FakeTimers from "@sinonjs/fake-timers";
import wheels from "timer-wheel";
import { GenericPool, Tarn, confirm } from "./pools.js";

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

  told() {
    return { fired: this.ran.splice(0) };
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

  told() {
    return { fired: this.ran.splice(0) };
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
  tarn: {
    make: (config) => new Tarn(config),
    name: "tarn",
    component: "buffer_pool",
    capabilities: ["interruption", "exact_time"],
    profile: "longest-waiting-first",
  },
  "generic-pool": {
    make: (config) => new GenericPool(config),
    name: "generic-pool",
    component: "buffer_pool",
    capabilities: ["exact_time"],
    profile: "longest-waiting-first",
  },
};

if (process.argv[2] === "confirm-tarn") {
  process.stdout.write(`${JSON.stringify(await confirm())}\n`);
  process.exit(0);
}

const port = ports[process.argv[2]];

function hello() {
  const component = port.component ?? "timer";
  return {
    impl: port.name,
    version: require(`${port.name}/package.json`).version,
    components: [component],
    capabilities: ["virtual_time", ...(port.capabilities ?? []), ...process.argv.slice(3)],
    profiles: { [component]: port.profile },
    bounds: port.bounds ? { [component]: port.bounds } : {},
  };
}

let made;

async function perform({ op, config, args }) {
  switch (op) {
    case "hello":
      return hello();
    case "reset":
      made = port.make(config);
      return {};
    case "bye":
      return {};
    default: {
      const told = await made[op](args ?? {});
      return { ...made.told(), ...told };
    }
  }
}

const tell = ({ id }, ok) => process.stdout.write(`${JSON.stringify({ id, ok })}\n`);
const callers = new Map();

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  if (request.caller !== undefined) {
    callers.set(request.caller, [...(callers.get(request.caller) ?? []), request]);
    continue;
  }
  if (callers.size > 0) {
    await made.together([...callers.values()], tell);
    callers.clear();
  }
  let reply;
  try {
    reply = { id: request.id, ok: await perform(request) };
  } catch (error) {
    reply = { id: request.id, error: { kind: error.name, message: error.message } };
  }
  process.stdout.write(`${JSON.stringify(reply)}\n`);
  if (request.op === "bye") break;
}
