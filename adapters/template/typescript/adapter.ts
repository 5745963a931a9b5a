// An adapter to start from: put calls of your own into Mine, below, and leave the rest.
//
//     wheelproof conform --driver "node adapter.ts" --component COMPONENT
//
// Node 22.18 and newer run it as it is; for an older one, `npx tsc adapter.ts` makes adapter.js.
// Mine is complete as it is, so your first verdict is a pass. Times are whole milliseconds, and only
// `advance` may let time pass: give your implementation a clock that shows what `advance` has set.
// Leave out of an answer what yours does not tell. What throws is a refusal.

import { createInterface } from "node:readline";

export type Fields = Record<string, unknown>;

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

  function perform(op: string, config: Config, args: Fields): Fields {
    if (op === "hello") return hello;
    if (op === "reset") mine = make(config);
    if (op === "reset" || op === "bye" || mine === undefined) return {};
    const told = (mine as unknown as Record<string, (args: Fields) => Fields | void>)[op](args);
    return { ...told, ...mine.happened() };
  }

  createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, op, config, args } = JSON.parse(line);
    let reply: Fields;
    try {
      reply = { id, ok: perform(op, config, args ?? {}) };
    } catch (error) {
      // Within the domain, a refusal counts as a failure.
      const { name, message } = error as Error;
      reply = { id, error: { kind: name, message } };
    }
    process.stdout.write(JSON.stringify(reply) + "\n");
  });
}
