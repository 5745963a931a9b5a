// Asks the search of a built site, in the worker that the browser runs: `node site_search.js SITE QUERY`
// prints the places that it finds, the best first.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const vm = require("node:vm");

const [site, query] = process.argv.slice(2);
const [SETUP, QUERY, RESULT] = [0, 2, 3];
const workers = path.join(site, "assets/javascripts/workers");
const [worker] = fs.readdirSync(workers).filter((name) => /^search\..*\.js$/.test(name));
const { config, docs } = JSON.parse(fs.readFileSync(path.join(site, "search/search_index.json")));
let tell;
const here = {
  URL,
  performance,
  location: { href: "http://site/assets/javascripts/workers/search.js" },
  addEventListener: (_, listener) => { tell = listener; },
  postMessage: ({ type, data }) => {
    if (type === RESULT) console.log(JSON.stringify(data.items.map(([best]) => best.location)));
  },
};
vm.runInNewContext(fs.readFileSync(path.join(workers, worker), "utf8"), Object.assign(here, { self: here }));
(async () => {
  await tell({ data: { type: SETUP, data: { config, docs, options: {} } } });
  await tell({ data: { type: QUERY, data: query } });
})();
