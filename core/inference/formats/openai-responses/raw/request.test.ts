import { chatEnd, chatMeta } from '@svc/test/grammar/chat-fixtures.ts';
import { responsesRequest, responsesTarget } from '@svc/test/grammar/openai-responses-fixtures.ts';
import { describe, expect, it } from 'vitest';
import { type EncodeOptions, StreamErrorFault } from '../../../canonical/contract.ts';
import { wrapState } from '../../../canonical/reasoning.ts';
import { ProtocolFault } from '../../../wire/fault.ts';
import { responses } from '../caller/index.ts';
import { rawResponses } from './index.ts';

const options: EncodeOptions = { stream: true, max_tokens: null, user: null, cache_key: null, extra: {} };

function send(
  text: string,
  how: Partial<EncodeOptions> = {},
  target = responsesTarget(),
  // biome-ignore lint/suspicious/noExplicitAny: wire JSON is read as it comes
): { text: string; body: any } {
  const request = responses.read(JSON.parse(text), {});
  const { path, body } = rawResponses.request(Buffer.from(text), request, target, { ...options, ...how });
  expect(path).toBe('/responses');
  return { text: body.toString(), body: JSON.parse(body.toString()) };
}

const body = (members: object): string => JSON.stringify({ model: 'acme/fast-1', input: 'Hi', ...members });

describe('raw request of responses', () => {
  it('rewrites our fields only and leaves numbers, order and unknown fields as they are', () => {
    const sent =
      '{ "zzz":12345678901234567890, "model":"acme/fast-1","input":[{"role":"user","content":"H\\u0069"}],' +
      '"tools":[{"type":"function","name":"f","parameters":{"maximum":9007199254740993}}],"svc":{"compat":"warn"}}';
    expect(send(sent).text).toBe(
      '{ "zzz":12345678901234567890, "model":"fast-1-upstream","input":[{"role":"user","content":"H\\u0069"}],' +
        '"tools":[{"type":"function","name":"f","parameters":{"maximum":9007199254740993}}]' +
        ',"store":false,"include":["reasoning.encrypted_content"]}',
    );
  });

  it('never stores, whatever the caller says, and sends no tags', () => {
    for (const store of [true, false, null]) {
      const client_metadata = { 'x-codex-installation-id': 'c1' };
      const { body: out } = send(body({ store, metadata: { a: 'b' }, client_metadata }));
      expect(out.store).toBe(false);
      expect(out).not.toHaveProperty('metadata');
      expect(out).not.toHaveProperty('client_metadata');
    }
  });

  it('always asks for encrypted reasoning, once, beside what the caller asked for', () => {
    const include = ['message.output_text.logprobs'];
    expect(send(body({ include })).body.include).toEqual([...include, 'reasoning.encrypted_content']);
    expect(send(body({ include: null })).body.include).toEqual(['reasoning.encrypted_content']);
    const own = ['reasoning.encrypted_content'];
    expect(send(body({ include: own })).body.include).toEqual(own);
    const target = responsesTarget();
    const plain = { ...target, capabilities: { ...target.capabilities, reasoning: false } };
    expect(send(body({}), {}, plain).body).not.toHaveProperty('include');
  });

  it('sends hashes of identities under the names that the caller used', () => {
    const named = body({ user: 'u', safety_identifier: 's', prompt_cache_key: 'k' });
    expect(send(named, { user: 'HU', cache_key: 'HK' }).body).toMatchObject({
      user: 'HU',
      safety_identifier: 'HU',
      prompt_cache_key: 'HK',
    });
    expect(Object.keys(send(named).body)).not.toEqual(
      expect.arrayContaining(['user', 'safety_identifier', 'prompt_cache_key']),
    );
  });

  it('writes the cap where it differs, and the tier and sampling only where they are taken', () => {
    const asked = body({ max_output_tokens: 100, service_tier: 'flex', temperature: 1, top_p: 0.5 });
    expect(send(asked, { max_tokens: 50 }).body).toMatchObject({ max_output_tokens: 50, temperature: 1 });
    expect(send(asked).body).not.toHaveProperty('service_tier');
    const flex = responsesTarget({ parameters: ['service_tier'], flags: ['rejects_sampling'] });
    const out = send(asked, {}, flex).body;
    expect(out).toMatchObject({ max_output_tokens: 100, service_tier: 'flex' });
    expect(out).not.toHaveProperty('temperature');
    expect(out).not.toHaveProperty('top_p');
  });

  it('leaves out reasoning that the provider could not read, and keeps every other item to the byte', () => {
    const user = '{"role":"user","content":"a"}';
    const good = '{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAAA"}';
    const bare = '{"type":"reasoning","id":"rs_2","summary":[{"type":"summary_text","text":"x"}]}';
    const empty = '{"type":"reasoning","id":"rs_3","summary":[],"encrypted_content":null}';
    const wrapped = wrapState({ f: 'anthropic-claude-v1', m: 'x', s: 'sig' });
    const foreign = `{"type":"reasoning","id":"rs_4","summary":[],"encrypted_content":"${wrapped}"}`;
    const message =
      '{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"b"}]}';
    const referred = '{"type":"item_reference","id":"rs_5"} , {"id":"rs_6"}';
    const items = [user, good, bare, empty, foreign, referred, message, user];
    const { text } = send(`{"model":"acme/fast-1","input":[ ${items.join(' , ')} ]}`);
    expect(text).toContain(`"input":[${[user, good, message, user].join(',')}]`);
    const kept = send(`{"model":"acme/fast-1","input":[ ${[user, good, message].join(' , ')} ]}`);
    expect(kept.text).toContain(`"input":[ ${[user, good, message].join(' , ')} ]`);
  });

  it('refuses a key that occurs twice, also when it is spelt otherwise', () => {
    for (const twice of [
      '"max_output_tokens":20,"max_output_tokens":30',
      '"store":false,"st\\u006fre":true',
    ]) {
      expect(() => send(`{"model":"acme/fast-1","input":"Hi",${twice}}`)).toThrow('occurs twice');
    }
  });

  it('merges provider options last', () => {
    expect(send(body({}), { extra: { truncation: 'auto' } }).body.truncation).toBe('auto');
  });
});

describe('raw whole response', () => {
  it('is no answer unless it says that it is done, with items that are some', () => {
    const usage = { input_tokens: 1, output_tokens: 9 };
    const output = [{ type: 'message', content: [{ type: 'output_text', text: 'hi' }] }];
    for (const odd of [
      { status: 'in_progress', output },
      { status: 'queued', output: [] },
      { status: 'weird', output },
      { output },
      { status: 'completed', output: [null] },
    ]) {
      const body = Buffer.from(JSON.stringify({ id: 'r', ...odd, usage }));
      expect(() => rawResponses.whole(body, responsesRequest(), responsesTarget())).toThrow(ProtocolFault);
    }
  });

  const answer = (members: object): Buffer =>
    Buffer.from(
      JSON.stringify({
        id: 'resp_1',
        object: 'response',
        status: 'completed',
        model: 'up',
        output: [
          { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAA' },
          { type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: 'Hé' }] },
          { type: 'function_call', id: 'fc_1', call_id: 'c', name: 'f', arguments: '{}' },
        ],
        usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
        ...members,
      }),
    );
  const finish = (bytes: Buffer, sealed = false, change: object = {}, end: object = {}): string => {
    const echo = { members: '"metadata":{"a":"b"}', encrypted_reasoning: sealed };
    const whole = rawResponses.whole(bytes, responsesRequest(), responsesTarget());
    return whole.finish(chatMeta({ echo, ...change }), chatEnd(whole.usage, end)).toString();
  };

  it('is metered, and given on with id, model, svc and the tags of the caller', () => {
    const whole = rawResponses.whole(answer({ service_tier: 'flex' }), responsesRequest(), responsesTarget());
    expect(whole).toMatchObject({
      output_bytes: 5,
      tool_calls: 1,
      service_tier: 'flex',
      stop: { reason: 'tool_use' },
      usage: { input_tokens: 10, output_tokens: 5 },
    });
    const out = JSON.parse(finish(answer({ metadata: {}, big: 1 })));
    expect(out).toMatchObject({
      id: '01JD0000000000000000000000',
      model: 'acme/fast-1',
      store: false,
      metadata: { a: 'b' },
      svc: { provider: 'acme' },
    });
    expect(out.usage.total_tokens).toBe(15);
  });

  it('keeps numbers beyond 2^53 and fields that we do not know', () => {
    const bytes = Buffer.from(answer({ odd: 'X' }).toString().replace('"X"', '9007199254740993'));
    expect(finish(bytes)).toContain('"odd":9007199254740993');
  });

  it('shows reasoning state only to those who asked, and reasoning to nobody who excludes it', () => {
    expect(finish(answer({}))).not.toContain('encrypted_content');
    expect(finish(answer({}), true)).toContain('"encrypted_content":"gAAAA"');
    const types = JSON.parse(finish(answer({}), true, { reasoning: 'exclude' })).output.map(
      ({ type }: { type: string }) => type,
    );
    expect(types).toEqual(['message', 'function_call']);
  });

  it('reports a stop that the gateway decided', () => {
    const out = JSON.parse(finish(answer({}), false, {}, { stop: { reason: 'max_tokens' } }));
    expect(out).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } });
  });

  it('survives keys that occur twice', () => {
    const twice = Buffer.from(answer({}).toString().replace('{', '{"id":"other","model":"other",'));
    expect(JSON.parse(finish(twice))).toMatchObject({
      id: '01JD0000000000000000000000',
      model: 'acme/fast-1',
    });
  });

  it.each<[string, string, string]>([
    ['an error object', '{"error":{"message":"slow down","code":"rate_limit_exceeded"}}', 'rate_limit'],
    [
      'a failed response',
      '{"object":"response","status":"failed","error":{"code":"server_error","message":"x"},"output":[]}',
      'server',
    ],
    [
      'a refused prompt',
      '{"object":"response","status":"failed","error":{"code":"invalid_prompt","message":"x"},"output":[]}',
      'content_filter',
    ],
  ])('reports %s as the fault it is', (_name, text, inner) => {
    try {
      rawResponses.whole(Buffer.from(text), responsesRequest(), responsesTarget());
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(StreamErrorFault);
      expect((error as StreamErrorFault).fault.inner).toBe(inner);
    }
  });

  it.each(['', '[]', '{"choices":[]}', 'oops'])('takes %j for no response', (text) => {
    const read = () => rawResponses.whole(Buffer.from(text), responsesRequest(), responsesTarget());
    expect(read).toThrow(ProtocolFault);
  });
});
