// Code that the metrics listeners of all programs share.
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Gauge, type Registry } from 'prom-client';

/** Adds gauges that are read at each scrape: name without the prefix `svc_` → function that returns the value. */
export function watchGauges(registry: Registry, gauges: Readonly<Record<string, () => number>>): void {
  for (const [name, read] of Object.entries(gauges)) {
    new Gauge({
      name: `svc_${name}`,
      help: `${name.replaceAll('_', ' ')}, read at the scrape.`,
      registers: [registry],
      collect() {
        this.set(read());
      },
    });
  }
}

/**
 * Listens on `host:port` (port 0 picks a free one) and returns `http://host:port`. @throws Error when the port is
 * taken.
 */
export async function listenAt(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<string> {
  await new Promise<void>((done, fail) => {
    server.once('error', fail);
    server.listen(port, host, done);
  });
  const name = host.includes(':') ? `[${host}]` : host;
  return `http://${name}:${(server.address() as AddressInfo).port}`;
}

/** Closes a listener and its open connections. */
export async function closeListener(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
}
