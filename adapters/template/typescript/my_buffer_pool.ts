import { type Fields, serve } from "./adapter.ts";

type Config = { total_memory: number; poolable_size: number; start_ms: number };

/**
 * Your pool, seen from outside; each test case makes a new one. If an allocation of yours waits,
 * `allocate` does not wait for it: it only begins it.
 */
class Mine {
  total: number;
  free: number;
  nowMs: number;
  closed = false;
  lent = new Map<string, number>();
  waiting = new Map<string, { size: number; deadlineMs: number }>();
  ended: Record<string, string> = {};

  /** Make a pool of `total_memory` bytes whose clock shows `start_ms`. */
  constructor(config: Config) {
    this.total = this.free = config.total_memory;
    this.nowMs = config.start_ms;
  }

  /** Allocate `size` bytes under the name `buffer`. */
  allocate(args: { buffer: string; size: number; max_time_to_block_ms: number }): void {
    const { buffer, size, max_time_to_block_ms } = args;
    if (size < 0 || size > this.total) throw new RangeError(`${size} bytes of ${this.total}`);
    this.waiting.set(buffer, { size, deadlineMs: this.nowMs + max_time_to_block_ms });
    this.lend();
  }

  /** Give back what the allocation `buffer` got. */
  deallocate({ buffer }: { buffer: string }): void {
    const size = this.lent.get(buffer);
    if (size === undefined) throw new RangeError(`${buffer} is not on loan`);
    this.lent.delete(buffer);
    this.free += size;
    this.lend();
  }

  /** Interrupt the allocation of this name; no effect if that has ended. */
  interrupt({ name }: { name: string }): void {
    if (this.waiting.delete(name)) this.ended[name] = "interrupted";
    this.lend();
  }

  /** Set the clock to `to_ms`; waits whose time is over end. */
  advance({ to_ms }: { to_ms: number }): void {
    this.nowMs = to_ms;
    this.lend();
  }

  /** Close the pool; nobody gets memory any more. */
  close(): void {
    this.closed = true;
    this.lend();
  }

  /** Return the allocations that have ended since the last answer, and the gauges. */
  happened(): Fields {
    const ended = this.ended;
    this.ended = {};
    return { ended, available_memory: this.free, queued: this.waiting.size };
  }

  /** Lend to who has waited longest, as far as there is memory; end the other waits. */
  lend(): void {
    for (const [name, { size, deadlineMs }] of [...this.waiting]) {
      const mayHave = size === 0 || this.waiting.keys().next().value === name;
      if (this.closed) {
        this.ended[name] = "closed";
      } else if (mayHave && size <= this.free) {
        this.free -= size;
        this.lent.set(name, size);
        this.ended[name] = "buffer";
      } else if (deadlineMs <= this.nowMs) {
        this.ended[name] = "exhausted";
      } else {
        continue;
      }
      this.waiting.delete(name);
    }
  }
}

const ABLE = ["exact_time", "any_size", "interruption", "close"];
const PROFILE = "longest-waiting-first";
serve("my-pool", "buffer_pool", PROFILE, ABLE, (config: Config) => new Mine(config));
