// An adapter to start from: put calls of your own into Mine, below, and leave the rest.
//
//     wheelproof conform --driver "node adapter.ts" --component COMPONENT
//
// Node 22.18 and newer run it as it is; for an older one, `npx tsc adapter.ts` makes adapter.js.
// Mine is complete as it is, so your first verdict is a pass. Times are whole milliseconds, and only
// `advance` may let time pass: give your implementation a clock that shows what `advance` has set.
// Leave out of an answer what yours does not tell. What throws is a refusal. If several
// callers may use yours, put "concurrent" into what it is able to do: then calls of several callers
// meet where a method of yours awaits.

import { createInterface } from "node:readline";

export type Fields = Record<string, unknown>;

type Request<Config> = { id: number; op: string; caller?: string; config: Config; args?: Fields };

/** What tells what has happened since it was last asked, and has a method for each request. */
export interface Happens {
  happened(): Fields;
}

/**
 * Answer each line of standard input (schema wheelproof.driver/1), until `bye` or its end. `able` has
 * the capabilities: what is not there is not asked. A number is exact up to 2^53, hence the bounds.
 */
export function serve<Config>(
  name: string,
  component: string,
  profile: string,
  able: string[],
  make: (config: Config) => Happens,
): void {
  const hello = {
    impl: name,
    version: "0.1",
    components: [component],
    capabilities: ["virtual_time", ...able],
    profiles: { [component]: profile },
    ...(component === "timer" && { bounds: { timer: { delay_ms: { most: 2 ** 40 } } } }),
  };
  let mine: Happens | undefined;
  // An allocation that has not ended, and what its caller asks then.
  const open = new Map<unknown, Request<Config>[]>();
  const busy = new Set<Promise<void>>();

  async function perform({ op, config, args }: Request<Config>): Promise<Fields> {
    if (op === "hello") return hello;
    if (op === "reset") {
      mine = make(config);
      open.clear();
    }
    if (op === "reset" || op === "bye" || mine === undefined) return {};
    type Method = (args: Fields) => Fields | void | Promise<Fields | void>;
    const told = await (mine as unknown as Record<string, Method>)[op](args ?? {});
    return { ...told, ...mine.happened() };
  }

  /**
   * Make the call of a request, and print what came of it. `asks` is what its caller asks, this
   * request first. Tell whether the next of it can be asked now.
   */
  async function answer(request: Request<Config>, asks: Request<Config>[]): Promise<boolean> {
    const waits = asks.length > 0 && request.op === "allocate";
    const buffer = request.args?.buffer;
    if (waits) open.set(buffer, asks);
    try {
      const told = await perform(request);
      end((told.ended ?? {}) as Fields);
      if (!waits) tell(request, { ok: told });
      return !waits;
    } catch (error) {
      // Within the domain, a refusal counts as a failure.
      const { name, message } = error as Error;
      open.delete(buffer);
      tell(request, { error: { kind: name, message } });
      return true;
    }
  }

  /** Answer the allocations of callers that have ended, which a pool tells; those callers go on. */
  function end(ended: Fields): void {
    for (const name of Object.keys(ended)) {
      const asks = open.get(name);
      if (asks === undefined) continue;
      open.delete(name);
      tell(asks[0], { ok: { ended: { [name]: ended[name] } } });
      delete ended[name];
      begin(asks.slice(1));
    }
  }

  /** Begin the calls of one caller; they are made one after the other. */
  function begin(asks: Request<Config>[]): void {
    const work = async () => {
      for (const [place, request] of asks.entries()) {
        if (!(await answer(request, asks.slice(place)))) return;
      }
    };
    const begun: Promise<void> = work().finally(() => busy.delete(begun));
    busy.add(begun);
  }

  function tell({ id }: Request<Config>, told: Fields): void {
    process.stdout.write(JSON.stringify({ id, ...told }) + "\n");
  }

  async function read(): Promise<void> {
    const callers = new Map<string, Request<Config>[]>();
    for await (const line of createInterface({ input: process.stdin })) {
      const request: Request<Config> = JSON.parse(line);
      if (request.caller !== undefined) {
        callers.set(request.caller, [...(callers.get(request.caller) ?? []), request]);
        continue;
      }
      // A request without a caller comes behind a burst, and is made when that is over.
      for (const asks of callers.values()) begin(asks);
      callers.clear();
      while (busy.size > 0) await Promise.all(busy);
      await answer(request, []);
    }
  }

  void read();
}
