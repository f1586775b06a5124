// Opens what a gateway has of TLS: the listener, the port without TLS, and the way to the console (docs/operate/storefront-tls.md).
import { Server as HttpServer } from 'node:http';
import type { Server } from 'node:net';
import type { Config } from '@svc/core/kernel/index.ts';
import { CertificateMemory } from '@svc/core/storefronts/index.ts';
import type { Base } from '@svc/http/index.ts';
import type { FastifyInstance } from 'fastify';
import { bindConsole } from './console-proxy.ts';
import { createDoor } from './door.ts';
import { FileCertificate } from './file-certificate.ts';
import { createTlsListener, type Handshakes } from './listener.ts';

/** Ports that were opened; null where none was wanted. */
export interface TlsPorts {
  readonly tls_port: number | null;
  readonly http_port: number | null;
}

interface TlsOptions {
  readonly config: Config;
  readonly base: Base;
  readonly app: FastifyInstance;
}

function fileOf(config: Config, log: Base['log']): FileCertificate | null {
  const { tls_cert_file: cert, tls_key_file: key } = config;
  if (cert === null && key === null) return null;
  if (cert === null || key === null)
    throw new Error('SVC_TLS_CERT_FILE and SVC_TLS_KEY_FILE go together: set both or neither.');
  return new FileCertificate({ cert, key }, log);
}

function listen(
  opened: AsyncDisposableStack,
  server: Server,
  at: { host: string; port: number },
): Promise<number> {
  return new Promise((done, fail) => {
    server.once('error', fail);
    server.listen(at, () => {
      server.off('error', fail);
      // Nobody waits for its connections: those that were handed over end with the server of the API, which closes later.
      opened.defer(() => {
        server.close();
        if (server instanceof HttpServer) server.closeAllConnections();
      });
      done((server.address() as { port: number }).port);
    });
  });
}

/** Binds what belongs to requests over TLS. Call it before routes are bound, and `listenTls` once `app` listens. */
export function prepareTls({ config, app }: TlsOptions, opened: AsyncDisposableStack): void {
  if (config.tls_port === null) return;
  const admin_url = config.tls_admin_url ?? `http://127.0.0.1:${config.admin_port}`;
  opened.defer(bindConsole(app, admin_url));
}

/** Opens the ports. @throws Error when settings do not fit each other, a file cannot be used or a port is taken. */
export async function listenTls(
  { config, base, app }: TlsOptions,
  opened: AsyncDisposableStack,
): Promise<TlsPorts> {
  const { tls_port, tls_http_port, host } = config;
  const { pool: db, log, metrics } = base;
  const { root_key, storefronts, seller_hosts } = base.services;
  if (tls_port === null && tls_http_port === null) return { tls_port: null, http_port: null };
  if (storefronts === undefined || seller_hosts === undefined || root_key === undefined)
    throw new Error(
      'SVC_TLS_PORT and SVC_TLS_HTTP_PORT need SVC_STOREFRONT_BASE: without it there are no storefronts.',
    );
  let opened_tls: number | null = null;
  if (tls_port !== null) {
    const handshakes: Handshakes = new Map();
    const certificates = new CertificateMemory({ db, root_key, log });
    const server = createTlsListener({ app, certificates, file: fileOf(config, log), handshakes, log });
    opened_tls = await listen(opened, server, { host, port: tls_port });
    metrics.watch([
      {
        name: 'svc_tls_handshakes_total',
        help: 'Handshakes of the listener with TLS by outcome.',
        type: 'counter',
        read: () => [...handshakes].map(([outcome, value]) => ({ labels: { outcome }, value })),
      },
    ]);
  }
  if (tls_http_port === null) return { tls_port: opened_tls, http_port: null };
  const https_port =
    storefronts.protocol === 'https:' || opened_tls === null ? storefronts.port : `:${opened_tls}`;
  const door = createDoor({ db, log, storefronts, seller_hosts, https_port });
  return { tls_port: opened_tls, http_port: await listen(opened, door, { host, port: tls_http_port }) };
}
