// The development clock: one row in `settings` that every program of the installation follows within a second, so
// that expiry, budgets and retries can be tried (`svcctl dev clock`). Only programs with SVC_DEV=1 follow it.
import type { Pool } from '../db/index.ts';
import { type Db, type Log, now, shiftClock } from '../kernel/index.ts';

const NAME = 'dev_clock';
const POLL_MS = 500;

interface Row {
  readonly offset_ms: number;
}

/** By how many milliseconds the installation's clock is shifted; 0 when it is not. */
export async function readClockShift(db: Db): Promise<number> {
  const { rows } = await db.query<Row>({
    name: 'db.read_clock',
    text: `select (value->>'offset_ms')::bigint as offset_ms from settings where name = $1`,
    values: [NAME],
  });
  return rows[0]?.offset_ms ?? 0;
}

/** Shifts the installation's clock by `add_ms` more; returns the whole shift in milliseconds. */
export async function advanceClock(db: Db, add_ms: number): Promise<number> {
  const { rows } = await db.query<Row>({
    name: 'db.advance_clock',
    text: `
      insert into settings as s (name, value, updated_at)
      values ($1, jsonb_build_object('offset_ms', $2::bigint), $3)
      on conflict (name) do update
         set value = jsonb_build_object('offset_ms', (s.value->>'offset_ms')::bigint + $2::bigint), updated_at = $3
      returning (value->>'offset_ms')::bigint as offset_ms`,
    values: [NAME, add_ms, now()],
  });
  return rows[0]?.offset_ms ?? 0;
}

/** Returns the installation to the clock of its machines. */
export async function resetClock(db: Db): Promise<void> {
  await db.query({ name: 'db.reset_clock', text: 'delete from settings where name = $1', values: [NAME] });
}

/** Follows the installation's clock until stopped; resolves once this process has it. Call it only with SVC_DEV=1. */
export async function followClock(pool: Pool, log: Log): Promise<{ stop(): void }> {
  let last = await readClockShift(pool);
  shiftClock(last);
  let timer: NodeJS.Timeout | null = null;
  const look = async () => {
    try {
      const shift_ms = await readClockShift(pool);
      if (shift_ms !== last) {
        last = shift_ms;
        shiftClock(shift_ms);
        log.info({ shift_ms }, 'development clock moved');
      }
    } catch (error) {
      // The clock stays as it was: without a database nothing that depends on it can be done either.
      log.debug({ error }, 'development clock not read');
    }
    if (timer !== null) wait();
  };
  const wait = () => {
    timer = setTimeout(look, POLL_MS);
    timer.unref();
  };
  wait();
  return {
    stop() {
      if (timer !== null) clearTimeout(timer);
      timer = null;
    },
  };
}
