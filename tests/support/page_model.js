// The model inside docs/step.html, without a browser: `drive PAGE` is a driver, `play PAGE FILE` prints frames.
"use strict";
const fs = require("fs");
const [, , what, page, file] = process.argv;
const [, code] = /<script id="model">([\s\S]*?)<\/script>/.exec(fs.readFileSync(page, "utf8"));
const { MODELS, Refused, WHERE, read, play } = new Function(`${code}; return { MODELS, Refused, WHERE, read, play };`)();

const most = 2 ** 52; // beyond it a number of JavaScript is not exact
const capabilities = ["virtual_time", "interruption", "close", "faults", "exact_time", "any_size", "cancel_for_key"];
const bounds = { timer: { delay_ms: { most }, start_ms: { most } } };
let model = null;
const answers = {
  hello: () => ({ impl: "docs/step.html", version: "1", components: Object.keys(MODELS), capabilities, bounds, profiles: { purgatory: "wheelproof" } }),
  reset: ({ component, config }) => { model = new MODELS[component](config); return {}; },
  bye: () => ({}),
};
const call = ({ op, args = {} }) => {
  const steps = model[op](args);
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
};
const answer = (asked) => {
  try { return { ok: answers[asked.op]?.(asked) ?? call(asked) }; } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return { error: { kind: error.kind, message: error.message } };
  }
};
if (what === "drive") {
  require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const asked = JSON.parse(line);
    console.log(JSON.stringify({ id: asked.id, ...answer(asked) }));
  });
} else if (what === "play") {
  console.log(JSON.stringify(read(fs.readFileSync(file, "utf8")).map((item) => ({ ...item, frames: play(item) }))));
} else {
  console.log(JSON.stringify(WHERE));
}
