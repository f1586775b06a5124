// The port with TLS: the certificate of whatever host a client names (SNI), and behind it the very server of the API, to which
// connections are handed over. A host without a certificate gets none, and never that of another.
import { createServer, type Server, type TLSSocket } from 'node:tls';
import type { Log } from '@svc/core/kernel/index.ts';
import { type CertificateMemory, hostKey } from '@svc/core/storefronts/index.ts';
import type { FastifyInstance } from 'fastify';
import type { FileCertificate } from './file-certificate.ts';

const HANDSHAKE_MS = 10_000;
const CONNECTIONS_MAX = 20_000;

/** Handshakes of this process, by what became of them. */
export type Handshakes = Map<'done' | 'no_certificate' | 'failed', number>;

interface TlsParts {
  readonly app: FastifyInstance;
  readonly certificates: CertificateMemory;
  /** For hosts that have no certificate of their own. */
  readonly file: FileCertificate | null;
  readonly handshakes: Handshakes;
  readonly log: Log;
}

class NoCertificate extends Error {}

/** The server; it listens where it is told. */
export function createTlsListener({ app, certificates, file, handshakes, log }: TlsParts): Server {
  const count = (outcome: 'done' | 'no_certificate' | 'failed') =>
    handshakes.set(outcome, (handshakes.get(outcome) ?? 0) + 1);
  const server = createServer({
    handshakeTimeout: HANDSHAKE_MS,
    minVersion: 'TLSv1.2',
    ALPNProtocols: ['http/1.1'],
    SNICallback(name, done) {
      certificates.at(name).then(
        (own) => {
          const context = own ?? file?.at(hostKey(name)) ?? null;
          if (context === null) done(new NoCertificate('no certificate'));
          else done(null, context);
        },
        (error: unknown) => done(error as Error),
      );
    },
  });
  server.maxConnections = CONNECTIONS_MAX;
  server.on('secureConnection', (socket: TLSSocket) => {
    // Without a name no certificate was chosen, so that no such handshake comes to an end.
    count('done');
    app.server.emit('connection', socket);
  });
  server.on('tlsClientError', (error, socket) => {
    count(error instanceof NoCertificate ? 'no_certificate' : 'failed');
    socket.destroy();
  });
  server.on('error', (error) => log.error({ error }, 'the listener with TLS fails'));
  return server;
}

/** The host that the client of a request named in its handshake; null: the request came without TLS. */
export function serverNameOf(socket: { readonly servername?: string | false | null }): string | null {
  return typeof socket.servername === 'string' ? hostKey(socket.servername) : null;
}
