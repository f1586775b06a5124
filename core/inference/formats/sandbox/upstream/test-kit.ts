// For tests of the sandbox: a request, and one call through adapter and upstream.
import type { Target } from '../../../canonical/contract.ts';
import type { CanonicalAnswer, CanonicalEvent, CanonicalRequest, Part } from '../../../canonical/types.ts';
import type { ExchangeHandler } from '../../../upstream/exchange.ts';
import type { InProcessUpstream } from '../../../upstream/in-process.ts';
import { sandboxAdapter } from './adapter.ts';
import { createSandboxUpstream } from './upstream.ts';

/** A request with one user message of `content`. */
export function userRequest(
  content: string | Part[],
  members: Partial<CanonicalRequest> & { options?: Record<string, unknown> } = {},
): CanonicalRequest {
  const { options, ...rest } = members;
  const parts: Part[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  return {
    model: 'sandbox/echo',
    messages: [{ role: 'user', content: parts }],
    generation: {},
    stream: true,
    include_usage: false,
    svc: {
      route: {},
      metadata: {},
      compat: 'warn',
      provider_options: options === undefined ? {} : { sandbox: options },
      reasoning: 'include',
    },
    dialect: 'chat',
    warnings: [],
    ...rest,
  };
}

/** An endpoint of the sandbox for `model`. */
export function sandboxTarget(model: string): Target {
  return {
    endpoint_id: 'ep_sandbox',
    provider: 'sandbox',
    family: 'sandbox',
    upstream_model: model,
    region: 'local-1',
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
      server_tools: [],
      prefill: false,
      reasoning_controls: [],
      max_output: 4_096,
    },
    flags: [],
  };
}

/** What an exchange brought. */
export interface Outcome {
  status: number;
  headers: Readonly<Record<string, string>>;
  reads: Buffer[];
  bytes: Buffer;
  /** Of a stream. */
  events: CanonicalEvent[];
}

export interface CallOptions {
  stream?: boolean;
  max_tokens?: number | null;
  attempt?: number;
  org_id?: string;
  now_ms?: number;
  upstream?: InProcessUpstream;
}

/** Runs one call to its end. */
export async function callSandbox(
  model: string,
  request: CanonicalRequest,
  options: CallOptions = {},
): Promise<Outcome> {
  const target = sandboxTarget(model);
  const { stream = true, attempt = 1, org_id = 'org_a' } = options;
  const { body } = sandboxAdapter.encode(request, target, {
    stream,
    max_tokens: options.max_tokens ?? null,
    user: null,
    cache_key: null,
    extra: {},
  });
  const upstream = options.upstream ?? createSandboxUpstream();
  const outcome: Outcome = { status: 0, headers: {}, reads: [], bytes: Buffer.alloc(0), events: [] };
  const now = options.now_ms === undefined ? {} : { now_ms: options.now_ms };
  await new Promise<void>((resolve) => {
    upstream({ body, attempt, org_id, ...now }, collector(outcome, resolve));
  });
  outcome.bytes = Buffer.concat(outcome.reads);
  if (stream && outcome.status === 200) {
    const decoder = sandboxAdapter.decoder(request, target);
    outcome.events = [...decoder.push(outcome.bytes), ...decoder.end()];
  }
  return outcome;
}

/** A handler that fills `outcome` and calls `done` at the end. */
export function collector(outcome: Outcome, done: () => void): ExchangeHandler {
  return {
    head: (status, headers) => {
      outcome.status = status;
      outcome.headers = headers;
    },
    data: (bytes) => outcome.reads.push(bytes),
    end: done,
    error: (problem) => {
      throw new Error(problem.message);
    },
  };
}

/** Whole answer of a call. */
export async function wholeAnswer(
  model: string,
  request: CanonicalRequest,
  options: CallOptions = {},
): Promise<CanonicalAnswer> {
  const { bytes } = await callSandbox(model, request, { ...options, stream: false });
  return sandboxAdapter.decode(bytes, request, sandboxTarget(model));
}

/** Text deltas of `events`, joined. */
export function textIn(events: readonly CanonicalEvent[]): string {
  return events.map((event) => (event.type === 'part_delta' ? (event.text ?? '') : '')).join('');
}

/** Number of text or argument deltas. */
export function piecesIn(events: readonly CanonicalEvent[]): number {
  return events.filter(
    (event) => event.type === 'part_delta' && (event.text !== undefined || event.arguments !== undefined),
  ).length;
}

/** The last event of `type`. */
export function lastOf<T extends CanonicalEvent['type']>(
  events: readonly CanonicalEvent[],
  type: T,
): Extract<CanonicalEvent, { type: T }> | undefined {
  return events.findLast((event): event is Extract<CanonicalEvent, { type: T }> => event.type === type);
}
