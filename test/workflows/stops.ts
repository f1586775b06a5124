// Stops a worker inside a step: where it writes a certain row it waits, in its transaction, until the stop is lifted.
import pg from 'pg';
import { atFileEnd } from '../support/ends.ts';
import { until } from './world.ts';

/** Where a transaction waits: before it writes or deletes such a row. */
export interface Stop {
  readonly table: string;
  readonly event: 'insert' | 'update' | 'delete';
  /** Of the row, as `new` and `old`. */
  readonly when: string;
}

export interface Stops {
  /** From now on the transactions of workers wait at these stops. */
  set(stops: Readonly<Record<string, Stop>>): Promise<void>;
  /** Until somebody waits at every one of them. */
  reached(): Promise<void>;
  /** Ends whoever waits, as when the machine dies that asked, and lifts the stops. */
  cut(): Promise<void>;
}

/** Stops in the database at `url`. */
export async function openStops(url: string): Promise<Stops> {
  const [holder, admin] = [
    new pg.Client({ connectionString: url }),
    new pg.Client({ connectionString: url }),
  ];
  await Promise.all([holder.connect(), admin.connect()]);
  atFileEnd(() => Promise.all([holder.end(), admin.end()]));
  await admin.query(`
    create function stop_here() returns trigger language plpgsql as
      $$ begin
           if current_setting('application_name') like 'worker%' then
             perform pg_advisory_xact_lock(tg_argv[0]::bigint);
           end if;
           return coalesce(new, old);
         end $$`);
  let names: readonly string[] = [];
  let triggers: readonly string[] = [];
  const missing = async () => {
    // Other files stop workers too, in databases of the same server.
    const { rows } = await admin.query<{ key: number }>(`
      select distinct objid::int as key from pg_locks
       where locktype = 'advisory' and not granted
         and database = (select oid from pg_database where datname = current_database())`);
    const keys = new Set(rows.map(({ key }) => key));
    return names.filter((_, at) => !keys.has(at + 1));
  };
  return {
    async set(stops) {
      names = Object.keys(stops);
      triggers = Object.values(stops).map(({ table }, at) => `stop_${at + 1} on ${table}`);
      for (const [at, { table, event, when }] of Object.values(stops).entries()) {
        await holder.query('select pg_advisory_lock($1)', [at + 1]);
        await admin.query(`create trigger stop_${at + 1} before ${event} on ${table}
                             for each row when (${when}) execute function stop_here(${at + 1})`);
      }
    },
    async reached() {
      let left = names;
      const look = async () => {
        left = await missing();
        return left.length === 0;
      };
      await until('every stop', look, 90_000).catch(() => {
        throw new Error(`nobody came to: ${left.join(', ')}`);
      });
    },
    async cut() {
      const waits = `datname = current_database() and wait_event_type = 'Lock'`;
      await admin.query(`select pg_terminate_backend(pid) from pg_stat_activity where ${waits}`);
      const nobody = async () =>
        (await admin.query(`select 1 from pg_stat_activity where ${waits}`)).rows.length === 0;
      await until('nobody waits', nobody);
      for (const trigger of triggers) await admin.query(`drop trigger ${trigger}`);
      await holder.query('select pg_advisory_unlock_all()');
    },
  };
}
