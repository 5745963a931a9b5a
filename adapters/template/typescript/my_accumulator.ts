import { type Fields, serve } from "./adapter.ts";

/** Records that are sent together; it was made, or put back, at `sinceMs`. */
class Batch {
  partition: number;
  sinceMs: number;
  records: string[] = [];
  size = 0;
  attempts = 0;
  isOpen = true;

  constructor(partition: number, sinceMs: number) {
    this.partition = partition;
    this.sinceMs = sinceMs;
  }
}

type Config = {
  batch_size: number;
  linger_ms: number;
  retry_backoff_ms: number;
  retry_backoff_max_ms: number;
  start_ms: number;
};

type Append = { record: string; partition: number; size: number; callback?: string };

/**
 * Your accumulator, seen from outside; each test case makes a new one. If an append or a flush of
 * yours waits, the method does not wait for it: it only begins it.
 */
class Mine {
  config: Config;
  nowMs: number;
  closed = false;
  queues = new Map<number, Batch[]>();
  inFlight = new Map<string, Batch>();
  drained = 0;
  again = new Map<string, Append>(); // The records whose callback sends once more.
  flushes = new Map<string, Set<string>>(); // The records that each flush waits for.
  calledBack: Fields[] = [];
  appended: Fields[] = [];
  refused: Record<string, string> = {};

  /** Make an accumulator whose clock shows `start_ms`. */
  constructor(config: Config) {
    this.config = config;
    this.nowMs = config.start_ms;
  }

  /** Append a record; a `callback` that raises keeps nobody else from being told. */
  append(args: Append): void {
    const { record, partition, size, callback } = args;
    if (this.closed) {
      this.refused[record] = "closed";
      return;
    }
    const queue = this.queues.get(partition) ?? [];
    this.queues.set(partition, queue);
    let last = queue.at(-1);
    if (last !== undefined && last.size + size > this.config.batch_size) last.isOpen = false;
    const isNew = last === undefined || !last.isOpen;
    if (last === undefined || !last.isOpen) {
      last = new Batch(partition, this.nowMs);
      queue.push(last);
    }
    last.records.push(record);
    last.size += size;
    last.isOpen = last.size < this.config.batch_size;
    if (callback === "sends_again") this.again.set(record, { record: record + "'", partition, size });
    const isFull = queue.length > 1 || !last.isOpen;
    this.appended.push({ record, batch_is_full: isFull, new_batch_created: isNew });
  }

  /** Take the first batch of each partition that can be sent; mute these partitions. */
  drain({ partitions }: { node: number; partitions: number[]; max_size: number }): Fields {
    const muted = new Set([...this.inFlight.values()].map((batch) => batch.partition));
    const batches: Fields[] = [];
    for (const partition of partitions) {
      const queue = this.queues.get(partition) ?? [];
      if (muted.has(partition) || !this.isReady(queue)) continue;
      const batch = queue.shift()!;
      const name = `b${++this.drained}`;
      batch.isOpen = false;
      this.inFlight.set(name, batch);
      batches.push({ batch: name, partition, records: batch.records });
    }
    return { batches };
  }

  /** End a batch: it is stored from `offset` on, or it failed; unmute its partition. */
  respond({ batch, offset }: { batch: string; offset?: number }): void {
    this.end(this.land(batch), offset, "Failed");
  }

  /** Put a batch back for another attempt; unmute its partition. */
  reenqueue({ batch }: { batch: string }): void {
    const again = this.land(batch);
    again.attempts++;
    again.sinceMs = this.nowMs;
    this.queues.get(again.partition)!.unshift(again);
  }

  /** Begin to wait for all records that have not been called back. */
  flush({ flush }: { flush: string }): void {
    this.flushes.set(flush, new Set(this.allBatches().flatMap((batch) => batch.records)));
  }

  /** Set the clock to `to_ms`. */
  advance({ to_ms }: { to_ms: number }): void {
    this.nowMs = to_ms;
  }

  /** Close; nothing is accepted any more. */
  close(): void {
    this.closed = true;
  }

  /** End all batches; those in flight are still responded to. */
  abort(): void {
    const batches = this.allBatches();
    this.queues.clear();
    for (const batch of batches) this.end(batch, undefined, "Aborted");
  }

  /** Return what has happened since the last answer. */
  happened(): Fields {
    const done = [...this.flushes].filter(([, awaited]) => awaited.size === 0);
    for (const [name] of done) this.flushes.delete(name);
    const refused = this.refused;
    this.refused = {};
    return {
      called_back: this.calledBack.splice(0),
      appended: this.appended.splice(0),
      refused,
      flushed: Object.fromEntries(done.map(([name]) => [name, false])), // None was interrupted.
      flush_in_progress: this.flushes.size > 0,
      has_undrained: [...this.queues.values()].some((queue) => queue.length > 0),
      has_incomplete: this.allBatches().some((batch) => batch.records.length > 0),
    };
  }

  /** Tell whether the first batch can be sent: neither backing off nor lingering. */
  isReady(queue: Batch[]): boolean {
    const [first] = queue;
    if (first === undefined) return false;
    const waitedMs = this.nowMs - first.sinceMs;
    const { linger_ms, retry_backoff_ms, retry_backoff_max_ms } = this.config;
    const doubledMs = retry_backoff_ms * 2 ** (first.attempts - 1);
    if (first.attempts > 0 && waitedMs < Math.min(doubledMs, retry_backoff_max_ms)) return false;
    const hurried = this.closed || this.flushes.size > 0;
    return hurried || queue.length > 1 || !first.isOpen || waitedMs >= linger_ms;
  }

  /** Return the batches in flight and in the queues, the oldest of a partition first. */
  allBatches(): Batch[] {
    return [...this.inFlight.values(), ...[...this.queues.values()].flat()];
  }

  /** Take a batch out of those in flight. */
  land(name: string): Batch {
    const batch = this.inFlight.get(name);
    if (batch === undefined) throw new RangeError(`${name} is not in flight`);
    this.inFlight.delete(name);
    return batch;
  }

  /** Call back the records of a batch, which are told once. */
  end(batch: Batch, offset: number | undefined, error: string): void {
    for (const [place, record] of batch.records.splice(0).entries()) {
      const isStored = offset !== undefined;
      const told = { offset: isStored ? offset + place : null, error: isStored ? null : error };
      this.calledBack.push({ record, ...told });
      for (const awaited of this.flushes.values()) awaited.delete(record);
      const again = this.again.get(record);
      if (again !== undefined) this.append(again);
    }
  }
}

const ABLE = ["exact_time", "close", "flush", "reenqueue", "many_batches"];
serve("my-accumulator", "accumulator", "wheelproof", ABLE, (config: Config) => new Mine(config));
