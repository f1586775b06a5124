// /healthz, /readyz and /metrics.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';

interface HealthChecks {
  /** Null while the process does its work; else what it waits for. */
  live(): string | null;
  ready(): string | null;
  readonly registry: Registry;
}

interface HealthServer {
  readonly url: string;
  stop(): Promise<void>;
}

async function answer(
  path: string,
  checks: HealthChecks,
): Promise<{ status: number; text: string; type?: string }> {
  if (path === '/metrics') {
    return { status: 200, text: await checks.registry.metrics(), type: checks.registry.contentType };
  }
  if (path !== '/healthz' && path !== '/readyz') return { status: 404, text: 'not found\n' };
  const fault = path === '/healthz' ? checks.live() : checks.ready();
  return fault === null ? { status: 200, text: 'ok\n' } : { status: 503, text: `${fault}\n` };
}

/** Starts the listener. @throws Error where the port is taken. */
export async function startHealth(
  checks: HealthChecks,
  at: { readonly host: string; readonly port: number },
): Promise<HealthServer> {
  const server: Server = createServer((request, reply) => {
    const path = (request.url ?? '/').split('?')[0] as string;
    answer(path, checks).then(
      ({ status, text, type = 'text/plain; charset=utf-8' }) =>
        reply.writeHead(status, { 'content-type': type }).end(text),
      () => reply.writeHead(500).end(),
    );
  });
  await new Promise<void>((done, fail) => {
    server.once('error', fail);
    server.listen(at.port, at.host, done);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${at.host.includes(':') ? `[${at.host}]` : at.host}:${port}`,
    stop: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}
