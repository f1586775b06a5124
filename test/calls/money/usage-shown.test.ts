// What of a provider's usage its callers see where both speak one format (docs/fidelity.md#usage): what was charged, with
// every count that clients of the format read, whatever the provider left out or made up. That the answers are as the
// document says is checked after the file, as of every answer in any test.
import { expect, test } from 'vitest';
import { eventsOf, type Json, open, type Reply } from '../caller.ts';
import { idOf, useWorld } from '../world.ts';
import { model, provider, wholeOf } from './family-bills.ts';
import { scripts } from './money-wires.ts';

const families = ['openaiChat', 'anthropic', 'openaiResponses'] as const;
type Family = (typeof families)[number];
const MAX_TOKENS = 500;

const world = useWorld({
  env: { CALLS_BEDROCK_KEY: 'bedrock-api-key-one' },
  extras: ({ script }) => ({
    providers: families.map((family) => provider(script.url, family)).join(''),
    models: families.map((family) => model(`shown-${family.toLowerCase()}`, family, {})).join(''),
  }),
});

/** Names of a family's counts: of the prompt, of the answer, their details, and a count in each. */
const names = {
  openaiChat: {
    input: 'prompt_tokens',
    output: 'completion_tokens',
    details: { prompt_tokens_details: 'cached_tokens', completion_tokens_details: 'reasoning_tokens' },
  },
  anthropic: {
    input: 'input_tokens',
    output: 'output_tokens',
    details: { cache_creation: 'ephemeral_5m_input_tokens', output_tokens_details: 'thinking_tokens' },
  },
  openaiResponses: {
    input: 'input_tokens',
    output: 'output_tokens',
    details: { input_tokens_details: 'cached_tokens', output_tokens_details: 'reasoning_tokens' },
  },
} as const;

/** Usage of nine tokens for thirty, told badly in each way. */
const ways: Readonly<Record<string, (family: Family) => Json>> = {
  'the two totals alone': (family) => {
    const { input, output } = names[family];
    return { [input]: 30, [output]: 9 };
  },
  'details that are null': (family) => {
    const { input, output, details } = names[family];
    return {
      ...{ [input]: 30, [output]: 9, total_tokens: 39 },
      ...Object.fromEntries(Object.keys(details).map((name) => [name, null])),
    };
  },
  'details below zero and in fractions': (family) => {
    const { input, output, details } = names[family];
    const [first, second] = Object.entries(details) as [[string, string], [string, string]];
    return {
      ...{ [input]: 30, [output]: 9, total_tokens: -39 },
      ...{ [first[0]]: { [first[1]]: -7 }, [second[0]]: { [second[1]]: 1.5 } },
    };
  },
  'more than the call can have used': (family) => {
    const { input, output } = names[family];
    const total = family === 'anthropic' ? {} : { total_tokens: 40_000_030 };
    return { [input]: 30, [output]: 40_000_000, ...total };
  },
};

const paths = {
  openaiChat: '/v1/chat/completions',
  anthropic: '/v1/messages',
  openaiResponses: '/v1/responses',
} as const;

function bodyOf(family: Family, stream: boolean): Json {
  const head = { model: `fam/shown-${family.toLowerCase()}`, stream };
  if (family === 'openaiResponses')
    return { ...head, input: 'Say something.', max_output_tokens: MAX_TOKENS };
  const options = family === 'openaiChat' && stream ? { stream_options: { include_usage: true } } : {};
  const messages = [{ role: 'user', content: 'Say something.' }];
  return { ...head, messages, max_tokens: MAX_TOKENS, ...options };
}

/** The usage that an answer ends with. */
function usageIn(reply: Reply, stream: boolean): Json {
  if (!stream) return (JSON.parse(reply.text) as Json)['usage'];
  const all = eventsOf(reply.text).map(({ usage, response }) => usage ?? response?.usage);
  return all.findLast((usage) => usage !== undefined && usage !== null) as Json;
}

const cases = families.flatMap((family) =>
  [true, false].flatMap((stream) => Object.keys(ways).map((way) => ({ family, stream, way }))),
);

test.each(cases)('$family, stream $stream: $way', async ({ family, stream, way }) => {
  const script = scripts[family];
  const usage = (ways[way] as (family: Family) => Json)(family);
  world().script.on(`fam-shown-${family.toLowerCase()}`, script.site, (response) => {
    const content_type = stream ? script.content_type : 'application/json';
    response.writeHead(200, { 'content-type': content_type });
    if (!stream) return void response.end(JSON.stringify(wholeOf(family, usage)));
    response.end(Buffer.concat([script.open(null), script.text('a heron'), script.close(usage)]));
  });
  const org = await world().org();
  const reply = await open(world().gateway.base_url, {
    path: paths[family],
    body: JSON.stringify(bodyOf(family, stream)),
    headers: { authorization: `Bearer ${org.live_key}` },
  }).reply;
  expect(reply.status, reply.text).toBe(200);
  const { row } = await world().ended(org, idOf(reply));
  expect(row).toMatchObject({ usage_source: 'provider', input_tokens: 30 });
  expect(row.output_tokens).toBe(way.startsWith('more') ? MAX_TOKENS : 9);
  const { input, output, details } = names[family];
  const shown = usageIn(reply, stream);
  expect([shown[input], shown[output]]).toEqual([row.input_tokens, row.output_tokens]);
  if (family !== 'anthropic') expect(shown['total_tokens']).toBe(row.input_tokens + row.output_tokens);
  if (family === 'openaiResponses') {
    for (const [member, count] of Object.entries(details))
      expect(shown[member]).toMatchObject({ [count]: 0 });
  }
});
