// A server of pictures and documents over TLS, whose certificate the gateway of a test is told to trust.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cert, key } from '../webhooks/self-signed.ts';

/** The smallest of pictures: a PNG's head. */
export const PNG = Buffer.from('iVBORw0KGgoAAAANSUhEUg==', 'base64');
const MIB = 1_024 * 1_024;

export interface MediaServer {
  readonly url: string;
  /** Paths asked for. */
  readonly asked: readonly string[];
  /** Paths whose connection was closed before they were answered. */
  readonly dropped: readonly string[];
  close(): Promise<void>;
}

/** Variables with which a gateway may fetch from here. */
export function mediaEnv(): Record<string, string> {
  const file = join(mkdtempSync(join(tmpdir(), 'svc-media-')), 'cert.pem');
  writeFileSync(file, cert);
  return {
    NODE_EXTRA_CA_CERTS: file,
    SVC_ALLOW_INSECURE_WEBHOOKS: '1',
    SVC_EGRESS_ALLOW: '127.0.0.1,::1',
  };
}

/**
 * Starts one that knows `/png*`, `/text`, `/text-long`, `/html`, `/large`, `/cut`, `/to/<path>`, `/away`, `/stall*` (never
 * answered) and nothing else.
 */
export async function startMediaServer(): Promise<MediaServer> {
  const asked: string[] = [];
  const dropped: string[] = [];
  const server = createServer({ key: key.trim(), cert: cert.trim() }, (request, response) => {
    const path = request.url ?? '';
    asked.push(path);
    const send = (type: string, body: Buffer | string) =>
      void response.writeHead(200, { 'content-type': type }).end(body);
    if (path.startsWith('/stall')) return void response.on('close', () => dropped.push(path));
    if (path.startsWith('/png')) return send('application/octet-stream', PNG);
    if (path === '/text') return send('text/plain; charset=utf-8', 'Grüße');
    if (path === '/text-long') return send('text/plain', 'word '.repeat(100_000));
    if (path === '/html') return send('text/html', '<html>');
    if (path === '/large') return send('image/png', Buffer.concat([PNG, Buffer.alloc(20 * MIB)]));
    if (path === '/cut') {
      response.writeHead(200, { 'content-type': 'image/png', 'content-length': 1_000 });
      response.write(PNG, () => response.destroy());
    } else if (path === '/away') response.writeHead(302, { location: 'http://localhost/png' }).end();
    else if (path.startsWith('/to/')) response.writeHead(302, { location: path.slice(3) }).end();
    else response.writeHead(404).end();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `https://localhost:${(server.address() as AddressInfo).port}`,
    asked,
    dropped,
    close() {
      const closed = new Promise<void>((done) => server.close(() => done()));
      server.closeAllConnections();
      return closed;
    },
  };
}
