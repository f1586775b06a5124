// The Kubernetes API as the operator uses it: JSON in and out, one pool of connections, a limit of time on each call.
// Of the client library only the reading of kubeconfig files, service accounts and their tokens is used: its own calls
// open a new connection, and so a TLS handshake, each.
import type { IncomingMessage } from 'node:http';
import { Agent, type RequestOptions, request } from 'node:https';
import type { KubeConfig } from '@kubernetes/client-node';

const CALL_LIMIT_MS = 10_000;

/** A refusal of the API server, or (status 0) no answer from it. */
export class ApiFault extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.name = 'ApiFault';
    this.status = status;
  }
}

interface WatchEvent {
  readonly type: string;
  readonly object: unknown;
}

export interface KubernetesApi {
  /** The answer's body. @throws ApiFault. */
  ask<T>(method: string, path: string, body?: object, type?: string): Promise<T>;
  /** The events of a watch, until the server ends it, `limit_ms` is over or `signal` is aborted. @throws ApiFault. */
  watch(path: string, limit_ms: number, signal: AbortSignal): AsyncGenerator<WatchEvent>;
  close(): void;
}

export const MERGE_PATCH = 'application/merge-patch+json';

function messageOf(text: string, status: number): string {
  try {
    const { message } = JSON.parse(text) as { message?: unknown };
    if (typeof message === 'string') return message;
  } catch {
    // Not the API server's own words: a proxy's, for instance.
  }
  return `status ${status}`;
}

async function readText(reply: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  try {
    for await (const piece of reply) pieces.push(piece as Buffer);
  } catch (error) {
    throw new ApiFault(0, `the API server's answer broke off: ${(error as Error).message}`);
  }
  return Buffer.concat(pieces).toString();
}

interface Call {
  readonly method: string;
  readonly path: string;
  readonly signal: AbortSignal;
  readonly body?: { readonly text: string; readonly type: string };
}

/** Identity and trust of `options`, which an agent keeps for its connections. */
function poolOf(options: RequestOptions): Agent {
  const { ca, cert, key, pfx, passphrase, rejectUnauthorized, servername } = options;
  const given = { ca, cert, key, pfx, passphrase, rejectUnauthorized, servername };
  const set = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  return new Agent({ keepAlive: true, maxSockets: 32, ...set });
}

function send(server: string, call: Call, agent: RequestOptions['agent'], identity: object) {
  const { method, path, signal, body } = call;
  const headers = {
    ...identity,
    ...{ accept: 'application/json', 'user-agent': 'svc-operator' },
    ...(body === undefined
      ? {}
      : { 'content-type': body.type, 'content-length': Buffer.byteLength(body.text) }),
  };
  return new Promise<IncomingMessage>((done, fail) => {
    const asked = request(new URL(server + path), { method, signal, agent, headers }, done);
    asked.on('error', (error) => fail(new ApiFault(0, `the API server does not answer: ${error.message}`)));
    asked.end(body?.text);
  });
}

/** The API of `config`'s cluster. Tokens of service accounts are read anew as they are renewed. */
export function openKubernetes(config: KubeConfig): KubernetesApi {
  const cluster = config.getCurrentCluster();
  if (cluster === null) throw new Error('no cluster is configured');
  const server = cluster.server.replace(/\/$/, '');
  let pool: Agent | undefined;
  const open = async (call: Call): Promise<IncomingMessage> => {
    const options: RequestOptions = {};
    await config.applyToHTTPSOptions(options);
    // A proxy is the library's own agent.
    if (cluster.proxyUrl === undefined) pool ??= poolOf(options);
    return send(server, call, pool ?? options.agent, options.headers ?? {});
  };
  return {
    async ask<T>(method: string, path: string, body?: object, type = 'application/json'): Promise<T> {
      const call = { method, path, signal: AbortSignal.timeout(CALL_LIMIT_MS) };
      const reply = await open(
        body === undefined ? call : { ...call, body: { text: JSON.stringify(body), type } },
      );
      const text = await readText(reply);
      const status = reply.statusCode ?? 0;
      if (status < 200 || status > 299) throw new ApiFault(status, messageOf(text, status));
      return JSON.parse(text) as T;
    },
    async *watch(path, limit_ms, signal) {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(limit_ms)]);
      const reply = await open({ method: 'GET', path, signal: limit });
      const status = reply.statusCode ?? 0;
      if (status !== 200) throw new ApiFault(status, messageOf(await readText(reply), status));
      try {
        for await (const line of linesOf(reply)) yield JSON.parse(line) as WatchEvent;
      } finally {
        reply.destroy();
      }
    },
    close: () => pool?.destroy(),
  };
}

/** The lines of a body as they come. readline would lose an error of the stream. */
async function* linesOf(reply: IncomingMessage): AsyncGenerator<string> {
  reply.setEncoding('utf8');
  let rest = '';
  for await (const piece of reply) {
    const lines = (rest + (piece as string)).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') yield line;
  }
}
