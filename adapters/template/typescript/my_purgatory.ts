import { type Fields, serve } from "./adapter.ts";

/** An operation that waits: done once one of its conditions is set, or at `dueMs`. */
type Operation = { keys: string[]; conditions: string[]; dueMs: number };

type Config = { tick_ms: number; wheel_size: number; start_ms: number; purge_interval: number };

/** Your purgatory, seen from outside; each test case makes a new one. */
class Mine {
  tickMs: number;
  nowMs: number;
  conditions = new Set<string>();
  waiting = new Map<string, Operation>();
  // Each callback appends the name of its operation when it runs, in that order.
  completed: string[] = [];
  expired: string[] = [];

  /** Make a purgatory whose clock shows `start_ms`; this one keeps nothing that is done. */
  constructor(config: Config) {
    this.tickMs = config.tick_ms;
    this.nowMs = config.start_ms;
  }

  /** Hand in an operation; tell whether this call completed it. */
  try_complete_else_watch(args: {
    operation: string;
    delay_ms: number;
    keys: string[];
    conditions: string[];
  }): Fields {
    const { operation, delay_ms, keys, conditions } = args;
    const dueMs = Math.floor((this.nowMs + delay_ms) / this.tickMs) * this.tickMs;
    this.waiting.set(operation, { keys, conditions, dueMs });
    return { completed: this.attempt(operation) };
  }

  /** Make a condition true; the operations notice it when they are tried. */
  set_condition({ condition }: { condition: string }): void {
    this.conditions.add(condition);
  }

  /** Try the operations of a key; tell how many this call completed. */
  check_and_complete({ key }: { key: string }): Fields {
    return { count: this.watching(key).filter((name) => this.attempt(name)).length };
  }

  /** Complete an operation; tell whether this call did it. */
  force_complete({ operation }: { operation: string }): Fields {
    return { completed: this.complete(operation) };
  }

  /** Give up the operations of a key, which are never completed then; tell which. */
  cancel_for_key({ key }: { key: string }): Fields {
    const cancelled = this.watching(key);
    for (const name of cancelled) this.waiting.delete(name);
    return { cancelled };
  }

  /** Set the clock to `to_ms`; return when all that is due has expired. */
  advance({ to_ms }: { to_ms: number }): void {
    this.nowMs = to_ms;
    for (const [name, { dueMs }] of [...this.waiting].sort((a, b) => a[1].dueMs - b[1].dueMs)) {
      if (dueMs <= to_ms && this.complete(name)) this.expired.push(name);
    }
  }

  /** Tell how many watches, time-outs and keys there are. */
  ask_gauges(): Fields {
    const keys = [...this.waiting.values()].flatMap((one) => one.keys);
    const num_keys = new Set(keys).size;
    return { watched: keys.length, num_delayed: this.waiting.size, num_keys };
  }

  /** Return the callbacks that have run since the last answer. */
  happened(): Fields {
    return { on_complete: this.completed.splice(0), on_expiration: this.expired.splice(0) };
  }

  /** Return the operations that wait under a key, in the order in which they came. */
  watching(key: string): string[] {
    return [...this.waiting].filter(([, one]) => one.keys.includes(key)).map(([name]) => name);
  }

  /** Complete an operation if it can be completed; tell whether this call did it. */
  attempt(name: string): boolean {
    const may = this.waiting.get(name)?.conditions.some((one) => this.conditions.has(one));
    return may === true && this.complete(name);
  }

  /** Complete an operation, unless it is done; tell whether this call did it. */
  complete(name: string): boolean {
    const waited = this.waiting.delete(name);
    if (waited) this.completed.push(name);
    return waited;
  }
}

const ABLE = ["cancel_for_key"];
serve("my-purgatory", "purgatory", "wheelproof", ABLE, (config: Config) => new Mine(config));
