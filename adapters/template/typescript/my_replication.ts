import { type Fields, serve } from "./adapter.ts";
import { type Begun, type Follower, Replica, sum } from "./my_replication_log.ts";

type Answer = Fields & { partition: string; error: string; diverging_epoch?: Fields };
type Place = {
  partition: string;
  fetch_offset: number;
  max_bytes: number;
  current_leader_epoch?: number;
  last_fetched_epoch?: number;
};
type Fetch = {
  request: string;
  replica_id?: number;
  max_wait_ms: number;
  min_bytes: number;
  max_bytes: number;
  partitions: Place[];
};
type Produce = { expiresMs: number; answers: Map<string, Answer>; pending: Map<string, Begun> };
type Election = { partition: string; leader_epoch: number };
type Config = {
  broker_id: number;
  segment_bytes: number;
  min_in_sync_replicas: number;
  replica_lag_time_max_ms: number;
  start_ms: number;
};

/** Your broker, seen from outside; each test case makes a new one. */
class Mine {
  config: Config;
  nowMs: number;
  replicas = new Map<string, Replica>();
  produces = new Map<string, Produce>();
  fetches = new Map<string, { expiresMs: number; fetch: Fetch }>();
  produced: Fields[] = [];
  fetched: Fields[] = [];

  /** Make a broker without partitions, whose clock shows `start_ms`. */
  constructor(config: Config) {
    this.config = config;
    this.nowMs = config.start_ms;
  }

  /** Lead a partition in a new epoch. */
  become_leader(args: Election & { replica_ids: number[]; in_sync_ids: number[] }): void {
    const { partition, leader_epoch, replica_ids, in_sync_ids } = args;
    const me = this.config.broker_id;
    if (!in_sync_ids.includes(me) || !in_sync_ids.every((one) => replica_ids.includes(one))) {
      throw new RangeError("who is in sync is a replica, and the leader is in sync");
    }
    const replica = this.inNewEpoch(partition, leader_epoch);
    const first = replica.end;
    const before = replica.followers;
    replica.leads = true;
    replica.epochStart = first;
    replica.inSync = new Set(in_sync_ids);
    replica.epochs = replica.epochs.filter((one) => one.first < first);
    replica.epochs.push({ epoch: leader_epoch, first });
    replica.followers = new Map();
    for (const one of replica_ids.filter((one) => one !== me)) {
      const caughtUpMs = in_sync_ids.includes(one) ? this.nowMs : undefined;
      const end = before.get(one)?.end ?? -1;
      replica.followers.set(one, { caughtUpMs, end, leaderEnd: 0 });
    }
    this.raiseHighWatermark(replica);
    this.settle();
  }

  /** Follow another broker in a new epoch. */
  become_follower({ partition, leader_epoch }: Election & { leader_id: number }): void {
    const replica = this.inNewEpoch(partition, leader_epoch);
    replica.leads = false;
    replica.followers = new Map();
    replica.inSync = new Set();
    this.settle();
  }

  /** Forget a partition and its log. */
  stop_replica({ partition }: { partition: string }): void {
    this.replicas.delete(partition);
    this.settle();
  }

  /** Drop the records of a followed partition from an offset on. */
  truncate_as_follower({ partition, offset }: { partition: string; offset: number }): void {
    const replica = this.replicas.get(partition);
    if (replica === undefined || replica.leads || offset < 0 || offset > replica.end) {
      throw new RangeError("a log is truncated while it is followed, up to its end");
    }
    replica.truncate(offset);
    this.settle();
  }

  /** Drop followers that have fallen behind from the in-sync sets. */
  maybe_shrink_in_sync(): void {
    for (const replica of this.replicas.values()) {
      const behind = [...replica.followers].filter(
        ([one, follower]) => replica.inSync.has(one) && !this.isCaughtUp(replica, follower),
      );
      for (const [one] of behind) replica.inSync.delete(one);
      if (behind.length > 0) this.raiseHighWatermark(replica);
    }
    this.settle();
  }

  /** Append, and answer as soon as `required_acks` says. */
  append_records(args: {
    request: string;
    required_acks: number;
    timeout_ms: number;
    entries: { partition: string; records: { size: number }[] }[];
  }): void {
    const { request, required_acks, timeout_ms, entries } = args;
    requireOnce(entries);
    if (entries.some(({ records }) => records.length === 0)) throw new RangeError("no records");
    const answers = new Map<string, Answer>();
    const pending = new Map<string, Begun>();
    for (const { partition, records } of entries) {
      const sizes = records.map(({ size }) => size);
      let error = this.refusalOfAppend(partition, required_acks, sum(sizes));
      let first = -1;
      if (error === "NONE") {
        const replica = this.replicas.get(partition)!;
        first = replica.append(sizes, this.config.segment_bytes);
        this.raiseHighWatermark(replica);
        if (required_acks === -1) {
          error = "REQUEST_TIMED_OUT";
          pending.set(partition, { epoch: replica.epoch, first: replica.end });
        }
      }
      answers.set(partition, { partition, error, base_offset: first });
    }
    this.produces.set(request, { expiresMs: this.nowMs + timeout_ms, answers, pending });
    this.settle();
  }

  /** Read, and note where a follower is; answer as soon as there is enough. */
  fetch_messages(fetch: Fetch): void {
    requireOnce(fetch.partitions);
    const [answers, size] = this.read(fetch);
    for (const [place, answer] of answers.entries()) {
      if (!isRefusal(answer)) this.noteFollower(fetch.partitions[place], fetch.replica_id);
    }
    const mustNotWait = fetch.max_wait_ms === 0 || answers.length === 0 || answers.some(isRefusal);
    if (mustNotWait || size >= fetch.min_bytes) {
      this.fetched.push({ request: fetch.request, partitions: answers });
    } else {
      this.fetches.set(fetch.request, { expiresMs: this.nowMs + fetch.max_wait_ms, fetch });
    }
    this.settle();
  }

  /** Tell how many watches and keys are left once what is done has been dropped. */
  purge_completed(): Fields {
    const produces = [...this.produces.values()].flatMap((one) => [...one.answers.keys()]);
    const waiting = [...this.fetches.values()].flatMap((one) => one.fetch.partitions);
    const num_keys = new Set(produces).size + new Set(waiting.map((one) => one.partition)).size;
    return { watched: produces.length + waiting.length, num_keys };
  }

  /** Set the clock to `to_ms`; answer the requests whose time is over. */
  advance({ to_ms }: { to_ms: number }): void {
    this.nowMs = to_ms;
    this.settle(to_ms);
  }

  /** Return the requests that have been answered since the last answer. */
  happened(): Fields {
    const num_delayed = this.produces.size + this.fetches.size;
    return { produced: this.produced.splice(0), fetched: this.fetched.splice(0), num_delayed };
  }

  /** Answer what need not wait longer, or is over at `untilMs`, with what there is. */
  settle(untilMs = -Infinity): void {
    for (const [request, produce] of [...this.produces]) {
      if (this.isReplicated(produce) || produce.expiresMs <= untilMs) {
        this.produces.delete(request);
        this.produced.push({ request, partitions: [...produce.answers.values()] });
      }
    }
    for (const [request, { expiresMs, fetch }] of [...this.fetches]) {
      if (this.hasEnough(fetch) || expiresMs <= untilMs) {
        this.fetches.delete(request);
        this.fetched.push({ request, partitions: this.read(fetch)[0] });
      }
    }
  }

  /** Note what has become of the partitions of a produce; tell whether all have an end. */
  isReplicated({ answers, pending }: Produce): boolean {
    for (const [name, { epoch, first }] of [...pending]) {
      const error = this.outcome(this.replicas.get(name), epoch, first);
      if (error !== undefined) {
        pending.delete(name);
        answers.get(name)!.error = error;
      }
    }
    return pending.size === 0;
  }

  /** Return the outcome of an append of an epoch, up to `end`; undefined while it is open. */
  outcome(replica: Replica | undefined, epoch: number, end: number): string | undefined {
    if (replica === undefined) return "UNKNOWN_TOPIC_OR_PARTITION";
    const [there, epochEnd] = replica.endOfEpoch(epoch);
    if (!replica.leads || there !== epoch || epochEnd < end) return "NOT_LEADER_OR_FOLLOWER";
    if (replica.highWatermark < end) return undefined;
    return this.hasEnoughInSync(replica) ? "NONE" : "NOT_ENOUGH_REPLICAS_AFTER_APPEND";
  }

  /** Tell whether a fetch has enough bytes, or need not wait for another reason. */
  hasEnough({ replica_id, partitions, min_bytes }: Fetch): boolean {
    let size = 0;
    for (const one of partitions) {
      if (isRefusal(this.look(one, replica_id))) return true;
      const replica = this.replicas.get(one.partition)!;
      const [end, base] = [replica.endFor(replica_id), replica.base(one.fetch_offset)];
      const isOlder = replica.segments.some((first) => base < first && first <= end);
      // It begins beyond the end, or on an older segment.
      if (one.fetch_offset !== end && (base > end || isOlder)) return true;
      const bytes = replica.position(end) - replica.position(one.fetch_offset);
      size += Math.min(Math.max(bytes, 0), one.max_bytes);
    }
    return size >= min_bytes;
  }

  /** Return the answers of a fetch, and how many bytes they take. */
  read({ replica_id, max_bytes, partitions }: Fetch): [Answer[], number] {
    let size = 0;
    const answers = partitions.map((one) => {
      const answer = this.look(one, replica_id);
      if (isRefusal(answer)) return answer;
      const replica = this.replicas.get(one.partition)!;
      const offset = one.fetch_offset;
      const room = Math.min(one.max_bytes, Math.max(max_bytes - size, 0));
      const [last, read] = replica.read(offset, replica.endFor(replica_id), room, size === 0);
      size += read;
      const found = replica.records.slice(offset, last);
      const records = found.map(({ epoch, size }, place) => {
        return { offset: offset + place, leader_epoch: epoch, size };
      });
      return { ...answer, records };
    });
    return [answers, size];
  }

  /** Return the answer for one partition, but for its records. */
  look(one: Place, replicaId?: number): Answer {
    const { partition, fetch_offset, last_fetched_epoch } = one;
    const replica = this.replicas.get(partition);
    const error = refusalOfFetch(one, replica, replicaId);
    if (replica === undefined || error !== "NONE") return { partition, error };
    const diverging_epoch = replica.diverging(fetch_offset, last_fetched_epoch);
    if (diverging_epoch === undefined && fetch_offset > replica.end) {
      return { partition, error: "OFFSET_OUT_OF_RANGE" };
    }
    return { partition, error, high_watermark: replica.highWatermark, diverging_epoch };
  }

  /** Note how far a follower has come; it may be in sync again. */
  noteFollower({ partition, fetch_offset }: Place, replicaId?: number): void {
    if (replicaId === undefined) return;
    const replica = this.replicas.get(partition)!;
    const follower = replica.followers.get(replicaId)!;
    const [before, known, end] = [follower.end, replica.inSync.size, replica.end];
    follower.end = replica.base(fetch_offset);
    if (follower.end >= end) {
      follower.caughtUpMs = this.nowMs;
    } else if (follower.fetchedMs !== undefined && follower.end >= follower.leaderEnd) {
      follower.caughtUpMs = Math.max(follower.fetchedMs, follower.caughtUpMs ?? -Infinity);
    }
    follower.fetchedMs = this.nowMs;
    follower.leaderEnd = Math.max(follower.leaderEnd, end);
    const joins = follower.end >= Math.max(replica.highWatermark, replica.epochStart);
    if (joins) replica.inSync.add(replicaId);
    if (follower.end !== before || replica.inSync.size !== known) this.raiseHighWatermark(replica);
  }

  /** Raise it to the least end of the replicas that are in sync, or are caught up. */
  raiseHighWatermark(replica: Replica): void {
    if (!this.hasEnoughInSync(replica)) return;
    const counted = [...replica.followers].filter(
      ([one, follower]) => replica.inSync.has(one) || this.isCaughtUp(replica, follower),
    );
    const least = Math.min(replica.end, ...counted.map(([, follower]) => follower.end));
    replica.highWatermark = Math.max(replica.highWatermark, least);
  }

  /** Return the replica of a partition, in an epoch that has to be new. */
  inNewEpoch(partition: string, epoch: number): Replica {
    const replica = this.replicas.get(partition) ?? new Replica();
    if (epoch <= replica.epoch) throw new RangeError(`the epoch is ${replica.epoch} already`);
    this.replicas.set(partition, replica);
    replica.epoch = epoch;
    return replica;
  }

  /** Tell whether a follower has everything, or had a short time ago. */
  isCaughtUp(replica: Replica, { end, caughtUpMs }: Follower): boolean {
    const sinceMs = caughtUpMs ?? -Infinity;
    return end === replica.end || this.nowMs - sinceMs <= this.config.replica_lag_time_max_ms;
  }

  /** Tell whether as many replicas are in sync as have to be. */
  hasEnoughInSync({ inSync, followers }: Replica): boolean {
    return inSync.size >= Math.min(this.config.min_in_sync_replicas, 1 + followers.size);
  }

  /** Return why an append is refused; NONE if it is not. */
  refusalOfAppend(partition: string, acks: number, size: number): string {
    const replica = this.replicas.get(partition);
    if (![-1, 0, 1].includes(acks)) return "INVALID_REQUIRED_ACKS";
    if (replica === undefined) return "UNKNOWN_TOPIC_OR_PARTITION";
    if (!replica.leads) return "NOT_LEADER_OR_FOLLOWER";
    if (acks === -1 && !this.hasEnoughInSync(replica)) return "NOT_ENOUGH_REPLICAS";
    return size > this.config.segment_bytes ? "RECORD_LIST_TOO_LARGE" : "NONE";
  }
}

/** Throw if a request names a partition twice. */
function requireOnce(named: { partition: string }[]): void {
  const names = new Set(named.map((one) => one.partition));
  if (names.size < named.length) throw new RangeError("a partition is named twice");
}

/** Tell whether the answer for a partition says that it cannot be read there. */
function isRefusal({ error, diverging_epoch }: Answer): boolean {
  return error !== "NONE" || diverging_epoch !== undefined;
}

/** Return why a fetch is refused, whether its offset is in the log or not; NONE if it is not. */
function refusalOfFetch(one: Place, replica?: Replica, replicaId?: number): string {
  const { current_leader_epoch: epoch, last_fetched_epoch: last, fetch_offset } = one;
  if (replica === undefined) return "UNKNOWN_TOPIC_OR_PARTITION";
  if (epoch !== undefined && epoch < replica.epoch) return "FENCED_LEADER_EPOCH";
  if (epoch !== undefined && epoch > replica.epoch) return "UNKNOWN_LEADER_EPOCH";
  if (!replica.leads) return "NOT_LEADER_OR_FOLLOWER";
  if (replicaId !== undefined && !replica.followers.has(replicaId)) {
    return epoch === undefined ? "NOT_LEADER_OR_FOLLOWER" : "UNKNOWN_LEADER_EPOCH";
  }
  const knows = last === undefined || replica.epochs.some((begun) => begun.epoch >= last);
  return knows && fetch_offset >= 0 ? "NONE" : "OFFSET_OUT_OF_RANGE";
}

serve("my-broker", "replication", "wheelproof", [], (config: Config) => new Mine(config));
