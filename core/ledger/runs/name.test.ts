// The name under which the ledger counts a run says nothing of what its caller wrote, and is always the same.
import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { runOf } from './name.ts';

const PEPPER = Buffer.from('pepper');

/** As the docstring of `runOf` describes it. */
function described(text: string): string {
  const hex = createHmac('sha256', PEPPER).update(text).digest('hex').slice(0, 32);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

test('it is a UUID of the HMAC of project and name, under the pepper of the organization', () => {
  const run = runOf(PEPPER, { project_no: 7, id: 'nightly' });
  expect(run).toBe(described('run 7 nightly'));
  expect(run).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  expect(runOf(Buffer.from('other'), { project_no: 7, id: 'nightly' })).not.toBe(run);
});

test('two spellings of Unicode are one name', () => {
  const [composed, parts] = ['Caf\u00e9', 'Cafe\u0301'];
  expect(parts).not.toBe(composed);
  expect(runOf(PEPPER, { project_no: 7, id: parts })).toBe(runOf(PEPPER, { project_no: 7, id: composed }));
});
