// How many tokens a prompt has. Free: no hold, no row, no tokens counted against limits. What counts depends on the
// endpoint that the call would try first: a bundled tokenizer, the provider's own count, or else an estimate.
import { findModel } from '../../../catalog/index.ts';
import { ServiceError } from '../../../kernel/index.ts';
import { inputTokensBound } from '../../../pricing/index.ts';
import type { Counted, PromptCount, PromptCounting } from '../../canonical/contract.ts';
import type { CanonicalRequest } from '../../canonical/types.ts';
import { isExact, type TokenCounter } from '../../tokens/counter.ts';
import type { Credential } from '../../upstream/credentials.ts';
import { ProtocolFault } from '../../wire/fault.ts';
import { scopeOf } from '../admit/admit.ts';
import { type Decision, decideCall } from '../admit/draft.ts';
import { promptSize } from '../admit/prompt.ts';
import { edited } from '../attempt/edits.ts';
import { credentialFor, messageFor, rawLaneOf, targetOf } from '../attempt/lane.ts';
import { wantedMedia } from '../attempt/media.ts';
import { newRecord } from '../record.ts';
import type { CallDeps, Incoming } from '../types.ts';

const UPSTREAM_MS = 2_000;
/** A count takes a few dozen bytes. */
const REPLY_BYTES_MAX = 65_536;
/**
 * Tokens that chat models read around each message and before their answer, by the published rule for OpenAI's
 * models. For reasoning models nothing is published and the sum was observed to differ by one, so a count by this
 * rule is not exact.
 */
const TOKENS_PER_MESSAGE = 3;
const TOKENS_PER_NAME = 1;
const TOKENS_OF_ANSWER = 3;

/**
 * The size of the prompt that a call with this body would send first.
 * @throws ServiceError every refusal that the call itself would get before its hold, except two that do not answer
 * the question: prompts that are too long and endpoints that are out of order are counted here.
 */
export async function countTokens(deps: CallDeps, incoming: Incoming): Promise<Counted> {
  const { 'idempotency-key': _ignored, ...headers } = incoming.headers;
  const asked: Incoming = { ...incoming, headers };
  const record = newRecord(asked, 0);
  const scope = await scopeOf(deps, incoming.grant);
  const decision = await decideCall(deps, asked, record, scope);
  const { draft, request, endpoints } = decision;
  if (draft.route instanceof ServiceError && !isNoAnswer(draft.route)) throw draft.route;
  const [endpoint] = endpoints;
  const model = record.model;
  const size = inputTokensBound(promptSize(request, incoming.body));
  const estimate: Counted = {
    model,
    input_tokens: size,
    source: 'estimate',
    tokenizer: 'bytes-v1',
    more: {},
  };
  const rule = endpoint === undefined ? undefined : deps.adapters.get(endpoint.family)?.promptTokens;
  if (rule != null) return { ...estimate, input_tokens: rule(request), source: 'exact' };
  // When the prompt is too long for all endpoints, any of them can tell the tokenizer.
  const any = endpoint ?? findModel(draft.catalog, model, incoming.grant.environment)?.endpoints[0];
  const tokenizer = any?.tokenizer;
  const counted = isExact(tokenizer) ? await countHere(deps.tokens, tokenizer, request) : null;
  if (counted?.exact === true && any?.capabilities.reasoning === false)
    return { ...estimate, ...counted.reported, source: 'exact' };
  const reported = await askProvider(deps, asked, decision);
  if (reported === null) return counted === null ? estimate : { ...estimate, ...counted.reported };
  const own = endpoint !== undefined && rawLaneOf(deps, asked, request, endpoint) !== null;
  const { input_tokens, more } = reported;
  return { ...estimate, input_tokens, source: 'exact', tokenizer: 'provider', more: own ? (more ?? {}) : {} };
}

/** Whether a refusal of the route says nothing about the size of the prompt. */
function isNoAnswer({ code, status }: ServiceError): boolean {
  return code === 'context_length_exceeded' || (code === 'no_endpoint_available' && status === 503);
}

/**
 * The texts of a request that contains only text; null when there is more, such as tools, whose wording is not known.
 */
function textsOf(request: CanonicalRequest): { texts: string[]; framing: number } | null {
  const { messages, tools, output } = request;
  if ((tools?.length ?? 0) > 0 || output?.format?.schema !== undefined) return null;
  const texts: string[] = [];
  let framing = TOKENS_OF_ANSWER;
  for (const { role, name, content } of messages) {
    texts.push(role);
    framing += TOKENS_PER_MESSAGE;
    if (name !== undefined) {
      texts.push(name);
      framing += TOKENS_PER_NAME;
    }
    for (const part of content) {
      if (part.type !== 'text') return null;
      texts.push(part.text);
    }
  }
  return { texts, framing };
}

async function countHere(
  tokens: TokenCounter,
  tokenizer: Parameters<TokenCounter['count']>[0],
  request: CanonicalRequest,
): Promise<{ reported: Pick<Counted, 'input_tokens' | 'tokenizer'>; exact: boolean } | null> {
  const found = textsOf(request);
  if (found === null) return null;
  const counted = await tokens.count(tokenizer, found.texts);
  if (counted === null) return null;
  return { reported: { input_tokens: counted.tokens + found.framing, tokenizer }, exact: counted.exact };
}

/** The count of the provider that would be tried first; null when it offers none, or not in time. */
async function askProvider(
  deps: CallDeps,
  incoming: Incoming,
  { request, endpoints, read: { text } }: Decision,
): Promise<PromptCount | null> {
  const [endpoint] = endpoints;
  if (endpoint === undefined) return null;
  const adapter = deps.adapters.get(endpoint.family);
  if (adapter == null || adapter.counting === null || wantedMedia(request, adapter, null).length > 0)
    return null;
  const credential = credentialFor(deps, endpoint);
  if (credential === null) return null;
  const planned = { endpoint, cap: null, by_credit: false };
  const raw = rawLaneOf(deps, incoming, request, endpoint);
  const { sent } = edited(
    request,
    incoming.body.length,
    raw === null ? { adapter, target: targetOf(endpoint) } : null,
  );
  const whole = messageFor(deps, incoming, sent, {
    planned,
    raw,
    stream: false,
    ...(text === undefined ? {} : { text }),
  });
  const message = adapter.counting.request(whole, targetOf(endpoint));
  const body = await exchange(deps, { endpoint, credential, message });
  return body === null ? null : readCount(adapter.counting, body);
}

function readCount(counting: PromptCounting, body: Buffer): PromptCount | null {
  try {
    return counting.read(body);
  } catch (error) {
    if (error instanceof ProtocolFault) return null;
    throw error;
  }
}

/** The body of a 2xx answer; null for anything else, and when it takes too long. */
function exchange(
  deps: CallDeps,
  facts: {
    endpoint: Decision['endpoints'][number];
    credential: Credential;
    message: ReturnType<PromptCounting['request']>;
  },
): Promise<Buffer | null> {
  const { endpoint, credential, message } = facts;
  const { base_url } = deps.provider(endpoint);
  const { headers: credentials, sign } = credential;
  const signing = sign === undefined ? {} : { sign, region: endpoint.region };
  return new Promise((done) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const finish = (body: Buffer | null) => {
      clearTimeout(timer);
      if (body === null) running.abort();
      done(body);
    };
    const timer = setTimeout(() => finish(null), UPSTREAM_MS);
    const running = deps.transport.send(
      { base_url, credentials, ...signing },
      { ...message, whole: true },
      {
        head(status) {
          if (status < 200 || status > 299) finish(null);
        },
        data(part) {
          bytes += part.length;
          if (bytes > REPLY_BYTES_MAX) finish(null);
          else chunks.push(part);
        },
        end: () => finish(Buffer.concat(chunks, bytes)),
        error: () => finish(null),
      },
    );
  });
}
