// The requests and answers of the native generation routes, for the OpenAPI document. Fields that are not listed here
// are refused.
import { Type } from 'typebox';
import { named, nullable, oneOf } from '../../../../kernel/index.ts';
import {
  anyObject,
  CallCost,
  type CallShape,
  costExample,
  count,
  exampleIds,
  text,
  Warning,
  weatherSchema,
} from '../../../caller/shapes.ts';
import { Citation, kind, said } from './part-shapes.ts';
import { Body } from './request-shapes.ts';

const AnswerPart = named('AnswerPart', Type.Union(said));
const STOPS = [
  'end_turn',
  'max_tokens',
  'stop_sequence',
  'tool_use',
  'content_filter',
  'refusal',
  'pause',
  'context_window',
  'compaction',
  'malformed',
  'error',
] as const;
const Stop = named(
  'Stop',
  Type.Object({
    reason: oneOf(STOPS, 'StopReason'),
    sequence: nullable(text()),
    detail: Type.Unknown({ description: 'What the provider adds, or null.' }),
  }),
);
const CallUsage = named(
  'CallUsage',
  Type.Object(
    {
      input_tokens: count(),
      output_tokens: count(),
      cache_read_tokens: count(),
      cache_write_tokens: count(),
      reasoning_tokens: count('Part of the output.'),
      source: oneOf(['provider', 'estimate'], 'UsageSource'),
    },
    { description: 'Further kinds are added where the provider counts them.' },
  ),
);
export const Resolved = named(
  'Resolved',
  Type.Object({
    provider: text(),
    endpoint_id: text(),
    upstream_model: Type.Optional(text()),
    region: Type.Optional(text()),
  }),
);
const ProviderMeta = named(
  'ProviderMeta',
  Type.Object({ provider: text(), endpoint_id: text(), region: text(), attempt: count() }),
);
const milliseconds = nullable(Type.Number());
const Timing = named(
  'CallTiming',
  Type.Object({ ttft_ms: milliseconds, duration_ms: Type.Number(), upstream_ttft_ms: milliseconds }),
);
const ending = {
  usage: CallUsage,
  cost: CallCost,
  resolved: Resolved,
  provider_meta: ProviderMeta,
  timing: Timing,
  warnings: Type.Array(Warning),
};
const Answer = named(
  'GenerateAnswer',
  Type.Object({
    id: text(),
    request_id: text(),
    model: text(),
    created: Type.Integer({ description: 'epoch seconds' }),
    candidates: Type.Array(
      named(
        'Candidate',
        Type.Object({ index: count(), content: Type.Array(AnswerPart), stop: nullable(Stop) }),
      ),
    ),
    ...ending,
  }),
);
const place = { seq: count('Increases by one.'), candidate: count(), part: count() };
const Event = named(
  'GenerateStreamEvent',
  Type.Union(
    [
      named(
        'GenerateStartEvent',
        Type.Object({
          type: kind('start'),
          seq: count(),
          id: text(),
          model: text(),
          created: Type.Integer(),
          provider_meta: ProviderMeta,
        }),
      ),
      named(
        'GeneratePartStartEvent',
        Type.Object({ type: kind('part_start'), ...place, content: AnswerPart }),
      ),
      named(
        'GeneratePartDeltaEvent',
        Type.Object(
          {
            type: kind('part_delta'),
            ...place,
            text: Type.Optional(text()),
            arguments: Type.Optional(text()),
            data: Type.Optional(text()),
            signature: Type.Optional(text()),
            citation: Type.Optional(Citation),
            logprobs: Type.Optional(Type.Array(anyObject('Log probabilities of a token.'))),
          },
          { description: 'One of the members; it is appended to what the part has so far.' },
        ),
      ),
      named('GeneratePartStopEvent', Type.Object({ type: kind('part_stop'), ...place })),
      named(
        'GenerateStopEvent',
        Type.Object({ type: kind('stop'), seq: count(), candidate: count(), stop: nullable(Stop) }),
      ),
      named('GenerateEndEvent', Type.Object({ type: kind('end'), seq: count(), ...ending })),
      named(
        'GenerateErrorEvent',
        Type.Object({
          type: kind('error'),
          seq: count(),
          error: anyObject('As in an error answer.'),
          usage: CallUsage,
          cost: CallCost,
        }),
      ),
    ],
    { description: 'The `data:` line of an event; its `event:` line has the same type.' },
  ),
);

const usage = {
  input_tokens: 24,
  output_tokens: 8,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  reasoning_tokens: 0,
  source: 'provider',
};
const endpoint_id = 'ep_01KACZ3V8S6T5R4Q3P2N1M0K9J';
const provider_meta = { provider: 'openai', endpoint_id, region: 'us', attempt: 1 };
const ended = {
  usage,
  cost: costExample,
  resolved: { provider: 'openai', endpoint_id, upstream_model: 'gpt-4o-mini-2024-07-18', region: 'us' },
  provider_meta,
  timing: { ttft_ms: 212, duration_ms: 640, upstream_ttft_ms: 208 },
  warnings: [],
};
const known = { id: exampleIds.request_id, model: 'openai/gpt-4o-mini', created: exampleIds.created };
const stop = { reason: 'end_turn', sequence: null, detail: null };
const question = { role: 'user', content: 'What is the weather in Bengaluru?' };
const weather = { name: 'get_weather', description: 'The weather of a city', schema: weatherSchema };
const call = {
  type: 'tool_call',
  id: exampleIds.call_id,
  name: 'get_weather',
  arguments: '{"city":"Bengaluru"}',
};
const hello = { model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] };

export const generateShape: CallShape = {
  body: Body,
  answer: Answer,
  event: Event,
  examples: {
    request: {
      text: { ...hello, generation: { max_tokens: 64 } },
      tools: { model: 'openai/gpt-4o-mini', messages: [question], tools: [weather], stream: true },
      tool_result: {
        model: 'openai/gpt-4o-mini',
        messages: [
          question,
          { role: 'assistant', content: [call] },
          {
            role: 'tool',
            content: [{ type: 'tool_result', tool_call_id: exampleIds.call_id, content: '24 °C, clear' }],
          },
        ],
        tools: [weather],
      },
    },
    answer: {
      ...known,
      request_id: exampleIds.request_id,
      candidates: [{ index: 0, content: [{ type: 'text', text: 'Hello! How can I help?' }], stop }],
      ...ended,
    },
    events: {
      start: { type: 'start', seq: 0, ...known, provider_meta },
      part_start: { type: 'part_start', seq: 1, candidate: 0, part: 0, content: { type: 'text', text: '' } },
      part_delta: { type: 'part_delta', seq: 2, candidate: 0, part: 0, text: 'Hello!' },
      part_stop: { type: 'part_stop', seq: 3, candidate: 0, part: 0 },
      stop: { type: 'stop', seq: 4, candidate: 0, stop },
      end: { type: 'end', seq: 5, ...ended },
    },
  },
};

export const generateCountShape: CallShape = {
  body: Body,
  answer: named(
    'TokenCount',
    Type.Object({
      object: kind('token_count'),
      model: text(),
      input_tokens: count(),
      source: oneOf(['exact', 'estimate'], 'CountSource'),
      tokenizer: Type.Optional(nullable(text())),
    }),
  ),
  examples: {
    request: { text: hello },
    answer: {
      object: 'token_count',
      model: 'openai/gpt-4o-mini',
      input_tokens: 8,
      source: 'exact',
      tokenizer: 'o200k_base',
    },
  },
};

export const dryRunShape: CallShape = {
  body: Body,
  answer: named(
    'DryRun',
    Type.Object({
      object: kind('dry_run'),
      model: text(),
      plan: Type.Array(
        named(
          'DryRunAttempt',
          Type.Object({
            endpoint_id: text(),
            provider: text(),
            region: text(),
            model: text(),
            score: Type.Number(),
            est_cost_micro: count(),
            reason: text(),
          }),
        ),
      ),
      excluded: Type.Array(
        named('DryRunExclusion', Type.Object({ endpoint_id: text(), provider: text(), reason: text() })),
      ),
      reserve_micro: nullable(count('The credit that the call would hold.')),
      price_version: nullable(text()),
      warnings: Type.Array(Warning),
      trace: text(),
    }),
  ),
  examples: {
    request: { text: hello },
    answer: {
      object: 'dry_run',
      model: 'openai/gpt-4o-mini',
      plan: [
        {
          endpoint_id,
          provider: 'openai',
          region: 'us',
          model: 'openai/gpt-4o-mini',
          score: 0.93,
          est_cost_micro: 12,
          reason: 'cheapest',
        },
      ],
      excluded: [],
      reserve_micro: 9_830,
      price_version: 'pv_01KACZ3V8S6T5R4Q3P2N1M0K9J',
      warnings: [],
      trace: 'v1 1=openai',
    },
  },
};
