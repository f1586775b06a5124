// Every way in which the sandbox ends, seen by a test key: what callers try their own error handling with.
import { describe, expect, test } from 'vitest';
import { errorOf, type Json, svcOf } from './caller.ts';
import { bodyOf, grammarFaults, idOf, send, useWorld } from './world.ts';

const world = useWorld();
/** Play money of a new organization. */
const PLAY_MICRO = 100_000_000;

interface Want {
  readonly model: string;
  /** Status of a whole answer, and of a stream before its first content. */
  readonly status: number;
  readonly code?: string;
  readonly attempts: number;
  /** The fault comes after content: a stream has status 200 and one attempt. */
  readonly late?: boolean;
  readonly warning?: string;
  readonly free?: boolean;
}

const wants: readonly Want[] = [
  { model: 'error-400', status: 400, code: 'invalid_request', attempts: 2 },
  { model: 'error-401', status: 502, code: 'upstream_error', attempts: 2 },
  { model: 'error-403', status: 502, code: 'upstream_error', attempts: 2 },
  { model: 'error-404', status: 502, code: 'upstream_error', attempts: 2 },
  { model: 'error-408', status: 502, code: 'upstream_error', attempts: 2 },
  { model: 'error-413', status: 413, code: 'request_too_large', attempts: 1 },
  { model: 'error-422', status: 400, code: 'invalid_request', attempts: 2 },
  { model: 'error-429', status: 429, code: 'upstream_rate_limited', attempts: 2 },
  { model: 'error-500', status: 502, code: 'upstream_error', attempts: 2 },
  { model: 'error-503', status: 503, code: 'upstream_overloaded', attempts: 2 },
  { model: 'error-529', status: 503, code: 'upstream_overloaded', attempts: 2 },
  { model: 'filter', status: 400, code: 'content_filtered', attempts: 1 },
  { model: 'error-mid', status: 502, code: 'upstream_error', attempts: 2, late: true },
  { model: 'cut', status: 502, code: 'upstream_incomplete', attempts: 2, late: true },
  { model: 'garbage', status: 502, code: 'upstream_invalid_response', attempts: 2, late: true },
  { model: 'error-flaky', status: 200, attempts: 2 },
  { model: 'no-usage', status: 200, attempts: 1, warning: 'usage_estimated' },
  { model: 'zero', status: 200, attempts: 1, free: true },
  { model: 'filter-mid', status: 200, attempts: 1 },
  { model: 'refusal', status: 200, attempts: 1 },
  { model: 'reasoning', status: 200, attempts: 1 },
];
const words = 'one two three four five six seven eight nine ten eleven twelve';
const ways = (['chat', 'messages'] as const).flatMap((dialect) =>
  [true, false].map((stream) => ({ dialect, stream })),
);

describe.concurrent.each(ways)('$dialect, stream $stream', ({ dialect, stream }) => {
  test.each(wants)('sandbox/$model', async (want) => {
    const org = await world().org(0);
    // Pieces with a pause between them: what comes in one read with its fault has not been seen by anyone.
    const svc = { provider_options: { sandbox: { chunks: 12, chunk_ms: 5 } } };
    const body = bodyOf(`sandbox/${want.model}`, words, { stream, svc });
    const reply = await send(world(), dialect, org.sandbox_key, body).reply;
    const inStream = stream && (want.late === true || want.status === 200);
    const overloaded = want.code === 'upstream_overloaded' && dialect === 'messages';
    const refused = overloaded ? 529 : want.status;
    expect(reply.status).toBe(inStream ? 200 : refused);
    if (inStream) expect(grammarFaults(dialect, reply)).toEqual([]);
    const error = errorOf(reply);
    expect(error?.['code']).toBe(want.code);
    const attempts = stream && want.late === true ? 1 : want.attempts;
    expect(reply.headers['x-svc-attempts']).toBe(String(attempts));
    const book = { ...org, live_book_id: org.sandbox_book_id, balance: PLAY_MICRO };
    const ended = await world().ended(book, idOf(reply));
    expect(ended.attempts).toHaveLength(attempts);
    expect(ended.row.status).toBe(want.code === undefined ? 'ok' : 'error');
    if (want.code !== undefined || want.free === true) expect(ended.charged).toBe(0);
    else expect(ended.charged).toBeGreaterThan(0);
    if (want.code === undefined) {
      const svc = svcOf(reply) as Json;
      expect(svc['cost'].total_micro_usd).toBe(ended.charged);
      expect(svc['warnings'].map((warning: Json) => warning['code'])).toEqual(
        want.warning === undefined ? [] : [want.warning],
      );
    }
  });
});

test('sandbox/error-502 fails as it says however often it is called, for all tenants', async () => {
  const [one, other] = [await world().org(0), await world().org(0)];
  const status = async (key: string) =>
    (await world().chat(key, bodyOf('sandbox/error-502', words)).reply).status;
  const seen: number[] = [];
  for (let i = 0; i < 8; i++) seen.push(await status(one.sandbox_key));
  seen.push(await status(other.sandbox_key));
  expect(seen).toEqual(Array.from({ length: 9 }, () => 502));
});
