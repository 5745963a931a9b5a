import { type Fields } from "./adapter.ts";

/** A record of a log; its batch begins at the offset `base`. */
type LogRecord = { epoch: number; size: number; base: number };
/** What a leader knows of a follower, which asked last for `end`. */
export type Follower = { caughtUpMs?: number; end: number; fetchedMs?: number; leaderEnd: number };
export type Begun = { epoch: number; first: number };

export const sum = (sizes: number[]): number => sizes.reduce((all, size) => all + size, 0);

/** A partition of this broker: its log, and its followers while it leads. */
export class Replica {
  leads = false;
  epoch = -1;
  epochStart = 0;
  highWatermark = 0;
  records: LogRecord[] = [];
  segments = [0]; // The first offset of each.
  epochs: Begun[] = []; // Each with its first offset.
  inSync = new Set<number>();
  followers = new Map<number, Follower>();

  get end(): number {
    return this.records.length;
  }

  /** Return up to where a follower reads, or for none a consumer. */
  endFor(replicaId?: number): number {
    return replicaId === undefined ? this.highWatermark : this.end;
  }

  /** Return where the batch of an offset begins, or the end if it lies there. */
  base(offset: number): number {
    return offset < this.end ? this.records[offset].base : this.end;
  }

  /** Return where the batch behind the batch of an offset begins. */
  after(offset: number): number {
    const base = this.base(offset);
    return this.records.slice(offset).find((one) => one.base > base)?.base ?? this.end;
  }

  /** Return how many bytes lie in front of the batch of an offset. */
  position(offset: number): number {
    return sum(this.records.slice(0, this.base(offset)).map((one) => one.size));
  }

  /** Append a batch, to a new segment if it does not fit; return its first offset. */
  append(sizes: number[], segmentBytes: number): number {
    const first = this.end;
    const used = this.position(first) - this.position(this.segments.at(-1)!);
    if (used > 0 && used + sum(sizes) > segmentBytes) this.segments.push(first);
    this.records.push(...sizes.map((size) => ({ epoch: this.epoch, size, base: first })));
    return first;
  }

  /** Drop the records from an offset on. */
  truncate(offset: number): void {
    this.records.length = offset;
    this.segments = this.segments.filter((first) => first <= offset);
    this.epochs = this.epochs.filter(({ first }) => first < offset);
    this.highWatermark = Math.min(this.highWatermark, offset);
  }

  /** Return the largest epoch up to this one, and where it ends. */
  endOfEpoch(epoch: number): [number, number] {
    const known = this.epochs.filter((one) => one.epoch <= epoch).at(-1);
    const later = this.epochs.find((one) => one.epoch > epoch);
    return [known?.epoch ?? epoch, later?.first ?? this.end];
  }

  /** Return where a log that ends at `offset` in `last` parts from this one. */
  diverging(offset: number, last?: number): Fields | undefined {
    if (last === undefined) return undefined;
    const [leader_epoch, end_offset] = this.endOfEpoch(last);
    return leader_epoch < last || end_offset < offset ? { leader_epoch, end_offset } : undefined;
  }

  /** Return the end of what is read, from one segment, and how many bytes that takes. */
  read(offset: number, end: number, room: number, isFirst: boolean): [number, number] {
    end = Math.min(end, ...this.segments.filter((first) => first > offset));
    if (end <= offset) return [offset, 0];
    const begin = this.position(offset);
    const needed = this.position(this.after(offset)) - begin;
    if (needed > room) room = isFirst ? needed : 0;
    let read = offset;
    while (read < end && this.after(read) <= end) {
      if (this.position(this.after(read)) - begin > room) break;
      read = this.after(read);
    }
    return [read, Math.min(this.position(end) - begin, room)];
  }
}
