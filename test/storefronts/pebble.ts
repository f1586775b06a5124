// A real authority of certificates: Pebble, the small one of those who run Let's Encrypt, which forgets everything when it ends.
// Its root is made anew at each start.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@svc/cli/tools/postgres.ts';
import { authority, server } from '../sim/certificates.ts';
import { type Engine, startEngine, toolPath, untilAnswer } from '../support/engine.ts';

export interface Pebble {
  readonly directory_url: string;
  /** PEM of the authority of the directory's own certificate. */
  readonly ca: string;
  /** File with that. */
  readonly ca_file: string;
  /** PEM of the root of the certificates that it issues. */
  root(): Promise<string>;
  /** What it says of a certificate that it issued. */
  statusOf(serial: string): Promise<string>;
  kill(): Promise<void>;
  /** Starts it again on the same ports; it knows nothing any more. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

interface PebbleOptions {
  /** Where it looks for challenges. */
  readonly http_port: number;
  /** The name server that it asks. */
  readonly dns: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly config?: object;
  readonly validity_seconds?: number;
}

function read(port: number, path: string): Promise<string> {
  return new Promise((done, fail) => {
    const asked = request({ host: 'localhost', port, path, ca: authority, agent: false }, (reply) => {
      let text = '';
      reply.setEncoding('utf8');
      reply.on('data', (piece) => {
        text += piece;
      });
      reply.on('end', () => done(text));
    });
    asked.on('error', fail);
    asked.end();
  });
}

/** Starts one; the caller stops it. */
export async function startPebble(options: PebbleOptions): Promise<Pebble> {
  const program = await toolPath('pebble');
  const dir = mkdtempSync(join(tmpdir(), 'svc-pebble-'));
  const [port, management] = [await freePort(), await freePort()];
  const file = (name: string, text: string) => {
    writeFileSync(join(dir, name), text);
    return join(dir, name);
  };
  const config = {
    ...{ listenAddress: `127.0.0.1:${port}`, managementListenAddress: `127.0.0.1:${management}` },
    ...{ certificate: file('cert.pem', server.cert), privateKey: file('key.pem', server.key) },
    ...{
      httpPort: options.http_port,
      tlsPort: 1,
      ocspResponderURL: '',
      externalAccountBindingRequired: false,
    },
    ...{ retryAfter: { authz: 1, order: 1 }, keyAlgorithm: 'ecdsa' },
    profiles: { default: { description: 'default', validityPeriod: options.validity_seconds ?? 7_776_000 } },
    ...options.config,
  };
  const config_file = file('config.json', JSON.stringify({ pebble: config }));
  const settings = { PEBBLE_VA_NOSLEEP: '1', PEBBLE_WFE_NONCEREJECT: '0', ...options.env };
  const env = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
  const start = async (): Promise<Engine> => {
    const args = [...env, program, '-config', config_file, '-dnsserver', options.dns];
    const engine = startEngine('/usr/bin/env', args, dir);
    await untilAnswer(engine, () => read(port, '/dir'), 20_000);
    return engine;
  };
  let engine = await start();
  return {
    directory_url: `https://localhost:${port}/dir`,
    ca: authority,
    ca_file: file('ca.pem', authority),
    root: () => read(management, '/roots/0'),
    statusOf: (serial) => read(management, `/cert-status-by-serial/${serial.toLowerCase()}`),
    kill: () => engine.kill(),
    async restart() {
      await engine.kill();
      engine = await start();
    },
    async stop() {
      await engine.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
