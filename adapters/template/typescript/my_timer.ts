import { type Fields, serve } from "./adapter.ts";

type Config = { tick_ms: number; wheel_size: number; start_ms: number };

/** Your timer, seen from outside; each test case makes a new one. */
class Mine {
  ran: string[] = []; // Each task appends its name when it runs, in that order.
  tickMs: number;
  nowMs: number;
  dueMs = new Map<string, number>();

  /** Make a timer whose clock shows `start_ms`. */
  constructor(config: Config) {
    this.tickMs = config.tick_ms;
    this.nowMs = config.start_ms;
  }

  /** Schedule the task in `delay_ms`, and drop an earlier add of the same name. */
  add({ task, delay_ms }: { task: string; delay_ms: number }): void {
    this.dueMs.set(task, Math.floor((this.nowMs + delay_ms) / this.tickMs) * this.tickMs);
  }

  /** Cancel the task; tell whether it was waiting. */
  cancel({ task }: { task: string }): Fields {
    return { cancelled: this.dueMs.delete(task) };
  }

  /** Set the clock to `to_ms`; return when all due tasks have run. */
  advance({ to_ms }: { to_ms: number }): void {
    this.nowMs = to_ms;
    for (const [task, dueMs] of [...this.dueMs].sort((a, b) => a[1] - b[1])) {
      if (dueMs <= to_ms) {
        this.dueMs.delete(task);
        this.ran.push(task);
      }
    }
  }

  /** Tell how many tasks wait; count them here if your timer does not. */
  size(): Fields {
    return { size: this.dueMs.size };
  }

  /** Return the tasks that have run since the last answer. */
  happened(): Fields {
    return { fired: this.ran.splice(0) };
  }
}

serve("my-timer", "timer", "kafka", [], (config: Config) => new Mine(config));
