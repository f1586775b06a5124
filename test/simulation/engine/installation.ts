// What every run begins with: two databases with the product's own migrations, an installation with its organizations and
// keys, made once in a process by the product's own functions and put back before each run.
import { PGlite } from '@electric-sql/pglite';
import { type Engine, listenAs, Server } from './database.ts';
import { Loop } from './loop.ts';
import { asServer } from './timers.ts';
import { cut, message, Prepared } from './wire.ts';

export const HOSTS = ['database.sim', 'ledger.sim'] as const;
type Host = (typeof HOSTS)[number];

export type Engines = Readonly<Record<Host, Engine>>;

/** Two empty servers. The second begins with the files of the first, which takes a third of the time. */
export async function openEngines(): Promise<Engines> {
  const first = await PGlite.create();
  const second = await PGlite.create({ loadDataDir: await first.dumpDataDir('none') });
  return {
    'database.sim': { postgres: first, prepared: new Prepared() },
    'ledger.sim': { postgres: second, prepared: new Prepared() },
  };
}

/** The servers of a run, reached by its sockets from now on. */
export function serve(engines: Engines, loop: Loop): Readonly<Record<Host, Server>> {
  const servers = HOSTS.map(
    (host) => [host, new Server(host.replace('.sim', ''), engines[host], loop)] as const,
  );
  listenAs(new Map(servers));
  return Object.fromEntries(servers) as Record<Host, Server>;
}

/** Runs `work` on the servers in virtual time, with nothing in its way. */
export async function calmly<T>(engines: Engines, start_ms: number, work: () => Promise<T>): Promise<T> {
  const loop = new Loop({ seed: 0, start_ms, reads_files: true });
  serve(engines, loop);
  const result = await loop.until(work);
  if (loop.defects.length > 0) throw new Error(loop.defects.join('\n'));
  return result;
}

const KEEP = `
  create schema simulation;
  create table simulation.sequences as
    select format('%I.%I', schemaname, sequencename)::regclass as place, last_value from pg_sequences;
  create table simulation.kept (place regclass, copy text, hash numeric);
  do $$ declare t regclass; n text; h numeric; begin
    for t in select c.oid::regclass from pg_class c join pg_namespace s on s.oid = c.relnamespace
              where c.relkind = 'r' and s.nspname in ('public', 'ledger') loop
      n := format('simulation.%I', 'of_' || t::oid);
      execute format('create table %s as table %s', n, t);
      execute format('select coalesce(sum(hashtextextended(t::text, 0)::numeric), 0) from %s t', t) into h;
      insert into simulation.kept values (t, n, h);
    end loop;
  end $$;
  create function simulation.restore() returns int language plpgsql as $$
    declare k record; h numeric; n int := 0; begin
      perform set_config('session_replication_role', 'replica', true);
      for k in select * from simulation.kept loop
        execute format('select coalesce(sum(hashtextextended(t::text, 0)::numeric), 0) from %s t', k.place) into h;
        continue when h = k.hash;
        n := n + 1;
        execute format('delete from %s', k.place);
        execute format('insert into %s overriding system value table %s', k.place, k.copy);
      end loop;
      perform case when last_value is null then setval(place, 1, false) else setval(place, last_value, true) end
         from simulation.sequences;
      return n;
    end $$`;

/** Keeps what is in the databases now. */
export async function keep(engines: Engines): Promise<void> {
  for (const host of HOSTS) await engines[host].postgres.exec(KEEP);
}

const RESTORE = message('Q', Buffer.from('select simulation.restore()\0'));

/** Puts back what was kept. @throws Error when the server refuses. */
export function restore(engines: Engines): void {
  for (const host of HOSTS) {
    const { postgres } = engines[host];
    const answer = asServer(() => Buffer.from(postgres.execProtocolRawSync(RESTORE)));
    const fault = cut(answer).messages.find(({ type }) => type === 'E');
    if (fault !== undefined) throw new Error(`not restored: ${fault.bytes.toString()}`);
  }
}
