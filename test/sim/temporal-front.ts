// A front before a Temporal server, as a cloud or a proxy is one: it ends TLS, asks for a client's certificate or an API
// key where that is wanted, and passes calls on.
import {
  connect,
  constants,
  createSecureServer,
  type Http2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import { authority, server as certificate } from './certificates.ts';

export interface TemporalFront {
  /** `host:port` with a name that the certificate has. */
  readonly address: string;
  /** Calls that were refused for their API key. */
  readonly refused: number;
  close(): Promise<void>;
}

/** gRPC's status for a caller that is not known. */
const UNAUTHENTICATED = '16';

interface Wanted {
  /** Who brings no certificate of the authority is not let in. */
  readonly client_certificate?: boolean;
  readonly api_key?: string;
}

/** Starts a front before the Temporal server at `to`, `host:port`. */
export async function startTemporalFront(to: string, wanted: Wanted = {}): Promise<TemporalFront> {
  const { client_certificate = false, api_key } = wanted;
  const sessions = new Set<Http2Session>();
  const far = connect(`http://${to}`);
  far.on('error', () => {});
  let refused = 0;
  const server = createSecureServer({
    ...certificate,
    ...(client_certificate ? { requestCert: true, rejectUnauthorized: true, ca: [authority] } : {}),
  });
  server.on('session', (session) => {
    sessions.add(session);
    session.on('error', () => {});
    session.on('close', () => sessions.delete(session));
  });
  server.on('stream', (near: ServerHttp2Stream, headers) => {
    near.on('error', () => {});
    if (api_key !== undefined && headers['authorization'] !== `Bearer ${api_key}`) {
      refused++;
      near.respond(
        { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': UNAUTHENTICATED },
        { endStream: true },
      );
      return;
    }
    const { ':authority': _name, ':scheme': _scheme, ...passed } = headers;
    const call = far.request(passed);
    call.on('error', () => near.close(constants.NGHTTP2_INTERNAL_ERROR));
    near.on('close', () => call.close());
    near.pipe(call);
    let trailers = {};
    call.on('trailers', (sent) => {
      trailers = sent;
    });
    call.on('response', (answer, flags) => {
      const endStream = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0;
      if (near.closed) return;
      near.respond(answer, { endStream, waitForTrailers: !endStream });
      near.on('wantTrailers', () => near.sendTrailers(trailers));
      if (!endStream) call.pipe(near);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    address: `localhost:${(server.address() as AddressInfo).port}`,
    get refused() {
      return refused;
    },
    async close() {
      for (const session of sessions) session.destroy();
      far.destroy();
      await new Promise<void>((done) => server.close(() => done()));
    },
  };
}
