// For timer-wheel: two items in one bucket, the first of them due later than the second.
import assert from "node:assert/strict";
import { test } from "node:test";
import wheels from "timer-wheel";

const expiredAt = (t, delays, times) => {
  let now = 0;
  t.mock.method(Date, "now", () => now);
  const wheel = new wheels.ReschedulingTimerWheel();
  for (const [item, delay] of Object.entries(delays)) wheel.schedule(item, delay);
  return times.flatMap((time) => {
    now = time;
    return wheel.advance();
  });
};

test("an item that is not due when its bucket is scanned expires later", (t) => {
  assert.deepEqual(expiredAt(t, { a: 2049, b: 2048 }, [2048, 999999999]), ["b", "a"]);
});

// This one passes: the items stand in the bucket in the order of their due times.
test("an item that is due first expires first", (t) => {
  assert.deepEqual(expiredAt(t, { b: 2048, a: 2049 }, [2048, 999999999]), ["b", "a"]);
});
