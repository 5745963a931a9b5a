// For generic-pool: a resource that its first user releases again while a second user has it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createPool } from "generic-pool";

test("a late release does not take the resource from its next user", async () => {
  const pool = createPool({ create: async () => ({}), destroy: async () => {} }, { max: 1 });
  const first = await pool.acquire();
  await pool.release(first);
  await pool.acquire();
  await pool.release(first).catch(() => {}); // To refuse it would be right.
  assert.equal(pool.available, 0, "the second user has the resource, and it is free as well");
});

// This one passes: nobody else has the resource.
test("a release is refused while nobody has the resource", async () => {
  const pool = createPool({ create: async () => ({}), destroy: async () => {} }, { max: 1 });
  const first = await pool.acquire();
  await pool.release(first);
  await assert.rejects(pool.release(first));
});
