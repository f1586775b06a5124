// An identity provider (OpenID Connect) by `oidc-provider`, whose person signs in without a page, and one of our own that
// answers whatever a test says, for answers that no honest provider gives.
import { createHmac, createPrivateKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';
import { atFileEnd } from '../support/ends.ts';

/** Whom the provider signs in, with the claims that it sends. */
export interface SimPerson {
  readonly sub: string;
  readonly [claim: string]: unknown;
}

export interface SimProvider {
  readonly issuer: string;
  readonly client_id: string;
  readonly client_secret: string;
  /** Who signs in next. */
  person: SimPerson;
  /** How often it asked its person to sign in. */
  readonly logins: () => number;
  /** Its session of who signed in last, as its tokens name it. */
  readonly sid: () => string;
  /** Signs `sub` out of its session `sid` and tells the client; throws unless the client has taken it. */
  signOut(sub: string, sid: string): Promise<void>;
}

async function listen(handle: (request: IncomingMessage, reply: ServerResponse) => void): Promise<string> {
  const server = createServer(handle);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  atFileEnd(async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Starts `oidc-provider`; claims come in the ID token, or with `userinfo` at its address alone. */
export async function startProvider(options: {
  redirect_uri: string;
  userinfo?: boolean;
  auth_method?: 'client_secret_basic' | 'client_secret_post';
  /** Where the client wants to hear of sign-outs, and who carries what is sent there. */
  logout?: { readonly uri: string; readonly send: (url: URL, body: string) => Promise<number> };
}): Promise<SimProvider> {
  let provider: Provider | null = null;
  let logins = 0;
  let sid = '';
  const issuer = await listen((request, reply) => {
    const { pathname } = new URL(request.url ?? '/', 'http://provider.invalid');
    if (provider !== null && pathname.startsWith('/interaction/')) {
      logins++;
      const login = { accountId: sim.person.sub };
      void provider.interactionFinished(request, reply, { login }, { mergeWithLastSubmission: false });
    } else provider?.callback()(request, reply);
  });
  const sim = {
    issuer,
    client_id: 'svc',
    client_secret: 'a-secret-of-the-provider',
    person: { sub: 'nobody' } as SimPerson,
    logins: () => logins,
    sid: () => sid,
    async signOut(sub: string, of: string) {
      const client = await provider?.Client.find(sim.client_id);
      if (client === undefined) throw new Error('the client is not known');
      // Its published types do not have the method.
      const teller = client as unknown as { backchannelLogout(sub: string, sid: string): Promise<void> };
      await teller.backchannelLogout(sub, of);
    },
  };
  const { logout } = options;
  provider = new Provider(issuer, {
    clients: [
      {
        client_id: sim.client_id,
        client_secret: sim.client_secret,
        redirect_uris: [options.redirect_uri],
        ...(options.auth_method === undefined ? {} : { token_endpoint_auth_method: options.auth_method }),
        ...(logout === undefined
          ? {}
          : { backchannel_logout_uri: logout.uri, backchannel_logout_session_required: true }),
      },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
    conformIdTokenClaims: options.userinfo === true,
    cookies: { keys: ['a key of the simulator'] },
    features: {
      devInteractions: { enabled: false },
      backchannelLogout: { enabled: logout !== undefined },
    },
    ...(logout === undefined
      ? {}
      : {
          fetch: async (url, init) =>
            new Response(null, { status: await logout.send(new URL(url.toString()), String(init?.body)) }),
        }),
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    pkce: { required: () => true },
    findAccount: (_context, accountId) => ({
      accountId,
      claims: async () => ({ ...sim.person, sub: accountId }),
    }),
    async loadExistingGrant(context) {
      const { client, session, provider: own } = context.oidc;
      if (client === undefined || session?.accountId === undefined) return undefined;
      const grant = new own.Grant({ clientId: client.clientId, accountId: session.accountId });
      grant.addOIDCScope('openid email profile');
      await grant.save();
      return grant;
    },
  });
  provider.on('authorization.success', ({ oidc: { session } }) => {
    sid = session?.sidFor(sim.client_id) ?? '';
  });
  return sim;
}

type Json = Readonly<Record<string, unknown>>;
const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Makes ID tokens of any kind. */
export class Forge {
  readonly #key: KeyObject;
  readonly jwk: Json;
  /** The public key as an attacker has it, in the form that is taken for a secret. */
  readonly public_pem: string;

  constructor() {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    this.#key = createPrivateKey(privateKey.export({ type: 'pkcs8', format: 'pem' }));
    this.jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'RS256', use: 'sig' };
    this.public_pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  }

  /** Signed as an honest provider does. */
  signed(claims: Json, header: Json = {}): string {
    const text = `${encoded({ alg: 'RS256', kid: 'one', ...header })}.${encoded(claims)}`;
    return `${text}.${sign('sha256', Buffer.from(text), this.#key).toString('base64url')}`;
  }

  unsigned(claims: Json, alg = 'none'): string {
    return `${encoded({ alg })}.${encoded(claims)}.`;
  }

  /** Signed by HMAC with a text that others know. */
  hmac(claims: Json, secret: string): string {
    const text = `${encoded({ alg: 'HS256', kid: 'one' })}.${encoded(claims)}`;
    return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
  }
}

export interface Liar {
  readonly issuer: string;
  readonly forge: Forge;
  /** What its documents say besides; null takes a member away. */
  facts: Json;
  /** The answer of its token endpoint. */
  tokenAnswer: () => Json;
  /** Paths that it was asked for. */
  readonly asked: string[];
}

/** Starts a provider whose every word the test chooses. */
export async function startLiar(): Promise<Liar> {
  const asked: string[] = [];
  const json = (reply: ServerResponse, body: unknown) =>
    reply.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  const issuer = await listen((request, reply) => {
    const path = (request.url ?? '/').split('?', 1)[0] as string;
    asked.push(path);
    if (path === '/.well-known/openid-configuration') {
      const known = {
        issuer,
        authorization_endpoint: `${issuer}/auth`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/jwks`,
        id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'],
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
      };
      const said = Object.entries({ ...known, ...liar.facts }).filter(([, value]) => value !== null);
      json(reply, Object.fromEntries(said));
    } else if (path === '/jwks') json(reply, { keys: [liar.forge.jwk] });
    else if (path === '/token') json(reply, liar.tokenAnswer());
    else reply.writeHead(404).end();
  });
  const liar: Liar = { issuer, forge: new Forge(), facts: {}, tokenAnswer: () => ({}), asked };
  return liar;
}
