import { expect, test } from 'vitest';
import { redactionWarnings } from '../record.ts';
import type { Incoming } from '../types.ts';
import { redactIncoming } from './redact.ts';

function incoming(body: string, settings: object, headers: Incoming['headers'] = {}): Incoming {
  return {
    dialect: { name: 'chat' },
    grant: { data_policy: { redact: settings } },
    body: Buffer.from(body),
    members: null,
    headers,
  } as unknown as Incoming;
}

test('a body that cannot be redacted refuses its call and nothing else, also beside a header that can', async () => {
  const unhandled: unknown[] = [];
  const listen = (reason: unknown) => unhandled.push(reason);
  process.on('unhandledRejection', listen);
  // Each search walks the whole rest before it settles for one letter.
  const slow = { presets: [], patterns: ['a.*b|a'] };
  const asked = incoming(JSON.stringify(['a'.repeat(400_000)]), slow, { 'x-title': 'x' });
  await expect(redactIncoming(asked)).rejects.toMatchObject({ code: 'invalid_pattern' });
  await new Promise((done) => setImmediate(done));
  process.off('unhandledRejection', listen);
  expect(unhandled).toEqual([]);
});

test('tags are content, whatever they are named', async () => {
  const settings = { presets: ['phone'], patterns: [] };
  const asked = incoming('{"n":1}', settings, { 'x-svc-metadata': '{"role":"9876543210"}' });
  const { headers } = await redactIncoming(asked);
  expect(headers['x-svc-metadata']).toBe('{"role":"[REDACTED:phone]"}');
  for (const odd of ['{"a":"b', '"}', '', '}{', '[1]', '{"a":"b"}}']) {
    const given = incoming('{"n":1}', settings, { 'x-svc-metadata': odd });
    expect((await redactIncoming(given)).headers['x-svc-metadata']).toBe(odd);
  }
});

test('what is redacted in a header is reported like what is redacted in the body', async () => {
  const settings = { presets: ['email'], patterns: [] };
  const asked = incoming('{"n":1}', settings, { 'x-svc-metadata': '{"who":"a@b.co"}' });
  const { headers, redacted } = await redactIncoming(asked);
  expect(headers['x-svc-metadata']).toBe('{"who":"[REDACTED:email]"}');
  expect(redactionWarnings({ redacted: redacted as NonNullable<typeof redacted> })).toMatchObject([
    { code: 'content_redacted', message: expect.stringContaining('redacted 1 ') },
  ]);
});
