// The worker is one for all organizations: what one of them has waiting is no matter of the others.
import { expect, test } from 'vitest';
import { RedactionPool } from './pool.ts';

const bodyOf = (text: string) => Buffer.from(JSON.stringify([text]));
/** Each search walks the whole rest before it settles for one letter. */
const SLOW = { presets: [], patterns: ['a.*b|a'] };
const slowBody = bodyOf('a'.repeat(1_500));

test('a quiet organization waits for one body of each noisy one, also where all ask for the same', async () => {
  const pool = new RedactionPool();
  const ended: string[] = [];
  const ask = (org_id: string) => pool.redact(SLOW, slowBody, { org_id }).then(() => ended.push(org_id));
  const noisy = Array.from({ length: 3 }, () => [ask('loud'), ask('louder')]).flat();
  await Promise.all([...noisy, ask('quiet')]);
  expect(ended.slice(0, 3)).toEqual(['loud', 'louder', 'quiet']);
  // And the noisy ones share what is left, in the order in which they asked.
  expect(ended.slice(3)).toEqual(Array.from({ length: 2 }, () => ['loud', 'louder']).flat());
});

test('large bodies under presets make their own organization wait, not another one', async () => {
  const pool = new RedactionPool();
  const emails = { presets: ['email' as const], patterns: [] };
  const ended: string[] = [];
  const ask = (org_id: string, text: string) =>
    pool
      .redact(emails, bodyOf(text), { org_id })
      .then(({ redactions }) => ended.push(`${org_id} ${redactions}`));
  const noisy = Array.from({ length: 8 }, () => ask('loud', 'x'.repeat(2_000_000)));
  await Promise.all([...noisy, ask('quiet', 'to a@b.co')]);
  expect(ended.indexOf('quiet 1')).toBe(1);
});

test('too much waiting text of one organization is refused to it alone, until there is room', async () => {
  const pool = new RedactionPool();
  const settings = { presets: [], patterns: ['one'] };
  const large = Buffer.from(JSON.stringify({ data: 'y'.repeat(34_000_000) }));
  const first = pool.redact(settings, large, { org_id: 'loud' });
  await expect(pool.redact(settings, large, { org_id: 'loud' })).rejects.toMatchObject({
    code: 'service_unavailable',
    details: { component: 'redaction' },
    message: expect.stringContaining("organization's text waits"),
  });
  // Whatever others have waiting: who has nothing there is let in.
  const others = Array.from({ length: 9 }, (_, n) => pool.redact(settings, large, { org_id: `loud ${n}` }));
  const quiet = pool.redact(settings, bodyOf('one'), { org_id: 'quiet' });
  expect((await quiet).redactions).toBe(1);
  await Promise.all([first, ...others]);
  expect((await pool.redact(settings, large, { org_id: 'loud' })).redactions).toBe(0);
}, 60_000);

test('a search that does not end ends with its worker, and whoever waits gets another one', async () => {
  const pool = new RedactionPool({ patience_ms: 600_000, lost_ms: 5_000 });
  const hung = pool.redact(SLOW, bodyOf('a'.repeat(400_000)), { org_id: 'loud' });
  const again = pool.redact(SLOW, slowBody, { org_id: 'loud' });
  const quiet = pool.redact({ presets: [], patterns: ['x'] }, bodyOf('x'), { org_id: 'quiet' });
  await expect(hung).rejects.toMatchObject({ code: 'invalid_pattern' });
  expect((await quiet).body.toString()).toBe('["[REDACTED:pattern_1]"]');
  expect((await again).redactions).toBe(1_500);
}, 60_000);
