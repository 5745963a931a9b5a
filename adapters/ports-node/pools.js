// tarn, the pool of knex, and generic-pool behind the component buffer_pool: a buffer of the case is a
// resource of the pool. Their timers and their clock are those of fake-timers, and microtasks run
// before each answer.
import FakeTimers from "@sinonjs/fake-timers";
import { createPool } from "generic-pool";
import { Pool } from "tarn";

// No timer of Node waits longer.
const LONGEST_MS = 2 ** 31 - 1;
const real = setImmediate;
const settled = () => new Promise((resolve) => real(resolve));
let clock;

// What the two have in common; `acquire` begins a call, and returns its promise.
class ResourcePool {
  constructor({ start_ms }) {
    clock?.uninstall();
    const toFake = ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "Date"];
    clock = FakeTimers.install({ now: start_ms, toFake });
    this.ended = {};
    this.lent = new Map();
  }

  async allocate(args) {
    this.end(args).then((outcome) => (this.ended[args.buffer] = outcome));
    await settled();
    // A time-out of 0 ms ends behind what can go on at once.
    await this.advance({ to_ms: clock.now });
  }

  async deallocate({ buffer }) {
    await this.release(this.lent.get(buffer));
    await settled();
  }

  async advance({ to_ms }) {
    await clock.tickAsync(to_ms - clock.now);
    await settled();
  }

  // Makes the calls of several callers, each in an async function of its own; some may wait on.
  async together(callers, tell) {
    for (const requests of callers) {
      (async () => {
        for (const request of requests) tell(request, await this.call(request));
      })();
    }
    await settled();
    // A time-out of 0 ms ends behind what can go on at once.
    await this.advance({ to_ms: clock.now });
  }

  async call({ op, args }) {
    if (op === "interrupt") this.abort(args.name);
    else if (op === "deallocate") await this.release(this.lent.get(args.buffer));
    else return { ended: { [args.buffer]: await this.end(args) } };
    return { ended: {} };
  }

  // How an allocation ends.
  end({ buffer, max_time_to_block_ms }) {
    return this.acquire(buffer, Math.min(max_time_to_block_ms, LONGEST_MS)).then(
      (resource) => {
        this.lent.set(buffer, resource);
        return "buffer";
      },
      (error) => (error.message === "aborted" ? "interrupted" : "exhausted"),
    );
  }

  told() {
    const { ended } = this;
    this.ended = {};
    return { ended, queued: this.queued() };
  }
}

const size = ({ total_memory, poolable_size }) => Math.trunc(total_memory / poolable_size);
const factory = { create: async () => ({}), destroy: async () => {} };

export class Tarn extends ResourcePool {
  constructor(config) {
    super(config);
    this.acquires = new Map();
    this.pool = new Pool({
      ...factory,
      min: 0,
      max: size(config),
      idleTimeoutMillis: LONGEST_MS,
      reapIntervalMillis: LONGEST_MS,
    });
  }

  acquire(buffer, timeout_ms) {
    // The pool has one time-out for all; it is read when a call begins.
    this.pool.acquireTimeoutMillis = timeout_ms;
    this.acquires.set(buffer, this.pool.acquire());
    return this.acquires.get(buffer).promise;
  }

  release(resource) {
    if (!this.pool.release(resource)) throw new Error("it is not lent");
  }

  abort(name) {
    this.acquires.get(name).abort();
  }

  async interrupt({ name }) {
    this.abort(name);
    await settled();
  }

  queued() {
    return this.pool.numPendingAcquires();
  }
}

export class GenericPool extends ResourcePool {
  constructor(config) {
    super(config);
    this.pool = createPool(factory, { max: size(config) });
  }

  acquire(_, timeout_ms) {
    // Both are for all, and read when a call begins. "delay must be a positive int": who gives no time
    // is one that may not queue.
    this.pool._config.acquireTimeoutMillis = Math.max(timeout_ms, 1);
    this.pool._config.maxWaitingClients = timeout_ms === 0 ? 0 : undefined;
    return this.pool.acquire();
  }

  release(resource) {
    return this.pool.release(resource);
  }

  queued() {
    return this.pool.pending;
  }
}

// The finding in docs/findings/ports.md: who waits first gives up in the moment of the release.
export async function confirm() {
  const tarn = new Tarn({ total_memory: 1, poolable_size: 1, start_ms: 0 });
  for (const buffer of ["owner", "first", "second"]) {
    await tarn.allocate({ buffer, max_time_to_block_ms: 60_000 });
  }
  tarn.pool.release(tarn.lent.get("owner"));
  tarn.acquires.get("first").abort();
  await settled();
  const { ended } = tarn.told();
  const { first, second = "waits" } = ended;
  return { first, second, free: tarn.pool.numFree() };
}
