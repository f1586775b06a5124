// Asks a provider whether it accepts a key, with a request that costs nothing: the list of models, or for providers
// without one (Bedrock's runtime, Jina, Voyage) a request whose body is refused only after the key was accepted.
import { request } from 'undici';
import type { Probe, ProviderKeys } from '../../byok/index.ts';
import type { Provider } from '../../catalog/index.ts';
import { isObject } from '../../kernel/index.ts';
import { kindOf } from './credentials.ts';
import type { Authentication, KeyProbe, ProviderKinds } from './kind.ts';
import { saidOf } from './said.ts';

const TIMEOUT_MS = 10_000;
/** Ten times the longest list of models seen. */
const BODY_MAX = 4_194_304;
const NO_ANSWER: Probe = { status: 0, ok: false, rejected: false, models: null, message: null };

/** Number of models in a list, in the forms of OpenAI and Anthropic (`data`) and of Gemini and Cohere (`models`). */
function countModels(body: string): number | null {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return null;
  }
  if (Array.isArray(value)) return value.length;
  if (!isObject(value)) return null;
  const list = value['data'] ?? value['models'];
  return Array.isArray(list) ? list.length : null;
}

async function ask(
  { method, path, headers }: KeyProbe,
  provider: Provider,
  { headers: key, sign }: Authentication,
): Promise<{ status: number; body: string }> {
  const body = method === 'POST' ? Buffer.from('{}') : Buffer.alloc(0);
  const url = new URL(provider.base_url + path);
  const region = provider.regions[0] ?? '';
  const signed =
    sign === undefined ? [] : await sign({ base_url: provider.base_url, path: url.pathname, body, region });
  const answer = await request(url, {
    method,
    headers: [
      ...['accept', 'application/json', 'accept-encoding', 'identity'],
      ...(method === 'POST' ? ['content-type', 'application/json'] : []),
      ...headers,
      ...key,
      ...signed,
    ],
    ...(method === 'POST' ? { body } : {}),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of answer.body as AsyncIterable<Buffer>) {
    length += chunk.length;
    // A body longer than any list is not read further; the status is enough.
    if (length > BODY_MAX) break;
    chunks.push(chunk);
  }
  return { status: answer.statusCode, body: Buffer.concat(chunks).toString('utf8') };
}

/** Whether the provider accepts `key`, made of `secret`, judged by its answer to `question`. */
async function probeWith(
  question: KeyProbe,
  provider: Provider,
  { key, secret }: { key: Authentication; secret: string },
): Promise<Probe> {
  let answer: Awaited<ReturnType<typeof ask>>;
  try {
    answer = await ask(question, provider, key);
  } catch {
    // The error of the network or of the signature does not help a caller who asks about a key, and might quote part
    // of it.
    return NO_ANSWER;
  }
  const { status, body } = answer;
  const rejected = status === 401 || status === 403 || question.refuses(status, body);
  const lists = status >= 200 && status <= 299;
  const ok = !rejected && (lists || question.good.includes(status));
  // A good key may get a refusal too, of the empty request; what that says is of no use to its owner.
  const message = ok ? null : saidOf(body, secret);
  return { status, ok, rejected, models: lists ? countModels(body) : null, message };
}

/** What this process knows about providers' keys, by kind. */
export function createProviderKeys(kinds: ProviderKinds): ProviderKeys {
  return {
    faultOf(provider, secret) {
      const made = kindOf(kinds, provider).authenticate(secret);
      return 'fault' in made ? made.fault : null;
    },
    async probe(provider, secret) {
      const { probe, authenticate } = kindOf(kinds, provider);
      const key = authenticate(secret);
      return probe === null || 'fault' in key ? NO_ANSWER : probeWith(probe, provider, { key, secret });
    },
  };
}
