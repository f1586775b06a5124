// Bodies of the inference routes for the OpenAPI document. What a body may hold in full is its dialect's business; here
// stands what a reader needs first. A route without a shape of its own has the common one.

import { taskShapes } from './task-shapes.ts';

type Json = Record<string, unknown>;

export interface InferenceShape {
  readonly required: readonly string[];
  readonly members: Json;
  /** Whether a field that is not named is refused. */
  readonly strict?: boolean;
  readonly answer: string;
  /** Schema of the whole answer; absent: any object. */
  readonly reply?: Json;
  /** Sent as server-sent events with `stream: true`. */
  readonly streams: boolean;
  /** Takes an Idempotency-Key. */
  readonly keyed: boolean;
}

const text: Json = { type: 'string' };
const micro_usd: Json = { type: 'integer', minimum: 0, description: 'micro-USD' };
const anObject: Json = { type: 'object' };
const list = (items: Json): Json => ({ type: 'array', items });
const messages: Json = { type: 'array', minItems: 1, items: anObject };
const svc: Json = { type: 'object', description: 'route, metadata, compat, provider_options' };
const model: Json = { type: 'string', description: 'vendor/model' };
const stream: Json = { type: 'boolean' };
const input: Json = { anyOf: [text, list(anObject)], description: 'text, or items of the conversation' };

const part: Json = {
  type: 'object',
  required: ['type'],
  properties: {
    type: {
      type: 'string',
      enum: [
        ...['text', 'refusal', 'image', 'audio', 'video', 'document', 'search_result', 'reasoning'],
        ...['tool_call', 'tool_result', 'server_tool'],
      ],
    },
  },
};

const nativeMembers: Json = {
  model,
  messages: {
    type: 'array',
    minItems: 1,
    items: {
      type: 'object',
      required: ['role', 'content'],
      properties: {
        role: { type: 'string', enum: ['system', 'user', 'assistant', 'tool'] },
        name: text,
        content: { anyOf: [text, list(part)] },
      },
      additionalProperties: false,
    },
  },
  tools: list(anObject),
  tool_choice: {
    type: 'object',
    description: 'type auto, none, required (with names[]) or tool (with name)',
  },
  parallel_tools: { type: 'boolean' },
  generation: {
    type: 'object',
    properties: {
      max_tokens: { type: 'integer', minimum: 1 },
      temperature: { type: 'number', minimum: 0, maximum: 2 },
      top_p: { type: 'number', minimum: 0, maximum: 1 },
      top_k: { type: 'integer', minimum: 0 },
      min_p: { type: 'number', minimum: 0, maximum: 1 },
      stop: { type: 'array', maxItems: 16, items: text },
      seed: { type: 'integer' },
      frequency_penalty: { type: 'number', minimum: -2, maximum: 2 },
      presence_penalty: { type: 'number', minimum: -2, maximum: 2 },
      repetition_penalty: { type: 'number', minimum: 0, maximum: 2 },
      logit_bias: anObject,
      candidates: { type: 'integer', minimum: 1, maximum: 8 },
      logprobs: { type: 'integer', minimum: 0, maximum: 20 },
    },
    additionalProperties: false,
  },
  reasoning: { type: 'object', description: 'effort, max_tokens, mode, include' },
  output: { type: 'object', description: 'modalities[], format {type, name, schema, strict}, verbosity' },
  cache: { type: 'object', description: 'key, ttl' },
  service_tier: text,
  route: { type: 'object', description: 'sort, fallbacks, providers, endpoints, require, …' },
  metadata: { type: 'object', additionalProperties: text },
  compat: { type: 'string', enum: ['strict', 'warn', 'drop'] },
  provider_options: anObject,
  app: { type: 'string', maxLength: 64 },
  user: text,
  session: { type: 'string', maxLength: 128 },
  stream,
};

const nativeReply: Json = {
  type: 'object',
  required: [
    ...['id', 'request_id', 'model', 'created', 'candidates', 'usage', 'cost', 'resolved', 'provider_meta'],
    ...['timing', 'warnings'],
  ],
  properties: {
    id: text,
    request_id: text,
    model: text,
    created: { type: 'integer' },
    candidates: list({
      type: 'object',
      properties: { index: { type: 'integer' }, content: list(part), stop: { type: ['object', 'null'] } },
    }),
    usage: anObject,
    cost: { type: 'object', properties: { total_micro_usd: micro_usd } },
    resolved: anObject,
    provider_meta: anObject,
    timing: anObject,
    warnings: list(anObject),
  },
};

const dryRunReply: Json = {
  type: 'object',
  required: ['object', 'model', 'plan', 'excluded', 'reserve_micro', 'price_version', 'warnings', 'trace'],
  properties: {
    object: { type: 'string', const: 'dry_run' },
    model: text,
    plan: list({
      type: 'object',
      properties: {
        endpoint_id: text,
        provider: text,
        region: text,
        model: text,
        score: { type: 'number' },
        est_cost_micro: micro_usd,
        reason: text,
      },
    }),
    excluded: list({ type: 'object', properties: { endpoint_id: text, provider: text, reason: text } }),
    reserve_micro: micro_usd,
    price_version: text,
    warnings: list(anObject),
    trace: text,
  },
};

const COUNTED =
  'Tokens of the prompt; header `x-svc-count-source` tells `exact` or `estimate`. Nothing is held, answered or charged';
const count = { answer: COUNTED, streams: false, keyed: false };
const tokens: Json = { type: 'integer', minimum: 0 };
const countReply = (members: Json): Json => ({
  type: 'object',
  required: Object.keys(members),
  properties: members,
});

const ANSWER = 'The answer, whole or as server-sent events';
const call = { answer: ANSWER, streams: true, keyed: true };

/** By path. */
export const inferenceShapes: ReadonlyMap<string, InferenceShape> = new Map<string, InferenceShape>([
  ...taskShapes,
  [
    '/v1/chat/completions',
    { ...call, required: ['model', 'messages'], members: { model, messages, stream, svc } },
  ],
  [
    '/v1/messages',
    {
      ...call,
      required: ['model', 'max_tokens', 'messages'],
      members: { model, messages, stream, max_tokens: { type: 'integer', minimum: 1 }, svc },
    },
  ],
  ['/v1/responses', { ...call, required: ['model', 'input'], members: { model, input, stream, svc } }],
  [
    '/v1/completions',
    {
      ...call,
      required: ['model', 'prompt'],
      members: { model, prompt: text, stream, max_tokens: { type: 'integer', minimum: 1 }, svc },
    },
  ],
  [
    '/v1/svc/generate',
    { ...call, required: ['model', 'messages'], members: nativeMembers, strict: true, reply: nativeReply },
  ],
  [
    '/v1/svc/dry_run',
    {
      required: ['model', 'messages'],
      members: nativeMembers,
      strict: true,
      answer:
        'What a call with this body would be tried on and what it would hold; nothing is held or called',
      reply: dryRunReply,
      streams: false,
      keyed: false,
    },
  ],
  [
    '/v1/svc/count_tokens',
    {
      ...count,
      required: ['model', 'messages'],
      members: nativeMembers,
      strict: true,
      reply: countReply({
        object: { type: 'string', const: 'token_count' },
        model: text,
        input_tokens: tokens,
        source: { type: 'string', enum: ['exact', 'estimate'] },
        tokenizer: text,
      }),
    },
  ],
  [
    '/v1/messages/count_tokens',
    {
      ...count,
      required: ['model', 'messages'],
      members: { model, messages, svc },
      reply: countReply({ input_tokens: tokens }),
    },
  ],
  [
    '/v1/responses/input_tokens',
    {
      ...count,
      required: ['model', 'input'],
      members: { model, input, svc },
      reply: countReply({
        object: { type: 'string', const: 'response.input_tokens' },
        input_tokens: tokens,
      }),
    },
  ],
]);

/** Shape of a route that has none of its own. */
export const commonShape: InferenceShape = { ...call, required: ['model'], members: { model, svc } };
