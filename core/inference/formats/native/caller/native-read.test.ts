// What the native reader takes, and what it refuses with its path.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../../../kernel/index.ts';
import { assemble } from '../../../canonical/assemble.ts';
import type { Part } from '../../../canonical/types.ts';
import { end, meta, native, streams, whole } from './native.fixture.ts';

const ask = { model: 'acme/fast-1', messages: [{ role: 'user', content: 'Hi' }] };

function refusal(change: object): { code: string; param: string | null } {
  try {
    native.read({ ...ask, ...change }, {});
  } catch (error) {
    if (error instanceof ServiceError) return { code: error.code, param: error.param };
    throw error;
  }
  throw new Error('nothing was refused');
}

const user = (...content: object[]) => ({ messages: [{ role: 'user', content }] });

describe('the native reader', () => {
  it('takes every field of the form', () => {
    const request = native.read(
      {
        model: 'acme/fast-1',
        messages: [
          { role: 'system', content: 'Be brief.' },
          {
            role: 'user',
            name: 'ann',
            content: [
              { type: 'text', text: 'Look', cache: { ttl: '1h' } },
              { type: 'image', src: { base64: 'AAAA', media_type: 'image/png' }, detail: 'low' },
              { type: 'audio', src: { base64: 'AAAA', media_type: 'audio/mpeg' } },
              { type: 'document', src: { text: 'words' }, title: 't', citations: true },
              { type: 'search_result', source: 's', title: 't', content: [{ type: 'text', text: 'x' }] },
            ],
          },
          { role: 'assistant', content: [{ type: 'tool_call', id: 'c1', name: 'f', arguments: '{}' }] },
          { role: 'tool', content: [{ type: 'tool_result', tool_call_id: 'c1', content: 'done' }] },
        ],
        tools: [{ name: 'f', schema: { type: 'object' }, strict: true }],
        tool_choice: { type: 'auto', names: ['f'] },
        generation: { max_tokens: 9, temperature: 1, stop: ['x'], candidates: 2, logprobs: 0, seed: null },
        reasoning: { effort: 'high', include: false },
        output: { format: { type: 'json_schema', name: 'n', schema: {} }, verbosity: 'low' },
        cache: { key: 'k', ttl: '24h' },
        service_tier: 'flex',
        route: { sort: 'price', fallbacks: false },
        metadata: { a: 'b' },
        compat: 'strict',
        provider_options: { acme: { x: 1 } },
        app: 'app',
        user: 'u',
        session: 's',
        stream: true,
      },
      {},
    );
    expect(request).toMatchObject({
      dialect: 'native',
      stream: true,
      generation: { max_tokens: 9, temperature: 1, stop: ['x'], candidates: 2, logprobs: 0 },
      reasoning: { effort: 'high' },
      cache: { key: 'k', hint: { ttl: '24h' } },
      tool_choice: { type: 'auto', names: ['f'] },
      tools: [{ kind: 'function', name: 'f', strict: true }],
      svc: {
        route: { sort: 'price', fallbacks: false },
        metadata: { a: 'b' },
        compat: 'strict',
        reasoning: 'exclude',
      },
    });
    expect(request.messages[1]?.content[2]).toMatchObject({ type: 'audio', format: 'mp3' });
  });

  it('takes back what an answer said', () => {
    fc.assert(
      fc.property(streams, (events) => {
        const answer = JSON.parse(native.write(assemble(events), meta, end));
        for (const { content } of answer.candidates) {
          const calls = content.filter(({ type }: Part) => type === 'tool_call');
          // Two calls of one id are one call; only the sandbox of a property test makes such.
          if (calls.length > 1) continue;
          const results = calls.map(({ id }: { id: string }) => ({
            type: 'tool_result',
            tool_call_id: id,
            content: [],
          }));
          const messages = [...ask.messages, { role: 'assistant', content }];
          if (results.length > 0) messages.push({ role: 'tool', content: results });
          const request = native.read({ ...ask, messages }, {});
          expect(request.messages[1]?.content).toHaveLength(content.length);
        }
      }),
    );
  });

  it('takes header alternatives below the body, as every dialect', () => {
    const headers = {
      'x-svc-app': 'head',
      'x-svc-compat': 'drop',
      'x-svc-route': '{"sort":"latency","fallbacks":false}',
    };
    const { svc } = native.read({ ...ask, app: 'body', route: { sort: 'price' } }, headers);
    expect(svc).toMatchObject({ app: 'body', compat: 'drop', route: { sort: 'price', fallbacks: false } });
  });

  it.each<[string, object, string]>([
    ['an unknown field', { temperature: 1 }, 'temperature'],
    ['a svc object', { svc: {} }, 'svc'],
    ['an unknown field inside', { generation: { max_token: 5 } }, 'generation.max_token'],
    ['a misspelt privacy preference', { route: { require: { zrd: true } } }, 'route.require.zrd'],
    ['an unknown part', user({ type: 'image_url', url: 'x' }), 'messages[0].content[0].type'],
    [
      'an unknown field of a part',
      user({ type: 'text', text: 'a', bold: true }),
      'messages[0].content[0].bold',
    ],
    ['wire leftovers', user({ type: 'text', text: 'a', ext: {} }), 'messages[0].content[0].ext'],
    [
      'a part of another role',
      user({ type: 'tool_call', id: 'a', name: 'b', arguments: '' }),
      'messages[0].content[0].type',
    ],
    [
      'a source of two forms',
      user({ type: 'image', src: { base64: 'AA', media_type: 'x', url: 'https://a' } }),
      'messages[0].content[0].src.url',
    ],
    [
      'what is not base64',
      user({ type: 'image', src: { base64: 'A"},"model":"x', media_type: 'image/png' } }),
      'messages[0].content[0].src.base64',
    ],
    [
      'an address without TLS',
      user({ type: 'image', src: { url: 'http://a' } }),
      'messages[0].content[0].src.url',
    ],
    ['no messages', { messages: [] }, 'messages'],
    ['a message of nothing', { messages: [{ role: 'user', content: [] }] }, 'messages[0].content'],
    ['a role of another dialect', { messages: [{ role: 'developer', content: 'x' }] }, 'messages[0].role'],
    [
      'a result without a call',
      { messages: [{ role: 'tool', content: [{ type: 'tool_result', tool_call_id: 'x', content: 'y' }] }] },
      'messages[0]',
    ],
    ['too many candidates', { generation: { candidates: 9 } }, 'generation.candidates'],
    [
      'a server tool under another name',
      { tools: [{ kind: 'server', name: 'web_search', family: 'gemini', payload: { type: 'shell' } }] },
      'tools[0].payload.type',
    ],
    ['effort without reasoning', { reasoning: { mode: 'off', effort: 'high' } }, 'reasoning.effort'],
    ['a schema that is missing', { output: { format: { type: 'json_schema' } } }, 'output.format.schema'],
    [
      'a forbidden provider option',
      { provider_options: { acme: { model: 'x' } } },
      'provider_options.acme.model',
    ],
    [
      'a stored file as a block',
      {
        messages: [
          {
            role: 'assistant',
            content: [
              { type: 'server_tool', family: 'openai_chat', name: 'file', payload: { type: 'file' } },
            ],
          },
        ],
      },
      'messages[0].content[0]',
    ],
  ])('refuses %s by its path', (_name, change, param) => {
    expect(refusal(change).param).toBe(param);
  });

  it('names fields of shared refusals in its own words', () => {
    const reported = (param: string) =>
      native.error(new ServiceError('invalid_request', 'm', { param }), meta)['error'] as { param: string };
    expect(reported('max_tokens').param).toBe('generation.max_tokens');
    expect(reported('svc.route.fallback_models[0]').param).toBe('route.fallback_models[0]');
    expect(reported('messages[0].content').param).toBe('messages[0].content');
    expect(whole([]).warnings[0].param).toBe('generation.top_k');
  });
});
