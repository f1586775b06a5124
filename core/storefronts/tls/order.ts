// One order at an authority, from where it stands to its certificate (RFC 8555, 7.1.6). What must not be lost is written before the
// next step is taken: an order that a killed process leaves behind is gone on with by the next one.
import { setTimeout as pause } from 'node:timers/promises';
import {
  certificateRequest,
  monotonicMs,
  readServerCertificate,
  type ServerCertificate,
} from '../../kernel/index.ts';
import { type AcmeClient, type AcmeReply, jsonOf } from './acme.ts';
import { AcmeError, faultOfProblem } from './faults.ts';

/** An authority looks at a domain within seconds; longer than that is another attempt's. */
const PATIENCE_MS = 75_000;
const LOOK_MS_MIN = 250;
const LOOK_MS_MAX = 5_000;
const AUTHORIZATIONS_MAX = 5;
const CHAIN_MAX = 65_536;
const TOKEN = /^[A-Za-z0-9_-]{1,200}$/;

interface Problem {
  readonly type?: string;
  readonly detail?: string;
}

interface Order {
  readonly status: 'pending' | 'ready' | 'processing' | 'valid' | 'invalid';
  readonly authorizations: readonly string[];
  readonly finalize: string;
  readonly certificate?: string;
  readonly error?: Problem;
}

interface Authorization {
  readonly status: 'pending' | 'valid' | 'invalid' | 'deactivated' | 'expired' | 'revoked';
  readonly challenges: readonly {
    readonly type: string;
    readonly url: string;
    readonly token?: string;
    readonly status: string;
    readonly error?: Problem;
  }[];
}

/** What an order is for, and how its worker keeps what must not be lost. */
interface OrderParts {
  readonly client: AcmeClient;
  readonly domain: string;
  readonly private_pem: string;
  /** Makes every gateway answer the authority. */
  keepChallenge(challenge: { token: string; answer: string }): Promise<void>;
}

/** A certificate that was looked at: for this domain and this key, and valid. */
export interface Issued {
  readonly chain: string;
  readonly leaf: ServerCertificate;
}

function errorOf({ type, detail }: Problem): AcmeError {
  const said = detail ?? 'The authority gives no reason.';
  return new AcmeError(faultOfProblem(type ?? ''), said, { type: type ?? '' });
}

/** Reads `url` until `isDone`, as often as the authority wants. */
async function poll<T>(
  client: AcmeClient,
  url: string,
  isDone: (read: T) => boolean,
  until_ms: number,
): Promise<T> {
  for (;;) {
    const reply: AcmeReply = await client.post(url, null);
    const read = jsonOf<T>(reply);
    if (isDone(read)) return read;
    const wait = Math.min(LOOK_MS_MAX, Math.max(LOOK_MS_MIN, reply.retry_after_ms ?? LOOK_MS_MIN * 2));
    if (monotonicMs() + wait > until_ms)
      throw new AcmeError('authority_away', 'The authority did not come to an end in time.');
    await pause(wait, undefined, { signal: client.signal });
  }
}

/** Answers the challenge of one authorization and waits for what the authority finds. */
async function authorize(
  { client, keepChallenge }: OrderParts,
  url: string,
  until_ms: number,
): Promise<void> {
  const found = jsonOf<Authorization>(await client.post(url, null));
  if (found.status === 'valid') return;
  const challenge = (found.challenges ?? []).find(({ type }) => type === 'http-01');
  if (challenge === undefined || !TOKEN.test(challenge.token ?? ''))
    throw new AcmeError('authority_refuses', 'The authority does not ask over HTTP (http-01).');
  const { token = '' } = challenge;
  if (found.status === 'pending') {
    await keepChallenge({ token, answer: client.answerOf(token) });
    // One that an earlier process has announced is being looked at already.
    if (challenge.status === 'pending') await client.post(challenge.url, {});
  }
  const ended = await poll<Authorization>(client, url, ({ status }) => status !== 'pending', until_ms);
  if (ended.status === 'valid') return;
  throw errorOf(ended.challenges.find(({ error }) => error !== undefined)?.error ?? {});
}

/** What the authority gave, looked at. @throws AcmeError where it is not for this domain and this key. */
function readIssued(chain: string, { domain, private_pem }: OrderParts): Issued {
  try {
    if (chain.length > CHAIN_MAX) throw new Error('it is too long');
    const leaf = readServerCertificate(chain);
    if (!leaf.hasKey(private_pem)) throw new Error('it is for another key');
    if (!leaf.isFor(domain)) throw new Error('it is for another name');
    return { chain, leaf };
  } catch (error) {
    const said = `The certificate of the authority cannot be used: ${(error as Error).message}`;
    throw new AcmeError('authority_refuses', said);
  }
}

/** Brings the order at `url` to its certificate, from wherever it stands. @throws AcmeError */
export async function finishOrder(parts: OrderParts, url: string): Promise<Issued> {
  const { client } = parts;
  const until_ms = monotonicMs() + PATIENCE_MS;
  let order = jsonOf<Order>(await client.post(url, null));
  if (order.status === 'pending') {
    if (order.authorizations.length > AUTHORIZATIONS_MAX)
      throw new AcmeError('authority_refuses', 'The authority wants too much proved.');
    for (const authorization of order.authorizations) await authorize(parts, authorization, until_ms);
    order = await poll<Order>(client, url, ({ status }) => status !== 'pending', until_ms);
  }
  if (order.status === 'ready') {
    const csr = certificateRequest(parts.private_pem, parts.domain).toString('base64url');
    await client.post(order.finalize, { csr });
  }
  if (order.status === 'ready' || order.status === 'processing')
    order = await poll<Order>(
      client,
      url,
      ({ status }) => status === 'valid' || status === 'invalid',
      until_ms,
    );
  if (order.status !== 'valid' || order.certificate === undefined) throw errorOf(order.error ?? {});
  const { text } = await client.post(order.certificate, null);
  return readIssued(text, parts);
}
