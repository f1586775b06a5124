// One cell of the matrix, run: the dialect reads, the family's losses are listed, and the body is written as a call
// would write it, in the raw lane where there is one.
import { edited } from '../../core/inference/call/attempt/edits.ts';
import type { EncodeOptions, RawLane, Target } from '../../core/inference/canonical/contract.ts';
import { dropsTools } from '../../core/inference/canonical/tools/server-tools.ts';
import type { CanonicalRequest, Family } from '../../core/inference/canonical/types.ts';
import { builtIn } from '../../core/inference/formats/index.ts';
import { endpoint } from './endpoints.ts';
import type { Dialect, GenerationFamily, Json } from './types.ts';

const { adapters, dialects, raw_lanes: rawLanes } = builtIn;

export const PATHS: Readonly<Record<Dialect, string>> = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
  completions: '/v1/completions',
  native: '/v1/svc/generate',
};

export const CAP = 4_096;

const SMALLEST: Readonly<Record<Dialect, Json>> = {
  chat: { messages: [{ role: 'user', content: 'Hi' }], max_tokens: CAP },
  responses: { input: 'Hi', max_output_tokens: CAP },
  messages: { messages: [{ role: 'user', content: 'Hi' }], max_tokens: CAP },
  completions: { prompt: 'Hi', max_tokens: CAP },
  native: { messages: [{ role: 'user', content: 'Hi' }], generation: { max_tokens: CAP } },
};

function over(base: Json, more: Json): Json {
  const out: Json = { ...base };
  for (const [name, value] of Object.entries(more)) {
    const held = out[name];
    const both = [held, value].every((one) => typeof one === 'object' && one !== null && !Array.isArray(one));
    out[name] = both ? over(held as Json, value as Json) : value;
  }
  return out;
}

/** The smallest body of `dialect` with `more` over it. */
export function bodyOf(dialect: Dialect, more: Json): Json {
  return over({ model: 'acme/fast-1', ...SMALLEST[dialect] }, more);
}

/** Reads `body` as the route of `dialect` would. Headers may come in a member `headers` of a feature's body. */
export function read(dialect: Dialect, body: Json): CanonicalRequest {
  const { headers = {}, ...rest } = body;
  const reader = dialects.get(PATHS[dialect]);
  if (reader === undefined) throw new Error(`no dialect ${dialect}`);
  return reader.read(structuredClone(rest), headers as Record<string, string>);
}

/** The raw lane of a caller of `dialect` at `target`, where there is one. */
export function rawLaneOf(dialect: Dialect, target: Target, request: CanonicalRequest): RawLane | undefined {
  const lane = rawLanes.get(`${dialect} ${target.family}`);
  const adapter = adapters.get(target.family);
  if (adapter === undefined || dropsTools(request, adapter, target)) return undefined;
  return lane?.serves?.(target, request) === false ? undefined : lane;
}

export interface Sent {
  readonly body: Json;
  readonly text: string;
  readonly raw: boolean;
  /** `class:code` in order. */
  readonly lost: readonly string[];
  readonly params: readonly string[];
}

/** Options of a call: HMACs stand for user and cache key, as they do upstream. */
export function optionsFor(request: CanonicalRequest, stream: boolean): EncodeOptions {
  return {
    stream,
    max_tokens: request.generation.max_tokens ?? CAP,
    user: request.user === undefined ? null : 'hmac-of-user',
    cache_key: request.cache?.key === undefined ? null : 'hmac-of-key',
    extra: {},
  };
}

/** Media by address in `request` as the call would fetch them for `family`. */
export function fetched(request: CanonicalRequest, family: Family): CanonicalRequest {
  const { inlines } = adapters.get(family) ?? {};
  if (inlines === undefined) return request;
  const messages = request.messages.map((message) => ({
    ...message,
    content: message.content.map((part) => {
      if (!('src' in part) || !('url' in part.src) || !inlines(part.type, part.src.url)) return part;
      return { ...part, src: { base64: 'ZmV0Y2hlZA==', media_type: 'image/png' } };
    }),
  }));
  return { ...request, messages };
}

/** What `target` is sent when a caller of `dialect` has `more` in its body. */
export function sendTo(target: Target, dialect: Dialect, more: Json, stream = true): Sent {
  const whole = bodyOf(dialect, { ...more, ...(stream ? { stream: true } : {}) });
  const request = read(dialect, whole);
  const adapter = adapters.get(target.family);
  if (adapter === undefined) throw new Error(`no adapter ${target.family}`);
  const losses = adapter.losses(request, target);
  const lane = rawLaneOf(dialect, target, request);
  const options = optionsFor(request, stream);
  const { headers: _headers, ...body } = whole;
  const bytes = Buffer.from(JSON.stringify(body));
  // In the raw lane nothing is written for an endpoint that the route leaves out.
  const out = lane !== undefined && losses.some((loss) => loss.class === 'content');
  const upstream = out
    ? undefined
    : (lane?.request(bytes, request, target, options) ??
      adapter.encode(edited(fetched(request, target.family), 0, { adapter, target }).sent, target, options));
  const text = upstream?.body.toString() ?? '{}';
  return {
    body: JSON.parse(text) as Json,
    text,
    raw: lane !== undefined,
    lost: losses.map((loss) => `${loss.class}:${loss.code}`),
    params: losses.map(({ param }) => param),
  };
}

/** The same for the ordinary endpoint of `family`, or for the one that lists everything optional. */
export function send(
  dialect: Dialect,
  family: GenerationFamily | 'sandbox',
  more: Json,
  how: { listed?: boolean; stream?: boolean } = {},
): Sent {
  return sendTo(endpoint(family, how.listed ?? false), dialect, more, how.stream ?? true);
}
