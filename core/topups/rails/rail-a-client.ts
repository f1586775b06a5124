// The official client of rail-a, with what it lacks: an address, a time limit, errors when there is no answer at all, and
// headers of a call's own. It does not try again by itself.
import type Razorpay from 'razorpay';
import { isObject } from '../../kernel/index.ts';
import { objectIn, UNREADABLE } from './read.ts';
import { RailError } from './types.ts';

const TIMEOUT_MS = 10_000;
/** Statuses that say no to this very request. 401 is a wrong key, 409 the same refund under way, 429 a full rail. */
const DECLINES: ReadonlySet<number> = new Set([400, 402, 404, 422]);

export interface RailAAccount {
  /** Null: the rail's public address. */
  readonly base_url: string | null;
  readonly key_id: string;
  readonly key_secret: string;
}

/** The part of the client's HTTP library that is used here; its types name none of it. */
interface Requests {
  readonly defaults: { baseURL?: string; timeout?: number; maxRedirects?: number };
  readonly interceptors: {
    readonly response: { use(fulfilled: undefined, rejected: (error: unknown) => unknown): void };
  };
  post(
    path: string,
    body: object,
    options: { headers: Record<string, string> },
  ): Promise<{ readonly data: unknown }>;
}

export interface RailAClient {
  readonly sdk: Razorpay;
  /** A call that needs a header, which the client cannot send. */
  post(path: string, body: object, headers: Record<string, string>): Promise<unknown>;
}

/** The client reads status and body of every error, and fails itself where there was no answer: it is given one. */
function withAnswer(error: unknown): unknown {
  if (!isObject(error) || isObject(error['response'])) throw error;
  const description = typeof error['message'] === 'string' ? error['message'] : 'no answer';
  throw Object.assign(error, {
    response: { status: 0, data: { error: { code: 'NO_ANSWER', description } } },
  });
}

/** Loaded with the first call: most processes never make one. */
export async function connectRailA(account: RailAAccount): Promise<RailAClient> {
  const { default: Client } = await import('razorpay');
  const sdk = new Client({ key_id: account.key_id, key_secret: account.key_secret });
  const requests = (sdk as unknown as { readonly api: { readonly rq: Requests } }).api.rq;
  if (account.base_url !== null) requests.defaults.baseURL = account.base_url;
  requests.defaults.timeout = TIMEOUT_MS;
  requests.defaults.maxRedirects = 0;
  requests.interceptors.response.use(undefined, withAnswer);
  return {
    sdk,
    post: async (path, body, headers) => (await requests.post(path, body, { headers })).data,
  };
}

interface Answer {
  readonly status: number;
  readonly error: Readonly<Record<string, unknown>>;
}

/** Status and error of what the client threw, in its own form or in that of its HTTP library; null for anything else. */
function answerOf(thrown: unknown): Answer | null {
  if (!isObject(thrown)) return null;
  if (typeof thrown['statusCode'] === 'number') {
    return { status: thrown['statusCode'], error: isObject(thrown['error']) ? thrown['error'] : {} };
  }
  const { response } = thrown as { response?: unknown };
  if (!isObject(response) || typeof response['status'] !== 'number') return null;
  const data = isObject(response['data']) ? response['data'] : {};
  return { status: response['status'], error: isObject(data['error']) ? data['error'] : {} };
}

/** Whether a refusal was no answer at all, or one of somebody in between: the rail may have done what it was asked. */
export function isUnanswered(error: RailError): boolean {
  return error.code === 'NO_ANSWER' || error.code === UNREADABLE;
}

/**
 * Runs a call and turns what the client throws into `RailError`; anything else is a defect and passes. The client takes any
 * answer with a good status: a page of a proxy, an empty body.
 */
export async function askRailA<T>(
  client: Promise<RailAClient>,
  call: (client: RailAClient) => Promise<T>,
): Promise<T> {
  try {
    const answer = await call(await client);
    // Calls that read page after page come back with the rows of all.
    if (!Array.isArray(answer)) objectIn(answer);
    return answer;
  } catch (thrown) {
    const answer = answerOf(thrown);
    if (answer === null) throw thrown;
    const { description, reason, code } = answer.error;
    const message = typeof description === 'string' ? description : `The rail answered ${answer.status}.`;
    const named = [reason, code].find((name) => typeof name === 'string' && name !== 'NA');
    throw new RailError(message.slice(0, 500), {
      declined: DECLINES.has(answer.status),
      code: typeof named === 'string' ? named : null,
    });
  }
}
