// Golden answers of each provider (fixtures/, in the shapes of their references) and the requests they are sent.
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { StreamErrorFault, type Target } from '../../../canonical/contract.ts';
import { estimatedUnits, unitsBound } from '../../../canonical/search-units.ts';
import { settleTask } from '../../../canonical/tasks/settle.ts';
import type { CanonicalRequest, EmbedTask, RerankTask, Task } from '../../../canonical/types.ts';
import { parseExact } from '../../../wire/exact.ts';
import { ProtocolFault } from '../../../wire/fault.ts';
import { embedRerank } from './index.ts';

const able = (...parameters: string[]) => ({ parameters }) as unknown as Target['capabilities'];
const target = (kind: string, more: Partial<Target> = {}): Target => ({
  endpoint_id: 'ep_1',
  provider: kind,
  family: 'embed_rerank',
  kind,
  upstream_model: 'their-model',
  region: 'local',
  capabilities: able('dimensions'),
  flags: [],
  ...more,
});
const embedTask = (more: Partial<EmbedTask> = {}): EmbedTask => ({
  kind: 'embed',
  input: ['a', 'b'],
  single: false,
  encoding: 'float',
  ...more,
});
const rerankTask = (documents: readonly string[], query = 'q'): RerankTask => ({
  kind: 'rerank',
  query,
  documents,
  top_n: documents.length,
  return_documents: false,
});
const seen = (kind: string, ...texts: string[]) => ({
  content: [
    ...texts.map((text) => ({ type: 'text' as const, text })),
    { type: 'image' as const, src: { base64: 'AAAA', media_type: `image/${kind}` } },
  ],
});
const requestOf = (task: Task, more: Partial<CanonicalRequest> = {}): CanonicalRequest => ({
  model: 'v/m',
  messages: [],
  generation: { max_tokens: 0 },
  task,
  stream: false,
  include_usage: false,
  svc: { route: {}, metadata: {}, compat: 'warn', provider_options: {}, reasoning: 'include' },
  dialect: 'embeddings',
  warnings: [],
  ...more,
});
const options = { stream: false, max_tokens: 0, user: null, cache_key: null, extra: {} };
const fixture = (name: string) => readFileSync(new URL(`../fixtures/${name}`, import.meta.url));
const decoded = (name: string, kind: string, task: Task) =>
  settleTask(embedRerank.decode(fixture(name), requestOf(task), target(kind)), task);
const sent = (request: CanonicalRequest, to: Target, extra = {}) => {
  const { path, body } = embedRerank.encode(request, to, { ...options, extra });
  return { path, text: body.toString(), json: JSON.parse(body.toString()) as Record<string, unknown> };
};

describe('golden answers', () => {
  test.each([
    ['openai-float.json', 'openai', ['[-0.0069292834, -0.005336422, -4.547132e-05]', '[0.10, 0.2, 0.3]'], 8],
    ['cohere-embed.json', 'cohere', ['[0.016296387,-0.008354187,-0.04699707]', '[0.10,1e-05,-0]'], 2],
    ['voyage-embed.json', 'voyage', ['[0.0038915, 0.010964, -0.035594]', '[1, 2, 3]'], 10],
    ['jina-embed.json', 'jina', ['[-0.14528547,-1.0152762,1.3449358]', '[1,2,3]'], 11],
    ['gemini-embed.json', 'gemini', ['[-0.010632273, 0.019375853, 0.020965198]', '[1, 2, 3]'], null],
  ] as const)('%s: every digit, and what was used', (name, kind, texts, tokens) => {
    const answer = decoded(name, kind, embedTask());
    expect(answer.vectors).toEqual(texts.map((text) => ({ form: 'float', text, dimensions: 3 })));
    expect(answer.usage?.input_tokens ?? null).toBe(tokens);
  });

  test.each([
    ['cohere-embed-images.json', 'cohere', 1_617, 1_610],
    ['voyage-multimodal.json', 'voyage', 3_576, 3_571],
  ] as const)('%s: images are a part of the tokens, and told apart', (name, kind, tokens, image) => {
    const answer = decoded(name, kind, embedTask({ input: ['a', seen('png')] }));
    expect(answer.vectors).toHaveLength(2);
    expect(answer.usage).toMatchObject({
      input_tokens: tokens,
      image_input_tokens: image,
      source: 'provider',
    });
  });

  test.each([
    ['promptTokensDetails', 258],
    ['promptTokenDetails', 258],
    ['other', undefined],
  ])("Gemini's %s tell the images apart where they are there", (member, image) => {
    const details = [
      { modality: 'TEXT', tokenCount: 4 },
      { modality: 'IMAGE', tokenCount: 258 },
    ];
    const body = {
      embeddings: [{ values: [1] }],
      usageMetadata: { promptTokenCount: 262, [member]: details },
    };
    const task = embedTask({ input: [seen('png')] });
    const { usage } = embedRerank.decode(
      Buffer.from(JSON.stringify(body)),
      requestOf(task),
      target('gemini'),
    );
    expect([usage?.input_tokens, usage?.image_input_tokens, usage?.source]).toEqual([262, image, 'provider']);
  });

  test('openai-base64.json goes on as it is to a caller that asked for base64', () => {
    const task = embedTask({ encoding: 'base64' });
    const answer = decoded('openai-base64.json', 'openai', task);
    expect(answer.vectors?.[0]).toEqual({ form: 'base64', text: 'AACAPwAAAMA=', dimensions: 2 });
  });

  test.each([
    ['cohere-rerank.json', 'cohere', { search_units: 1, source: 'provider', input_tokens: 0 }],
    ['voyage-rerank.json', 'voyage', { search_units: 1, source: 'provider', input_tokens: 26 }],
    ['jina-rerank.json', 'jina', { search_units: 1, source: 'provider', input_tokens: 815 }],
  ] as const)('%s: best first', (name, kind, usage) => {
    const answer = decoded(name, kind, rerankTask(['a', 'b', 'c']));
    expect(answer.ranking?.map(({ index }) => index)).toEqual([2, 0, 1]);
    expect(answer.usage).toMatchObject(usage);
  });

  test('a body that is cut off anywhere is a fault of the provider and never an answer', () => {
    const whole = fixture('openai-float.json');
    for (let at = 0; at < whole.lastIndexOf('}'); at += 3) {
      const read = () => embedRerank.decode(whole.subarray(0, at), requestOf(embedTask()), target('openai'));
      expect(read).toThrow(ProtocolFault);
    }
  });

  test('any bytes give an answer or a fault, no defect', () => {
    const json = fc.oneof(fc.json(), fc.string()).map((text) => Buffer.from(text));
    const kinds = fc.constantFrom<string>('openai', 'cohere', 'gemini', 'voyage');
    fc.assert(
      fc.property(json, kinds, fc.boolean(), (body, kind, ranks) => {
        const task = ranks ? rerankTask(['a']) : embedTask();
        let thrown: unknown = null;
        try {
          settleTask(embedRerank.decode(body, requestOf(task), target(kind)), task);
        } catch (error) {
          thrown = error;
        }
        expect(thrown === null || thrown instanceof ProtocolFault).toBe(true);
      }),
    );
  });

  test('an error object in a 200 keeps its class', () => {
    const body = Buffer.from('{"error":{"message":"Rate limit reached","type":"rate_limit_exceeded"}}');
    let fault: unknown = null;
    try {
      embedRerank.decode(body, requestOf(embedTask()), target('openai'));
    } catch (error) {
      fault = error;
    }
    expect(fault).toBeInstanceOf(StreamErrorFault);
    expect((fault as StreamErrorFault).fault.inner).toBe('rate_limit');
  });
});

describe('requests', () => {
  test('a number that a double cannot hold goes up with its digits', () => {
    const ext = parseExact('{"seed":12345678901234567890}') as Record<string, unknown>;
    const { text } = sent(requestOf(embedTask(), { ext }), target('openai'));
    expect(text).toContain('"seed":12345678901234567890');
  });

  test('one input stays one, a list a list', () => {
    const one = requestOf(embedTask({ input: ['a'], single: true }));
    expect(sent(one, target('openai')).json['input']).toBe('a');
    expect(sent(requestOf(embedTask({ input: ['a'] })), target('openai')).json['input']).toEqual(['a']);
  });

  test('Cohere gets the words of its second version, and texts that are too long are not cut', () => {
    const request = requestOf(embedTask({ input_type: 'query', dimensions: 256 }));
    const { path, json } = sent(request, target('cohere'));
    expect(path).toBe('/embed');
    expect(json).toEqual({
      model: 'their-model',
      texts: ['a', 'b'],
      input_type: 'search_query',
      embedding_types: ['float'],
      output_dimension: 256,
      truncate: 'NONE',
    });
  });

  test('an image is written from bytes alone: an address that nobody fetched is a defect, not a request', () => {
    const url = { content: [{ type: 'image' as const, src: { url: 'https://a.example/b.png' } }] };
    for (const kind of ['cohere', 'voyage', 'jina', 'gemini'] as const) {
      expect(() => sent(requestOf(embedTask({ input: [url] })), target(kind))).toThrowError('not fetched');
    }
    expect(embedRerank.inlines?.('image', 'https://a.example/b.png')).toBe(true);
  });

  test('no option puts other inputs beside those with images', () => {
    const request = requestOf(embedTask({ input: [seen('jpeg', 'a')] }), { dialect: 'native' });
    const extra = { inputs: [], model: 'pricier', max_tokens: 5 };
    const { json } = sent(request, target('cohere'), extra);
    expect(json).toMatchObject({ model: 'their-model', max_tokens: 5, inputs: [{ content: [{}, {}] }] });
    expect(sent(request, target('voyage'), extra)).toMatchObject({
      path: '/multimodalembeddings',
      json: { model: 'their-model', inputs: [{ content: [{}, {}] }] },
    });
  });

  test('what was held for stands above provider options', () => {
    const extra = { model: 'pricier', documents: ['x'], max_tokens_per_doc: 100 };
    const { json } = sent(requestOf(rerankTask(['a', 'b']), { dialect: 'native' }), target('cohere'), extra);
    expect(json).toMatchObject({ model: 'their-model', documents: ['a', 'b'], max_tokens_per_doc: 100 });
  });

  test.each([
    ['openai', 'dimensions'],
    ['jina', 'dimensions'],
    ['voyage', 'output_dimension'],
    ['cohere', 'output_dimension'],
  ] as const)(
    'the length asked for stands above what %s calls it among options and unknown fields',
    (kind, name) => {
      const other = { [name]: 8 };
      const { json } = sent(requestOf(embedTask({ dimensions: 4 }), { ext: other }), target(kind), other);
      expect(json[name]).toBe(4);
      expect(sent(requestOf(embedTask()), target(kind), other).json[name]).toBe(8);
    },
  );

  test('content that cannot be carried is refused even where losses are to be dropped', () => {
    const fixed = target('openai', { capabilities: able() });
    expect(() => sent(requestOf(embedTask({ dimensions: 4 })), fixed)).toThrowError(
      expect.objectContaining({ code: 'unsupported_parameter', param: 'dimensions' }),
    );
  });
});

describe('refusals', () => {
  test.each([
    [400, 'context_length', '{"message":"too many tokens in text number 1: total is 600"}'],
    [400, 'context_length', '{"detail":"The example at index 0 has too many tokens and does not fit"}'],
    [400, 'auth', '{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT"}}'],
    [401, 'auth', '{"message":"invalid api token"}'],
    [429, 'rate_limit', '{"error":{"code":429,"message":"Quota","status":"RESOURCE_EXHAUSTED"}}'],
    [422, 'client', '{"message":"invalid request: texts"}'],
    [502, 'server', '<html>'],
  ])('%i of class %s: %s', (status, kind, body) => {
    expect(embedRerank.classify(status, {}, Buffer.from(body)).class).toBe(kind);
  });
});

test('what is counted of a ranking never passes what is held for it', () => {
  const text = fc.string({ maxLength: 5_000 });
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 30 }), text, (documents, query) => {
      const task = rerankTask(documents, query);
      expect(estimatedUnits(task)).toBeLessThanOrEqual(unitsBound(task));
      expect(estimatedUnits(task)).toBeGreaterThanOrEqual(Math.ceil(documents.length / 100));
    }),
  );
});
