// Asks a provider whether it takes a key, by a question that costs nothing: its list of models, or where it has none
// (Bedrock's runtime, Jina, Voyage) a request that is refused for its body once the key was found good.
import { request } from 'undici';
import type { Probe, ProviderKeys } from '../../byok/index.ts';
import type { Provider } from '../../catalog/index.ts';
import { isObject } from '../../kernel/index.ts';
import { credentialFrom } from './credentials.ts';

const TIMEOUT_MS = 10_000;
/** The longest list of models seen is a tenth of this. */
const BODY_MAX = 4_194_304;
const NO_ANSWER: Probe = { status: 0, ok: false, rejected: false, models: null };
/** Any name does: whoever has no right to the model is told so, and whoever has sent no messages. */
const BEDROCK_MODEL = 'amazon.nova-micro-v1:0';

interface Question {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Headers that the provider asks for beside the key. */
  readonly headers: readonly string[];
  /** Statuses other than a success that only a good key gets. */
  readonly good: readonly number[];
}

function questionFor({ kind }: Provider): Question {
  switch (kind) {
    case 'anthropic':
      return { method: 'GET', path: '/models', headers: ['anthropic-version', '2023-06-01'], good: [] };
    case 'bedrock':
      return {
        method: 'POST',
        path: `/model/${encodeURIComponent(BEDROCK_MODEL)}/converse`,
        headers: [],
        good: [400],
      };
    case 'jina':
    case 'voyage':
      return { method: 'POST', path: '/embeddings', headers: [], good: [400, 422] };
    default:
      return { method: 'GET', path: '/models', headers: [], good: [] };
  }
}

/** How many models a list has, in the forms of OpenAI and Anthropic (`data`), Gemini and Cohere (`models`). */
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

async function ask(provider: Provider, secret: string): Promise<{ status: number; body: string }> {
  const { method, path, headers } = questionFor(provider);
  const { headers: key, sign } = credentialFrom(provider, secret);
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
    // What is longer than any list is not read on; its status has said enough.
    if (length > BODY_MAX) break;
    chunks.push(chunk);
  }
  return { status: answer.statusCode, body: Buffer.concat(chunks).toString('utf8') };
}

/** Gemini answers 400 to a key that it does not know. */
function isRejected({ kind }: Provider, status: number, body: string): boolean {
  if (status === 401 || status === 403) return true;
  return kind === 'gemini' && status === 400 && body.includes('API_KEY_INVALID');
}

async function probe(provider: Provider, secret: string): Promise<Probe> {
  let answer: Awaited<ReturnType<typeof ask>>;
  try {
    answer = await ask(provider, secret);
  } catch {
    // What the network or the signature says helps nobody who is asked about a key, and might hold a part of it.
    return NO_ANSWER;
  }
  const { status, body } = answer;
  const rejected = isRejected(provider, status, body);
  const lists = status >= 200 && status <= 299;
  const ok = !rejected && (lists || questionFor(provider).good.includes(status));
  return { status, ok, rejected, models: lists ? countModels(body) : null };
}

/** What this process knows of providers' keys. */
export const providerKeys: ProviderKeys = {
  faultOf(provider, secret) {
    try {
      credentialFrom(provider, secret);
      return null;
    } catch {
      return 'is not ACCESS_KEY_ID:SECRET[:SESSION_TOKEN]';
    }
  },
  probe,
};
