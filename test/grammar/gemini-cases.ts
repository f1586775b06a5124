// What tests of the Gemini family share: its fixtures, and an endpoint that can do everything.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { EncodeOptions, Target } from '../../core/inference/canonical/contract.ts';
import type { CanonicalEvent, CanonicalRequest } from '../../core/inference/canonical/types.ts';
import { gemini } from '../../core/inference/formats/gemini/upstream/index.ts';
import { request } from './messages-cases.ts';

const folder = fileURLToPath(new URL('../../core/inference/formats/gemini/fixtures/', import.meta.url));

/** Bytes of the fixture `name`. */
export function fixture(name: string): Buffer {
  return readFileSync(folder + name);
}

/** Names of all streams. */
export function streams(): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.sse'))
    .map((name) => name.slice(0, -4))
    .sort();
}

/** An endpoint of the family that lists everything; `change` narrows it. */
export function target(change: Partial<Target['capabilities']> = {}, flags: string[] = []): Target {
  return {
    endpoint_id: 'ep_01TEST',
    provider: 'google',
    family: 'gemini',
    upstream_model: 'gemini-3-flash-preview',
    region: 'global',
    flags,
    capabilities: {
      tools: true,
      parallel_tools: true,
      json_schema: true,
      vision: true,
      audio: true,
      pdf: true,
      reasoning: true,
      cache: true,
      parameters: [],
      betas: [],
      server_tools: ['google_search'],
      prefill: true,
      reasoning_controls: ['effort'],
      max_output: 65_536,
      ...change,
    },
  };
}

/** A request of the chat dialect. */
export function asked(change: Partial<CanonicalRequest> = {}): CanonicalRequest {
  return request({ dialect: 'chat', ...change });
}

/** Events of `bytes`, read `step` bytes at a time. */
export function decode(bytes: Buffer, step = bytes.length, of = asked()): CanonicalEvent[] {
  const decoder = gemini.decoder(of, target());
  const events: CanonicalEvent[] = [];
  for (let at = 0; at < bytes.length; at += Math.max(1, step)) {
    events.push(...decoder.push(bytes.subarray(at, at + Math.max(1, step))));
  }
  return [...events, ...decoder.end()];
}

/** What every request here is written with. */
export const options: EncodeOptions = {
  stream: true,
  max_tokens: 4_096,
  user: 'hash',
  cache_key: 'hash',
  extra: {},
};

const hi: CanonicalRequest['messages'] = [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }];

// biome-ignore lint/suspicious/noExplicitAny: every assertion says what it expects
export type Body = Record<string, any>;

/** The body written for a request of `change`, which says Hi where it says nothing else. */
export function wire(
  change: Partial<CanonicalRequest>,
  to: Target = target(),
  more: Partial<EncodeOptions> = {},
): Body {
  const { body } = gemini.encode(asked({ messages: hi, ...change }), to, { ...options, ...more });
  return JSON.parse(body.toString()) as Body;
}

/** `class:code` of what is lost of it. */
export function codes(change: Partial<CanonicalRequest>, to: Target = target()): string[] {
  return gemini.losses(asked({ messages: hi, ...change }), to).map((loss) => `${loss.class}:${loss.code}`);
}
