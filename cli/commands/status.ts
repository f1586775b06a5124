// Shows what should run and whether it can serve: every program of `make up`, or otherwise the gateway and the
// database that the settings name.
import { createConnection } from 'node:net';
import { listMigrations } from '@svc/core/db/index.ts';
import { readClockShift } from '@svc/core/runtime/index.ts';
import type { Command, Result } from '../command.ts';
import { findInstallation, withDatabase } from '../installation.ts';
import { appliedMigrations } from '../store.ts';
import type { ProgramState } from '../up/up-file.ts';

const PATIENCE_MS = 3_000;

interface Health {
  readonly name: string;
  readonly address: string;
  readonly ready: boolean;
  /** What is wrong or works only in part; null when there is nothing to report. */
  readonly detail: string | null;
  readonly pid: number | null;
}

interface Readiness {
  readonly missing?: readonly string[] | string;
  readonly parts?: Readonly<Record<string, { readonly ok: boolean; readonly detail?: string }>>;
}

/** The parts that a program reports as failing. It may be able to serve without some of them. */
function partsOf(body: string): string | null {
  try {
    const { missing = [], parts = {} } = JSON.parse(body) as Readiness;
    const weak = Object.entries(parts).filter(([, { ok }]) => !ok);
    const reported = weak.map(([name, { detail }]) => (detail === undefined ? name : `${name}: ${detail}`));
    const others = [missing].flat().filter((name) => !(name in parts));
    return [...reported, ...others].join('; ') || null;
  } catch {
    return null;
  }
}

async function ask(url: string): Promise<Pick<Health, 'ready' | 'detail'>> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(PATIENCE_MS) });
    const body = await answer.text();
    if (answer.status === 200) return { ready: true, detail: partsOf(body) };
    return { ready: false, detail: partsOf(body) ?? `${url} answers ${answer.status}` };
  } catch (error) {
    const cause = (error as { cause?: Error }).cause ?? (error as Error);
    return { ready: false, detail: cause.message };
  }
}

/** Whether anything listens on `address`; the only check possible for a program without a health address. */
function connect(address: string): Promise<Pick<Health, 'ready' | 'detail'>> {
  const at = address.lastIndexOf(':');
  const socket = createConnection({ host: address.slice(0, at), port: Number(address.slice(at + 1)) });
  return new Promise((done) => {
    const end = (ready: boolean, detail: string | null) => {
      socket.destroy();
      done({ ready, detail });
    };
    socket.setTimeout(PATIENCE_MS, () => end(false, 'no connection'));
    socket.once('connect', () => end(true, null));
    socket.once('error', (error) => end(false, error.message));
  });
}

async function look(program: ProgramState): Promise<Health> {
  const { name, address, pid, state, health_url } = program;
  const facts = { name, address, pid };
  if (state === 'missing') return { ...facts, ready: false, detail: program.detail };
  const found = health_url === null ? await connect(address) : await ask(health_url);
  if (state === 'ready') return { ...facts, ...found };
  return { ...facts, ready: false, detail: program.detail ?? state };
}

async function database() {
  return withDatabase(async (pool) => {
    const ping_ms = Number((await pool.ping()).toFixed(1));
    const { installation, ledger } = await listMigrations();
    const known = installation.length + ledger.length;
    const applied = await appliedMigrations(pool);
    const clock_shift_ms = applied > 0 ? await readClockShift(pool) : 0;
    return { ping_ms, migrations_applied: applied, migrations_known: known, clock_shift_ms };
  });
}

/** What should run according to the settings, where `make up` does not run. */
function byConfiguration(): ProgramState[] {
  const { config } = findInstallation();
  const base = config.base_url ?? `http://${config.host}:${config.port}`;
  const facts = { state: 'ready', pid: null, detail: null } as const;
  return [{ ...facts, name: 'gateway', address: base, health_url: `${base}/readyz` }];
}

const line = (name: string, ready: boolean | string, address: string, detail: string | null) => {
  const flag = ready ? 'ready' : 'NOT READY';
  const health = typeof ready === 'string' ? ready : flag;
  return `${name.padEnd(10)} ${health.padEnd(13)} ${address.padEnd(24)} ${detail ?? ''}`.trimEnd();
};

export const command: Command = {
  async run(): Promise<Result> {
    const { up } = findInstallation();
    const wanted = up?.programs ?? byConfiguration();
    const programs = await Promise.all(wanted.filter(({ name }) => name !== 'postgres').map(look));
    const db = await database().catch((error: Error) => ({ error: error.message }));
    const is_current = 'error' in db ? false : db.migrations_applied === db.migrations_known;
    const pid = wanted.find(({ name }) => name === 'postgres')?.pid ?? null;
    const address = wanted.find(({ name }) => name === 'postgres')?.address ?? 'SVC_DATABASE_URL';
    const words =
      'error' in db
        ? db.error
        : `${db.migrations_applied} of ${db.migrations_known} migrations, ${db.ping_ms} ms`;
    const health = is_current || ('error' in db ? 'NOT REACHABLE' : 'NOT MIGRATED');
    const lines = [line('database', health, address, words)];
    lines.push(
      ...programs.map(({ name, ready, address, detail }) =>
        line(name, ready, address, detail?.split('\n')[0] ?? null),
      ),
    );
    if (!('error' in db) && db.clock_shift_ms !== 0)
      lines.push(`${'clock'.padEnd(10)} shifted by ${db.clock_shift_ms / 1000} s (development)`);
    if (up?.admin_url !== undefined)
      lines.push(`${'console'.padEnd(10)} ${up.admin_url}  ${up.console_login.email}`);
    const ok = is_current && programs.every(({ ready }) => ready);
    return {
      json: {
        ok,
        gateway: programs.find(({ name }) => name === 'gateway') ?? null,
        database: { ...db, address, pid },
        programs,
        processes: up?.processes ?? [],
      },
      text: lines.join('\n'),
      ok,
    };
  },
};
