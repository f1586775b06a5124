import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CanonicalAnswer } from '../../../canonical/types.ts';
import { sandboxAdapter } from './adapter.ts';
import { modelNames } from './models.ts';
import {
  callSandbox,
  collector,
  lastOf,
  type Outcome,
  sandboxTarget,
  textIn,
  userRequest,
  wholeAnswer,
} from './test-kit.ts';
import { createSandboxUpstream } from './upstream.ts';

const quick = modelNames.filter((name) => !['stall', 'slow', 'long'].includes(name));

function start(model: string, options: Record<string, unknown>, done = () => {}) {
  const request = userRequest('some words to say', { options });
  const encode = { stream: true, max_tokens: null, user: null, cache_key: null, extra: {} };
  const { body } = sandboxAdapter.encode(request, sandboxTarget(model), encode);
  const outcome: Outcome = { status: 0, headers: {}, reads: [], bytes: Buffer.alloc(0), events: [] };
  const exchange = createSandboxUpstream()({ body, attempt: 1, org_id: 'o' }, collector(outcome, done));
  return { exchange, outcome, text: () => Buffer.concat(outcome.reads).toString() };
}

describe('determinism', () => {
  test.each(quick)('equal requests to %s give equal bytes', async (model) => {
    const request = userRequest('say this', { tools: [{ kind: 'function', name: 'f' }] });
    const first = await callSandbox(model, request);
    const second = await callSandbox(model, structuredClone(request));
    expect(second.status).toBe(first.status);
    expect(second.bytes.equals(first.bytes)).toBe(true);
  });

  test('another request gives other ids', async () => {
    const id = async (text: string) =>
      lastOf((await callSandbox('echo', userRequest(text))).events, 'start')?.upstream_id;
    expect(await id('a')).not.toBe(await id('b'));
  });

  test('pace changes no byte', async () => {
    const paced = await callSandbox('echo', userRequest('a b c d', { options: { chunk_ms: 40 } }));
    const burst = await callSandbox('echo', userRequest('a b c d', { options: { chunk_ms: 0 } }));
    expect(textIn(paced.events)).toBe(textIn(burst.events));
    expect(paced.reads.length).toBeGreaterThan(1);
    expect(burst.reads).toHaveLength(1);
  });
});

describe('the adapter', () => {
  test('any split of the bytes gives the same events', async () => {
    const request = userRequest('Grüße 🌍 an alle', { tools: [{ kind: 'function', name: 'f' }] });
    for (const model of ['reasoning', 'tools', 'garbage', 'cut']) {
      const { bytes, events } = await callSandbox(model, request);
      fc.assert(
        fc.property(fc.array(fc.nat(bytes.length), { maxLength: 12 }), (cuts) => {
          const decoder = sandboxAdapter.decoder(request, sandboxTarget(model));
          const at = [0, ...cuts.sort((a, b) => a - b), bytes.length];
          const got = at.slice(1).flatMap((to, i) => decoder.push(bytes.subarray(at[i], to)));
          expect([...got, ...decoder.end()]).toEqual(events);
        }),
        { numRuns: 50 },
      );
    }
  });

  test.each([
    'echo',
    'lorem',
    'json',
    'tools',
    'reasoning',
    'vision',
    'refusal',
    'filter-mid',
    'zero',
    'no-usage',
  ])('the whole answer of %s is its stream put together', async (model) => {
    const request = userRequest('say this', { tools: [{ kind: 'function', name: 'f' }] });
    const { events } = await callSandbox(model, request);
    const whole: CanonicalAnswer = await wholeAnswer(model, request);
    const parts: Record<string, unknown>[] = [];
    for (const event of events) {
      if (event.type === 'part_start') parts.push({ ...event.content });
      if (event.type !== 'part_delta') continue;
      const part = parts[event.part] as Record<string, unknown>;
      for (const name of ['text', 'arguments', 'signature'] as const) {
        if (event[name] !== undefined) part[name] = ((part[name] as string | undefined) ?? '') + event[name];
      }
    }
    expect(whole.candidates[0]?.content).toEqual(parts);
    expect(whole.candidates[0]?.stop ?? undefined).toEqual(lastOf(events, 'stop')?.stop);
    expect(whole.usage ?? undefined).toEqual(lastOf(events, 'usage')?.usage);
  });

  test('a stand-in for another provider does not take that provider’s extras for its own', () => {
    const target = { ...sandboxTarget('gpt-9'), provider: 'openai' };
    const options = { stream: true, max_tokens: 7, user: null, cache_key: null, extra: { logit_bias: {} } };
    const body = JSON.parse(
      sandboxAdapter.encode(userRequest('x', { options: { tokens: 3 } }), target, options).body.toString(),
    );
    expect(body).toMatchObject({ model: 'gpt-9', max_tokens: 7, options: { tokens: 3 } });
    expect(body.options).not.toHaveProperty('logit_bias');
  });
});

describe('the exchange', () => {
  test('nothing is heard in the turn that sends', async () => {
    const { outcome } = start('echo', {});
    expect(outcome.status).toBe(0);
    await expect.poll(() => outcome.status).toBe(200);
  });

  test('stall falls silent after five pieces and never ends', async () => {
    let ended = false;
    const { exchange, text } = start('stall', {}, () => {
      ended = true;
    });
    await expect.poll(() => text().split('part_delta')).toHaveLength(6);
    expect(ended).toBe(false);
    expect(text()).not.toContain('"stop"');
    exchange.abort();
  });

  test('after abort no handler is called any more', async () => {
    const { exchange, outcome } = start('echo', { chunk_ms: 1, tokens: 500, chunks: 100 });
    await expect.poll(() => outcome.reads.length).toBeGreaterThan(2);
    exchange.abort();
    const heard = outcome.reads.length;
    await callSandbox('echo', userRequest('x', { options: { chunk_ms: 5, chunks: 4, tokens: 20 } }));
    expect(outcome.reads).toHaveLength(heard);
    const never = start('echo', {});
    never.exchange.abort();
    await callSandbox('echo', userRequest('x'));
    expect(never.outcome.status).toBe(0);
  });

  test('a paused reader is given nothing until it resumes', async () => {
    let ended = false;
    const { exchange, outcome } = start('echo', { chunk_ms: 10, tokens: 60, chunks: 60 }, () => {
      ended = true;
    });
    await expect.poll(() => outcome.reads.length, { interval: 5 }).toBeGreaterThan(1);
    exchange.pause();
    const heard = outcome.reads.length;
    await callSandbox('echo', userRequest('x', { options: { chunk_ms: 5, chunks: 4, tokens: 20 } }));
    expect(outcome.reads).toHaveLength(heard);
    exchange.resume();
    await expect.poll(() => ended).toBe(true);
    const text = Buffer.concat(outcome.reads).toString();
    expect(text.trimEnd().split('\n').at(-1)).toBe('{"type":"finish"}');
  });

  test('long keeps its rate: seconds × tps tokens in about that time', async () => {
    const begun = performance.now();
    const { events } = await callSandbox('long', userRequest('x', { options: { seconds: 1, tps: 300 } }));
    const took = performance.now() - begun;
    expect(lastOf(events, 'usage')?.usage.output_tokens).toBe(300);
    expect(took).toBeGreaterThan(900);
  });

  test('slow waits before the first piece and between pieces; duration_ms spreads them', async () => {
    const timed = async (model: string, options: Record<string, unknown>) => {
      const begun = performance.now();
      await callSandbox(model, userRequest('a b c d e', { options }));
      return performance.now() - begun;
    };
    // A timer runs from the time that the event loop last looked at, so a busy machine may cut a little from the first;
    // neither wait alone comes to what is asked.
    expect(await timed('slow', { ttft_ms: 200, chunk_ms: 40 })).toBeGreaterThanOrEqual(280);
    expect(await timed('echo', { duration_ms: 150 })).toBeGreaterThanOrEqual(100);
  });
});
