// The sandbox models that fail on purpose, and how the adapter classes what they do.
import { describe, expect, test } from 'vitest';
import { sandboxAdapter } from './adapter.ts';
import { errorWords } from './faults.ts';
import { callSandbox, lastOf, piecesIn, textIn, userRequest, wholeAnswer } from './test-kit.ts';
import { tokensOf } from './tokens.ts';

describe('faults', () => {
  test.each(Object.keys(errorWords).map(Number))(
    'error-%i answers that status with a provider-like body',
    async (status) => {
      const { status: got, headers, bytes } = await callSandbox(`sandbox/error-${status}`, userRequest('x'));
      expect(got).toBe(status);
      const fault = sandboxAdapter.classify(got, headers, bytes);
      expect(fault).toMatchObject({
        status,
        message: errorWords[status]?.message,
        type: errorWords[status]?.type,
      });
      expect(headers['retry-after']).toBe(status === 429 ? '1' : undefined);
      expect(fault.retry_after_ms).toBe(status === 429 ? 1_000 : undefined);
    },
  );

  test('classes follow docs/outcomes.md#faults-of-a-provider', async () => {
    const classes = Object.keys(errorWords).map(
      (status) => sandboxAdapter.classify(Number(status), {}, Buffer.from('x')).class,
    );
    expect(classes).toEqual([
      ...['client', 'auth', 'auth', 'model_missing', 'server', 'too_large', 'client', 'rate_limit'],
      ...['server', 'server', 'overloaded', 'server', 'overloaded'],
    ]);
    expect(sandboxAdapter.classify(402, {}, Buffer.from('')).class).toBe('quota');
  });

  test('filter blocks the prompt; filter-mid ends after five pieces and bills them', async () => {
    const blocked = await callSandbox('filter', userRequest('x'));
    expect(sandboxAdapter.classify(blocked.status, blocked.headers, blocked.bytes).class).toBe(
      'content_filter',
    );
    const { events } = await callSandbox('filter-mid', userRequest('x'));
    expect(piecesIn(events)).toBe(5);
    expect(lastOf(events, 'stop')?.stop.reason).toBe('content_filter');
    expect(lastOf(events, 'usage')?.usage.output_tokens).toBe(tokensOf(textIn(events)));
    expect(events.at(-1)).toEqual({ type: 'finish' });
  });

  test('error-flaky fails the first attempts of a request, then echoes', async () => {
    const request = userRequest('sandbox: fail=2');
    const statuses = [];
    for (const attempt of [1, 2, 3])
      statuses.push((await callSandbox('error-flaky', request, { attempt })).status);
    expect(statuses).toEqual([503, 503, 200]);
  });

  test('error-mid sends an error event after five pieces, or before the first with after=0', async () => {
    const { events } = await callSandbox('error-mid', userRequest('x'));
    expect(piecesIn(events)).toBe(5);
    expect(lastOf(events, 'error')?.fault).toMatchObject({ class: 'stream', inner: 'server' });
    expect(lastOf(events, 'stop')).toBeUndefined();
    const early = await callSandbox('error-mid', userRequest('x', { options: { after: 0, status: 529 } }));
    expect(piecesIn(early.events)).toBe(0);
    expect(lastOf(early.events, 'error')?.fault).toMatchObject({
      inner: 'overloaded',
      type: 'overloaded_error',
    });
  });

  test('cut ends without stop, usage and end mark', async () => {
    const { events } = await callSandbox('cut', userRequest('x'));
    expect(piecesIn(events)).toBe(5);
    expect(events.at(-1)).toEqual({ type: 'part_stop', candidate: 0, part: 0 });
    expect(events.some(({ type }) => ['stop', 'usage', 'finish', 'error'].includes(type))).toBe(false);
  });

  test('garbage is a line that is not JSON: a protocol fault, and nothing is read after it', async () => {
    const { events, bytes } = await callSandbox('garbage', userRequest('x'));
    expect(() =>
      bytes
        .toString()
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toThrow(SyntaxError);
    expect(lastOf(events, 'error')?.fault.class).toBe('protocol');
    expect(piecesIn(events)).toBe(5);
  });

  test.each([
    ['error-mid', 'error'],
    ['garbage', 'error'],
    ['cut', 'none'],
    ['filter-mid', 'content_filter'],
  ])('%s comes also when the cap is smaller than the pieces before it', async (model, end) => {
    for (const max_tokens of [0, 1]) {
      const { events } = await callSandbox(model, userRequest('x'), { max_tokens });
      expect(lastOf(events, 'error') === undefined).toBe(end !== 'error');
      expect(lastOf(events, 'stop')?.stop.reason).toBe(end === 'content_filter' ? end : undefined);
    }
  });

  test('no-usage completes without usage; zero completes without a stop and with 0 tokens', async () => {
    const bare = await callSandbox('no-usage', userRequest('x'));
    expect(lastOf(bare.events, 'usage')).toBeUndefined();
    expect(bare.events[0]).not.toHaveProperty('usage');
    expect(bare.events.at(-1)).toEqual({ type: 'finish' });
    const zero = await callSandbox('zero', userRequest('x'));
    expect(lastOf(zero.events, 'usage')?.usage.output_tokens).toBe(0);
    expect(zero.events.map(({ type }) => type)).toEqual(['start', 'usage', 'finish']);
  });

  test('context refuses more than 1,000 tokens and stops at them', async () => {
    const over = await callSandbox('context', userRequest('abc'.repeat(1_001)));
    expect(sandboxAdapter.classify(over.status, over.headers, over.bytes).class).toBe('context_length');
    const edge = await callSandbox('context', userRequest('abc'.repeat(990)));
    expect(lastOf(edge.events, 'stop')?.stop.reason).toBe('context_window');
    expect(lastOf(edge.events, 'usage')?.usage.output_tokens).toBe(10);
  });

  test('an unknown or excessive explicit option is refused by name', async () => {
    for (const options of [{ token: 5 }, { chunk_ms: -1 }, { tokens: 1e9 }, { fail: 'x' }]) {
      const refused = await callSandbox('echo', userRequest('x', { options }));
      const fault = sandboxAdapter.classify(refused.status, refused.headers, refused.bytes);
      expect(fault).toMatchObject({ status: 400, class: 'client', param: 'svc.provider_options.sandbox' });
      expect(fault.message).toContain(`'${Object.keys(options)[0]}'`);
    }
  });

  test('whole answers tell the same faults by status or by broken JSON', async () => {
    const whole = (model: string) => callSandbox(model, userRequest('x'), { stream: false });
    expect((await whole('error-mid')).status).toBe(500);
    for (const model of ['cut', 'garbage']) {
      const { status, bytes } = await whole(model);
      expect(status).toBe(200);
      expect(() => sandboxAdapter.decode(bytes, userRequest('x'), {} as never)).toThrow('not JSON');
    }
    expect((await wholeAnswer('no-usage', userRequest('x'))).usage).toBeNull();
    expect((await wholeAnswer('zero', userRequest('x'))).candidates).toEqual([
      { index: 0, content: [], stop: null },
    ]);
  });
});
