// A run follows from its seed alone; the product as it is stands two hundred of them, and does not when it is broken. Each is a
// process of its own, since the simulation replaces timers and sockets of its process.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { NODE_FLAGS } from '../support/entry.ts';

const MAIN = fileURLToPath(new URL('main.ts', import.meta.url));
const run = promisify(execFile);

/** What a simulation printed, and whether it found no fault. */
async function simulate(...args: string[]): Promise<{ ok: boolean; text: string }> {
  const options = { maxBuffer: 64 * 1_024 * 1_024 };
  return run(process.execPath, [...NODE_FLAGS, MAIN, ...args], options).then(
    ({ stdout }) => ({ ok: true, text: stdout }),
    (error: { stdout: string; stderr: string }) => ({ ok: false, text: error.stdout + error.stderr }),
  );
}

/** Hash by seed. */
function hashesIn(text: string): Map<string, string> {
  return new Map(
    [...text.matchAll(/^(\d+) ([0-9a-f]{64})$/gm)].map(([, seed, hash]) => [seed as string, hash as string]),
  );
}

test('two hundred seeds find no fault, and a seed gives the same trace in another process and another place', {
  timeout: 600_000,
}, async () => {
  const { ok, text } = await simulate('--seeds', '200', '--hashes');
  expect(ok, text.slice(-4_000)).toBe(true);
  const hashes = hashesIn(text);
  expect(hashes.size).toBe(200);
  expect(new Set(hashes.values()).size).toBe(200);
  const other = hashesIn((await simulate('--seed', '190', '--seeds', '8', '--hashes')).text);
  expect(other.size).toBe(8);
  for (const [seed, hash] of other) expect([seed, hash]).toEqual([seed, hashes.get(seed)]);
});

test.each([
  ['product: a settle of one micro-dollar more than is told', /saw cost/],
  ['ledger: a hold is not taken from the balance', /ledger verify|its entries say/],
])('the simulation notices %s', { timeout: 300_000 }, async (name, said) => {
  const { ok, text } = await simulate('--seeds', '20', '--broken', name);
  expect(ok).toBe(false);
  expect(text).toMatch(said);
});
