// What runs, and whether it can serve.
import { listMigrations, readClockShift } from '@svc/core/db/index.ts';
import type { Command, Result } from '../command.ts';
import { findInstallation, withDatabase } from '../installation.ts';
import { appliedMigrations } from '../store.ts';

interface Health {
  readonly address: string;
  readonly ready: boolean;
  readonly detail: unknown;
}

async function health(address: string): Promise<Health> {
  try {
    const answer = await fetch(`${address}/readyz`, { signal: AbortSignal.timeout(3_000) });
    const text = await answer.text();
    let detail: unknown = text;
    try {
      detail = JSON.parse(text);
    } catch {
      // Plain text says it as well.
    }
    return { address, ready: answer.status === 200, detail };
  } catch (error) {
    const cause = (error as { cause?: Error }).cause ?? (error as Error);
    return { address, ready: false, detail: cause.message };
  }
}

async function database() {
  return withDatabase(async (pool) => {
    const ping_ms = Number((await pool.ping()).toFixed(1));
    const known = (await listMigrations()).length;
    const applied = await appliedMigrations(pool);
    const clock_shift_ms = applied > 0 ? await readClockShift(pool) : 0;
    return { ping_ms, migrations_applied: applied, migrations_known: known, clock_shift_ms };
  });
}

export const command: Command = {
  async run(): Promise<Result> {
    const { config, up } = findInstallation();
    const base = up?.base_url ?? config.base_url ?? `http://${config.host}:${config.port}`;
    const gateway = await health(base);
    const db = await database().catch((error: Error) => ({ error: error.message }));
    const current = 'error' in db ? false : db.migrations_applied === db.migrations_known;
    const lines = [
      `gateway   ${gateway.ready ? 'ready' : 'NOT READY'}  ${base}  ${gateway.ready ? '' : JSON.stringify(gateway.detail)}`,
    ];
    if ('error' in db) lines.push(`database  NOT REACHABLE  ${db.error}`);
    else {
      lines.push(
        `database  ${current ? 'ready' : 'NOT MIGRATED'}  ${db.migrations_applied} of ${db.migrations_known} migrations, ${db.ping_ms} ms`,
      );
      if (db.clock_shift_ms !== 0)
        lines.push(`clock     shifted by ${db.clock_shift_ms / 1000} s (development)`);
    }
    for (const one of up?.processes ?? [])
      lines.push(`process   ${one.name}  pid ${one.pid}  ${one.address}`);
    return {
      json: { ok: gateway.ready && current, gateway, database: db, processes: up?.processes ?? [] },
      text: lines.join('\n'),
      ok: gateway.ready && current,
    };
  },
};
