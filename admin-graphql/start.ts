// Assembles the admin program: the customers' listener and the staff listener, over one database pool.
import { fileURLToPath } from 'node:url';
import { openRequestFeed } from '@svc/core/analytics/index.ts';
import { builtIn } from '@svc/core/inference/index.ts';
import type { Config, Log } from '@svc/core/kernel/index.ts';
import { analyticsChecks, type HttpParts, hostOf, openBase } from '@svc/http/index.ts';
import { readPages } from './pages.ts';
import { createStaffApp } from './staff.ts';
import { Streams } from './streams.ts';
import { createTenantApp } from './tenant.ts';

interface Admin {
  readonly admin_url: string;
  readonly staff_url: string;
  readonly metrics_url: string;
  /** Ends streams, lets running requests finish, then closes everything. */
  stop(): Promise<void>;
}

/** Where `console/build.ts` puts the two consoles. */
const CONSOLE = fileURLToPath(new URL('../console/dist', import.meta.url));
const STAFF_CONSOLE = fileURLToPath(new URL('../console/dist-staff', import.meta.url));

/**
 * Starts both listeners on `config.host`.
 * @throws Error when the database, the catalog files or a port cannot be used; nothing is left open then.
 */
export async function startAdmin({ config, log }: { config: Config; log: Log }): Promise<Admin> {
  await using opening = new AsyncDisposableStack();
  // This program makes no calls and so writes no request rows, but operations ask the request log how far rows lag
  // behind.
  const base = await openBase(opening, {
    ...{ config, log, formats: builtIn },
    program: 'admin',
    spool: 'spool-admin',
  });
  let draining = false;
  // Without Redis the counters of calls are in the gateway's memory, and those of this program say nothing of them.
  const { limits: _, ...others } = base.services;
  const services = config.redis_url === null ? others : base.services;
  const checks = analyticsChecks(base.analytics);
  const parts: HttpParts = { ...base, services, checks, draining: () => draining };
  const pages = readPages(CONSOLE);
  if (pages === null) log.warn({ dir: CONSOLE }, 'no console was built; only the API is served');
  const feed = openRequestFeed({ db: base.pool, reader: base.services.row_reader, log });
  const streams = new Streams();
  base.metrics.watch([
    {
      name: 'svc_streams_open',
      help: 'Open streams of the console.',
      type: 'gauge',
      read: () => streams.size,
    },
  ]);
  const persisted_only = config.graphql_persisted_only;
  const tenant = createTenantApp(parts, { feed, streams, pages, persisted_only });
  const staff = createStaffApp(parts, {
    ...{ introspection: config.dev, pages: readPages(STAFF_CONSOLE) },
    decoder: config.temporal_decoder ? { ui_origins: config.temporal_ui_origins ?? [] } : null,
  });
  // Streams end first: closing a listener waits for its open responses.
  opening.defer(async () => {
    draining = true;
    streams.close();
    feed.close();
    await Promise.all([tenant.close(), staff.close()]);
  });
  await tenant.listen({ host: config.host, port: config.admin_port });
  await staff.listen({ host: config.host, port: config.staff_port });
  const address = (app: typeof tenant) =>
    `http://${hostOf(config)}:${(app.server.address() as { port: number }).port}`;
  const opened = opening.move();
  return {
    admin_url: address(tenant),
    staff_url: address(staff),
    metrics_url: base.metrics.url,
    stop: () => opened.disposeAsync(),
  };
}
