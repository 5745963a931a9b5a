// For tarn: an acquire that is aborted in the moment in which its resource comes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { Pool } from "tarn";

// One resource is lent, and two acquires wait for it. Returns what became of the second.
const secondOf = async (giveBack) => {
  const pool = new Pool({ create: async () => ({}), destroy: () => {}, min: 0, max: 1 });
  const lent = await pool.acquire().promise;
  const [first, second] = [pool.acquire(), pool.acquire()];
  first.promise.catch(() => {});
  let got = "it waits";
  const ended = second.promise.then(
    (resource) => {
      got = "it got the resource";
      pool.release(resource);
    },
    () => {},
  );
  await turn();
  await giveBack(pool, lent, first);
  for (let turns = 0; turns < 10; turns += 1) await turn();
  const told = got;
  second.abort();
  await ended;
  await pool.destroy();
  return told;
};

test("the next acquire gets the resource of one that is aborted as it comes", async () => {
  const told = await secondOf((pool, lent, first) => {
    pool.release(lent);
    first.abort();
  });
  assert.equal(told, "it got the resource");
});

// This one passes: the first acquire is aborted a turn of the event loop before the resource comes.
test("the next acquire gets the resource of one that is aborted before it comes", async () => {
  const told = await secondOf(async (pool, lent, first) => {
    first.abort();
    await turn();
    pool.release(lent);
  });
  assert.equal(told, "it got the resource");
});
