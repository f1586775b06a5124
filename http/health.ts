// `/healthz`: the process answers. `/readyz`: it can serve requests; otherwise it names the parts that fail.
import type { Analytics } from '@svc/core/analytics/index.ts';
import type { Pool } from '@svc/core/db/index.ts';
import type { FastifyInstance } from 'fastify';
import type { HttpParts } from './parts.ts';

/** One part that a program needs; `run` resolves with null when it works, otherwise with what is wrong. */
export interface Check {
  readonly name: string;
  /** Whether no call can be served without it. */
  readonly critical: boolean;
  run(): Promise<string | null>;
}

const PATIENCE_MS = 2_000;

function patiently(check: Check): Promise<string | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((done) => {
    timer = setTimeout(() => done(`no answer within ${PATIENCE_MS} ms`), PATIENCE_MS);
  });
  const run = check.run().catch(() => 'cannot be reached');
  return Promise.race([run, late]).finally(() => clearTimeout(timer));
}

function databaseCheck(pool: Pool): Check {
  return {
    name: 'postgres',
    critical: true,
    async run() {
      await pool.ping();
      return null;
    },
  };
}

/** The store of rows of calls, where it is not the database: calls go on without it. */
export function analyticsChecks({ look }: Pick<Analytics, 'look'>): Check[] {
  return look === undefined ? [] : [{ name: 'analytics', critical: false, run: look }];
}

/** Adds `/healthz` and `/readyz`. */
export function bindHealth(
  scope: FastifyInstance,
  options: Pick<HttpParts, 'pool' | 'checks' | 'draining'>,
): void {
  const checks = [databaseCheck(options.pool), ...(options.checks ?? [])];
  for (const path of ['/healthz', '/readyz']) scope.known_paths.add('GET', path, true);
  scope.get('/healthz', async () => ({ status: 'ok' }));
  scope.get('/readyz', async (_request, reply) => {
    const found = await Promise.all(checks.map(patiently));
    const parts: Record<string, { ok: boolean; critical: boolean; detail?: string }> = {};
    const missing: string[] = [];
    checks.forEach(({ name, critical }, i) => {
      const detail = found[i] ?? null;
      parts[name] = { ok: detail === null, critical, ...(detail === null ? {} : { detail }) };
      if (critical && detail !== null) missing.push(name);
    });
    if (options.draining?.() === true) missing.push('draining');
    const ready = missing.length === 0;
    return reply.code(ready ? 200 : 503).send({ status: ready ? 'ready' : 'unavailable', missing, parts });
  });
}
