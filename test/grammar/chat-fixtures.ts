// Shared by the tests of the chat dialect and its adapter: recorded forms of streams, a target, and a reader of chat
// streams that knows nothing of the code under test.
import { readdirSync, readFileSync } from 'node:fs';
import type { Target } from '@svc/core/inference/canonical/contract.ts';
import type {
  CanonicalRequest,
  ReplyEnd,
  ReplyMeta,
  UpstreamFault,
  Usage,
} from '@svc/core/inference/canonical/types.ts';

const FOLDER = new URL('../../core/inference/formats/openai-chat/fixtures/', import.meta.url);

export interface Fixture {
  name: string;
  sse: Buffer;
  flags: string[];
  meta: { expected?: unknown; note: string };
  file: URL;
}

/** Every fixture of the folder, by name. */
export function chatFixtures(): Fixture[] {
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith('.sse'))
    .sort()
    .map((file) => {
      const name = file.slice(0, -4);
      const meta = JSON.parse(readFileSync(new URL(`${name}.json`, FOLDER), 'utf8'));
      return {
        name,
        sse: readFileSync(new URL(file, FOLDER)),
        flags: meta.flags ?? [],
        meta,
        file: new URL(`${name}.json`, FOLDER),
      };
    });
}

export function chatTarget(flags: readonly string[] = [], parameters: readonly string[] = []): Target {
  return {
    endpoint_id: 'ep_1',
    provider: 'acme',
    family: 'openai_chat',
    upstream_model: 'fast-1-upstream',
    region: 'eu-west',
    capabilities: {
      tools: true,
      parallel_tools: true,
      json_schema: true,
      vision: true,
      audio: true,
      pdf: true,
      reasoning: true,
      cache: true,
      parameters,
      betas: [],
      server_tools: [],
      prefill: false,
      reasoning_controls: ['effort', 'off'],
      max_output: 16_384,
    },
    flags,
  };
}

export function chatMeta(change: Partial<ReplyMeta> = {}): ReplyMeta {
  return {
    request_id: '01JD0000000000000000000000',
    base_url: 'https://llm.example',
    model: 'acme/fast-1',
    created: 1_763_740_000,
    provider: 'acme',
    endpoint_id: 'ep_1',
    include_usage: false,
    reasoning: 'include',
    legacy_functions: false,
    input_estimate: 10,
    ...change,
  };
}

export const someUsage: Usage = {
  input_tokens: 19,
  output_tokens: 10,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  reasoning_tokens: 0,
  source: 'provider',
};

export function chatEnd(usage: Usage | null = null, change: Partial<ReplyEnd> = {}): ReplyEnd {
  return {
    usage: usage ?? someUsage,
    cost: { total_micro_usd: 123, lines: [], price_version: 'pv_1' },
    warnings: [],
    ...change,
  };
}

export function chatRequest(change: Partial<CanonicalRequest> = {}): CanonicalRequest {
  return {
    model: 'acme/fast-1',
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
    generation: {},
    stream: true,
    include_usage: false,
    svc: { route: {}, metadata: {}, compat: 'warn', provider_options: {}, reasoning: 'include' },
    dialect: 'chat',
    warnings: [],
    ...change,
  };
}

export interface ReadChoice {
  content: string;
  refusal: string;
  reasoning: string;
  details: unknown[];
  calls: { id: string; type: string; name: string; arguments: string; extra: unknown }[];
  function_call: { name: string; arguments: string } | null;
  annotations: unknown[];
  images: unknown[];
  logprobs: unknown[];
  finish: string | null;
}

export interface ReadStream {
  choices: Record<number, ReadChoice>;
  usage: unknown;
  svc: unknown;
  error: unknown;
}

/** What a client makes of the stream; throws on anything that is not JSON. */
// biome-ignore lint/suspicious/noExplicitAny: wire JSON is read as it comes
type Wire = any;

export function readChatStream(bytes: string): ReadStream {
  const read: ReadStream = { choices: {}, usage: null, svc: null, error: null };
  for (const frame of bytes.split('\n\n')) {
    if (!frame.startsWith('data: ') || frame === 'data: [DONE]') continue;
    const chunk: Wire = JSON.parse(frame.slice(6));
    if (chunk.error) read.error = chunk.error;
    if (chunk.usage) read.usage = chunk.usage;
    if (chunk.svc) read.svc = chunk.svc;
    for (const choice of chunk.choices ?? []) readChoice(read, choice);
  }
  return read;
}

function readChoice(read: ReadStream, { index, delta, logprobs, finish_reason }: Wire): void {
  read.choices[index] ??= {
    content: '',
    refusal: '',
    reasoning: '',
    details: [],
    calls: [],
    function_call: null,
    annotations: [],
    images: [],
    logprobs: [],
    finish: null,
  };
  const choice = read.choices[index] as ReadChoice;
  choice.content += delta.content ?? '';
  choice.refusal += delta.refusal ?? '';
  choice.reasoning += delta.reasoning_content ?? delta.reasoning ?? '';
  choice.details.push(...(delta.reasoning_details ?? []));
  choice.annotations.push(...(delta.annotations ?? []));
  choice.images.push(...(delta.images ?? []));
  choice.logprobs.push(...(logprobs?.content ?? []));
  for (const call of delta.tool_calls ?? []) {
    choice.calls[call.index] ??= { id: '', type: '', name: '', arguments: '', extra: null };
    const target = choice.calls[call.index] as ReadChoice['calls'][number];
    target.id += call.id ?? '';
    target.type += call.type ?? '';
    target.name += call.function?.name ?? call.custom?.name ?? '';
    target.arguments += call.function?.arguments ?? call.custom?.input ?? '';
    target.extra ??= call.extra_content ?? null;
  }
  if (delta.function_call) {
    choice.function_call ??= { name: '', arguments: '' };
    choice.function_call.name += delta.function_call.name ?? '';
    choice.function_call.arguments += delta.function_call.arguments ?? '';
  }
  if (finish_reason !== null && finish_reason !== undefined) choice.finish = finish_reason;
}

/** `bytes` in pieces that end at the given places (any order, any repetition). */
export function splitAt(bytes: Buffer, places: readonly number[]): Buffer[] {
  const cuts = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  const pieces: Buffer[] = [];
  let from = 0;
  for (const cut of [...cuts, bytes.length]) {
    // A copy, as each read has its own memory: what a relay kept of it must not be a view.
    pieces.push(Buffer.from(bytes.subarray(from, cut)));
    from = cut;
  }
  return pieces;
}

/** A relay's output over `pieces`, up to its end or its fault. */
export function runRelay(
  relay: {
    readonly state: { readonly fault: UpstreamFault | null; readonly usage: Usage | null };
    push(bytes: Buffer): Buffer | string;
    close(): Buffer | string;
    end(end: ReplyEnd): Buffer | string;
    fail(fault: { code: 'upstream_error'; message: string }, end: ReplyEnd): Buffer | string;
  },
  pieces: readonly Buffer[],
  change: Partial<ReplyEnd> = {},
): string {
  let out = '';
  for (const piece of pieces) {
    out += relay.push(piece).toString();
    // The read's memory is used again.
    piece.fill(0x78);
  }
  out += relay.close().toString();
  const end = chatEnd(relay.state.usage, change);
  const fault = { code: 'upstream_error', message: 'failed' } as const;
  return out + (relay.state.fault === null ? relay.end(end) : relay.fail(fault, end)).toString();
}
