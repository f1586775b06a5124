// What tests of the messages dialect share: fixtures, a target that can do everything, and the two ends of a
// reply.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Relay, Target } from '../../core/inference/canonical/contract.ts';
import type { CanonicalRequest, ReplyEnd, ReplyMeta, Usage } from '../../core/inference/canonical/types.ts';

const folder = fileURLToPath(
  new URL('../../core/inference/formats/anthropic-messages/fixtures/', import.meta.url),
);

/** Bytes of the fixture `name`. */
export function fixture(name: string): Buffer {
  return readFileSync(folder + name);
}

/** Names of all fixtures that end in `ending`, without it. */
export function fixtures(ending: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(ending))
    .map((name) => name.slice(0, -ending.length))
    .sort();
}

/** An endpoint of the family that lists everything; `change` narrows it. */
export function target(change: Partial<Target['capabilities']> = {}, flags: string[] = []): Target {
  return {
    endpoint_id: 'ep_01TEST',
    provider: 'anthropic',
    family: 'anthropic_messages',
    upstream_model: 'claude-opus-4-5-20251101',
    region: 'us',
    flags,
    capabilities: {
      tools: true,
      parallel_tools: true,
      json_schema: true,
      vision: true,
      audio: false,
      pdf: true,
      reasoning: true,
      cache: true,
      parameters: ['top_k'],
      betas: [],
      server_tools: [],
      prefill: true,
      reasoning_controls: ['budget', 'off'],
      max_output: 32_000,
      ...change,
    },
  };
}

export const meta: ReplyMeta = {
  request_id: '01K0PENF1X7RE5TESTREQUEST1',
  base_url: 'https://llm.example',
  model: 'anthropic/claude-opus',
  created: 1_795_000_000,
  provider: 'anthropic',
  endpoint_id: 'ep_01TEST',
  include_usage: true,
  reasoning: 'include',
  legacy_functions: false,
  input_estimate: 17,
};

/** The end of a reply that cost 1,234 micro-USD. */
export function paid(usage: Usage): ReplyEnd {
  return {
    usage,
    cost: {
      total_micro_usd: 1_234,
      lines: [{ kind: 'input', units: usage.input_tokens, unit_price_nano: 5_000, micro_usd: 1_234 }],
      price_version: 'pv_1',
    },
    warnings: [],
  };
}

export const counted: Usage = {
  input_tokens: 7,
  output_tokens: 5,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  reasoning_tokens: 0,
  source: 'estimate',
};

/** The smallest request of a dialect, with `change` over it. */
export function request(change: Partial<CanonicalRequest> = {}): CanonicalRequest {
  return {
    model: 'anthropic/claude-opus',
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
    generation: { max_tokens: 1_024 },
    stream: true,
    include_usage: true,
    svc: { route: {}, metadata: {}, compat: 'warn', provider_options: {}, reasoning: 'include' },
    dialect: 'messages',
    warnings: [],
    ...change,
  };
}

/** `bytes` cut at `cuts` (any order), as a network would. */
export function cutUp(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const at = [...new Set(cuts.map((cut) => Math.min(cut, bytes.length)))].sort((a, b) => a - b);
  const reads: Buffer[] = [];
  let from = 0;
  for (const to of [...at, bytes.length]) {
    // A copy: a relay that kept a reference to a read would see it overwritten.
    reads.push(Buffer.from(bytes.subarray(from, to)));
    from = to;
  }
  return reads;
}

/**
 * Everything a relay writes for `reads`, ended with its own usage; the reads are wiped after they were taken.
 */
export function runRelay(relay: Relay, reads: readonly Buffer[]): string {
  const out: Buffer[] = [];
  for (const read of reads) {
    out.push(Buffer.from(relay.push(read)));
    read.fill(0);
  }
  out.push(Buffer.from(relay.close()));
  const end = paid(relay.state.usage ?? counted);
  const last =
    relay.state.fault === null
      ? relay.end(end)
      : relay.fail({ code: 'upstream_error', message: 'The provider failed.' }, end);
  out.push(Buffer.from(last));
  return Buffer.concat(out).toString('utf8');
}

export interface Finished {
  /** The message as the official client would have it, or null. */
  message: Record<string, unknown> | null;
  error: Record<string, unknown> | null;
}

/**
 * Folds a stream into its final message the way the clients do: deltas appended, later usage over earlier.
 */
export function finalMessage(stream: string): Finished {
  let message: Record<string, unknown> | null = null;
  let json = '';
  for (const block of stream.split('\n\n')) {
    const line = block.split('\n').find((text) => text.startsWith('data: '));
    if (line === undefined) continue;
    const event = JSON.parse(line.slice(6));
    if (event.type === 'error') return { message, error: event };
    if (event.type === 'message_start') message = event.message;
    if (message === null) continue;
    const content = message['content'] as Record<string, unknown>[];
    const open = content.at(-1) ?? {};
    if (event.type === 'content_block_start') {
      content.push({ ...event.content_block });
      json = '';
    } else if (event.type === 'content_block_delta') {
      const { type, ...members } = event.delta;
      if (type === 'input_json_delta') json += members.partial_json;
      else if (type === 'citations_delta')
        open['citations'] = [...((open['citations'] as []) ?? []), members.citation];
      else if (type === 'signature_delta') open['signature'] = members.signature;
      else for (const [key, text] of Object.entries(members)) open[key] = `${open[key] ?? ''}${text}`;
    } else if (event.type === 'content_block_stop') {
      // As text, so that digits beyond 2^53 are compared.
      if (json !== '') open['input'] = json;
    } else if (event.type === 'message_delta') {
      Object.assign(message, event.delta, { svc: event.svc });
      const reported = Object.entries(event.usage).filter(([, value]) => value !== null);
      message['usage'] = { ...(message['usage'] as object), ...Object.fromEntries(reported) };
    }
  }
  return { message, error: null };
}
