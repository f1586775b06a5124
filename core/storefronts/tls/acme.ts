// The protocol of authorities (RFC 8555): signed requests to the addresses of a directory. Thirty lines of signatures stand here
// rather than a library: the usual one for Node drops the type of an error and how long to wait, and knows no RFC 9773.
import { Agent, request } from 'undici';
import { ecJwk, ecSign, hmacSha256, nowMs, sha256 } from '../../kernel/index.ts';
import { AcmeError, faultOfProblem } from './faults.ts';

const ANSWER_MS = 15_000;
const BODY_MAX = 256 * 1024;
/** A nonce may be stale by the time it comes back; an authority that refuses this many in a row is not well. */
const NONCE_TRIES = 20;
const NONCES_KEPT = 32;
const ALREADY_REVOKED = 'urn:ietf:params:acme:error:alreadyRevoked';
/** RFC 5280, 5.3.1. */
const CESSATION_OF_OPERATION = 5;
const BAD_NONCE = 'urn:ietf:params:acme:error:badNonce';

/** Where the authority is, and what it wants to know. */
export interface AcmeSettings {
  readonly directory_url: string;
  readonly email: string | null;
  /** PEM that the directory is trusted by, besides what the machine trusts; null: nothing more. */
  readonly ca: readonly string[] | null;
  /** The key that binds the account to one at the authority. */
  readonly eab: { readonly kid: string; readonly key: Buffer } | null;
}

interface Directory {
  readonly newNonce: string;
  readonly newAccount: string;
  readonly newOrder: string;
  readonly revokeCert?: string;
  readonly renewalInfo?: string;
}

export interface AcmeReply {
  readonly status: number;
  /** Where what was made is; '' where the reply names nothing. */
  readonly location: string;
  readonly retry_after_ms: number | null;
  readonly text: string;
}

const base64url = (data: string | Uint8Array) => Buffer.from(data).toString('base64url');

/** `Retry-After` in milliseconds; null where it is absent or says nothing. */
export function retryAfterMs(header: string | undefined, now_ms: number): number | null {
  if (header === undefined) return null;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1_000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, at - now_ms);
}

/** The first certificate of a chain in PEM, as DER. */
function firstOfChain(chain: string): Buffer {
  const [, body = ''] = /-----BEGIN CERTIFICATE-----([^-]+)-----END/.exec(chain) ?? [];
  return Buffer.from(body, 'base64');
}

function errorOf(reply: AcmeReply): AcmeError & { readonly type: string } {
  let problem: { type?: unknown; detail?: unknown } = {};
  try {
    problem = JSON.parse(reply.text) ?? {};
  } catch {
    // What stands between answers in another form.
  }
  const type = typeof problem.type === 'string' ? problem.type : '';
  const detail =
    typeof problem.detail === 'string' ? problem.detail : `The authority answers ${reply.status}.`;
  const away = reply.status >= 500 && type === '';
  const { retry_after_ms } = reply;
  return new AcmeError(away ? 'authority_away' : faultOfProblem(type), detail, { type, retry_after_ms });
}

/** An account at an authority; its requests may run at once. */
export class AcmeClient {
  readonly #settings: AcmeSettings;
  /** PEM. */
  readonly #key: string;
  readonly #agent: Agent;
  readonly #nonces: string[] = [];
  readonly #closing = new AbortController();
  #directory: Promise<Directory> | null = null;
  account_url: string | null;

  constructor(settings: AcmeSettings, key_pem: string, account_url: string | null) {
    this.#settings = settings;
    this.#key = key_pem;
    this.account_url = account_url;
    const { ca } = settings;
    this.#agent = new Agent({
      ...{ connections: 8, headersTimeout: ANSWER_MS, bodyTimeout: ANSWER_MS, maxResponseSize: BODY_MAX },
      connect: { timeout: ANSWER_MS, ...(ca === null ? {} : { ca: [...ca] }) },
    });
  }

  /** Aborted when no answer is waited for any more. */
  get signal(): AbortSignal {
    return this.#closing.signal;
  }

  close(): Promise<void> {
    this.#closing.abort();
    return this.#agent.destroy();
  }

  /** What answers the challenge with `token` (RFC 8555, 8.1). */
  answerOf(token: string): string {
    return `${token}.${base64url(sha256(JSON.stringify(ecJwk(this.#key))))}`;
  }

  async #send(method: 'GET' | 'HEAD' | 'POST', url: string, body?: string): Promise<AcmeReply> {
    // What an authority names is no way into our own network in the clear.
    if (!URL.canParse(url) || new URL(url).protocol !== new URL(this.#settings.directory_url).protocol)
      throw new AcmeError('authority_away', 'The authority names an address that is none.');
    try {
      const {
        statusCode,
        headers,
        body: answer,
      } = await request(url, {
        ...{
          method,
          dispatcher: this.#agent,
          signal: AbortSignal.any([this.signal, AbortSignal.timeout(ANSWER_MS)]),
        },
        headers: {
          'user-agent': 'svc',
          ...(body === undefined ? {} : { 'content-type': 'application/jose+json' }),
        },
        ...(body === undefined ? {} : { body }),
      });
      const text = await answer.text();
      const one = (name: string) => [headers[name] ?? []].flat()[0];
      const nonce = one('replay-nonce');
      if (nonce !== undefined && this.#nonces.length < NONCES_KEPT) this.#nonces.push(nonce);
      const retry_after_ms = retryAfterMs(one('retry-after'), nowMs());
      return { status: statusCode, location: one('location') ?? '', retry_after_ms, text };
    } catch (error) {
      const { code, message } = error as { code?: string; message: string };
      throw new AcmeError('authority_away', `The authority gives no answer: ${code ?? message}`);
    }
  }

  directory(): Promise<Directory> {
    this.#directory ??= this.#readDirectory().catch((error: unknown) => {
      this.#directory = null;
      throw error;
    });
    return this.#directory;
  }

  async #readDirectory(): Promise<Directory> {
    const reply = await this.#send('GET', this.#settings.directory_url);
    if (reply.status !== 200) throw errorOf(reply);
    const read = jsonOf<Directory>(reply);
    for (const name of ['newNonce', 'newAccount', 'newOrder'] as const)
      if (typeof read[name] !== 'string')
        throw new AcmeError('authority_away', `The directory of the authority has no ${name}.`);
    return read;
  }

  async #nonce(): Promise<string> {
    const kept = this.#nonces.pop();
    if (kept !== undefined) return kept;
    await this.#send('HEAD', (await this.directory()).newNonce);
    const fresh = this.#nonces.pop();
    if (fresh === undefined) throw new AcmeError('authority_away', 'The authority gives no nonce.');
    return fresh;
  }

  #signed(url: string, payload: object | null, nonce: string): string {
    const who = this.account_url === null ? { jwk: ecJwk(this.#key) } : { kid: this.account_url };
    const head = base64url(JSON.stringify({ alg: 'ES256', ...who, nonce, url }));
    const body = payload === null ? '' : base64url(JSON.stringify(payload));
    const signature = ecSign(this.#key, `${head}.${body}`);
    return JSON.stringify({ protected: head, payload: body, signature: base64url(signature) });
  }

  /** A signed request; without a payload it reads what is at `url`. @throws AcmeError */
  async post(url: string, payload: object | null): Promise<AcmeReply> {
    for (let attempt = 1; ; attempt++) {
      const reply = await this.#send('POST', url, this.#signed(url, payload, await this.#nonce()));
      if (reply.status < 400) return reply;
      const error = errorOf(reply);
      if (error.type !== BAD_NONCE || attempt === NONCE_TRIES) throw error;
    }
  }

  /** Makes the account, or finds the one that the key has; returns its address. */
  async register(): Promise<string> {
    const { email, eab } = this.#settings;
    const { newAccount } = await this.directory();
    const contact = email === null ? {} : { contact: [`mailto:${email}`] };
    const bound = eab === null ? {} : { externalAccountBinding: this.#bind(eab, newAccount) };
    this.account_url = null;
    const { location } = await this.post(newAccount, { termsOfServiceAgreed: true, ...contact, ...bound });
    if (!URL.canParse(location)) throw new AcmeError('account_refused', 'The authority names no account.');
    this.account_url = location;
    return location;
  }

  /** The binding of RFC 8555, 7.3.4: the account's public key, signed with the key that the authority gave. */
  #bind({ kid, key }: { kid: string; key: Buffer }, url: string): object {
    const head = base64url(JSON.stringify({ alg: 'HS256', kid, url }));
    const payload = base64url(JSON.stringify(ecJwk(this.#key)));
    return { protected: head, payload, signature: base64url(hmacSha256(key, `${head}.${payload}`)) };
  }

  /** Orders a certificate of `domain`, in place of the one with the id `replaces`; returns where the order is. */
  async order(domain: string, replaces: string | null): Promise<string> {
    const { newOrder, renewalInfo } = await this.directory();
    const identifiers = [{ type: 'dns', value: domain }];
    const wanted =
      replaces === null || renewalInfo === undefined ? { identifiers } : { identifiers, replaces };
    const { location } = await this.post(newOrder, wanted).catch((error: unknown) => {
      // One that was replaced already, or that the authority does not know: the order stands without it.
      if (!(error instanceof AcmeError) || !('replaces' in wanted)) throw error;
      if (error.fault === 'rate_limited' || error.fault === 'authority_away') throw error;
      return this.post(newOrder, { identifiers });
    });
    if (!URL.canParse(location)) throw new AcmeError('authority_away', 'The authority names no order.');
    return location;
  }

  /**
   * Revokes the first certificate of `chain` (RFC 8555, 7.6), because its domain is no longer served here; one that is revoked
   * already is no error. @throws AcmeError
   */
  async revoke(chain: string): Promise<void> {
    const { revokeCert } = await this.directory();
    if (revokeCert === undefined)
      throw new AcmeError('authority_refuses', 'The authority revokes no certificates.');
    const certificate = base64url(firstOfChain(chain));
    await this.post(revokeCert, { certificate, reason: CESSATION_OF_OPERATION }).catch((error: unknown) => {
      if (!(error instanceof AcmeError) || error.type !== ALREADY_REVOKED) throw error;
    });
  }

  /** Where an order stands; null: the authority does not know it any more. */
  async orderAt(url: string): Promise<{ readonly status: string | null }> {
    try {
      return jsonOf<{ status: string }>(await this.post(url, null));
    } catch (error) {
      if (error instanceof AcmeError && error.fault !== 'authority_away' && error.fault !== 'rate_limited')
        return { status: null };
      throw error;
    }
  }

  /**
   * Between which times the authority wants a certificate renewed, and when to ask again (RFC 9773); null where it does not say.
   */
  async renewalWindow(
    id: string,
  ): Promise<{ readonly start: Date; readonly end: Date; readonly again_ms: number | null } | null> {
    const { renewalInfo } = await this.directory();
    if (renewalInfo === undefined) return null;
    const reply = await this.#send('GET', `${renewalInfo.replace(/\/$/, '')}/${id}`);
    if (reply.status !== 200) return null;
    const { suggestedWindow } = jsonOf<{ suggestedWindow?: { start?: string; end?: string } }>(reply);
    const [start, end] = [new Date(suggestedWindow?.start ?? ''), new Date(suggestedWindow?.end ?? '')];
    if (!(start.getTime() <= end.getTime())) return null;
    return { start, end, again_ms: reply.retry_after_ms };
  }
}

/** A reply as JSON. @throws AcmeError when it is none. */
export function jsonOf<T>(reply: AcmeReply): T {
  try {
    const read: unknown = JSON.parse(reply.text);
    if (typeof read === 'object' && read !== null) return read as T;
  } catch {
    // Said below.
  }
  throw new AcmeError('authority_away', 'The authority answers in a form that cannot be read.');
}
