// Whether workflows run: the last heartbeat of a worker, and whether starts are being sent to Temporal. Read by
// programs that do not know Temporal (`/readyz` of the gateway).
import { readSetting, writeSetting } from '../db/index.ts';
import { type Db, machineMs, now } from '../kernel/index.ts';
import { readWaiting } from './store.ts';

const NAME = 'workflows.worker';
/** Six beats. */
const SILENT_MS = 30_000;
/** Where all works, a start is sent within a second. */
const WAITING_MS = 30_000;

interface Beat {
  readonly worker: string;
  readonly temporal: boolean;
  /** By the machine's clock: beats are compared between programs, whatever the development clock says. */
  readonly at_ms: number;
}

interface WorkflowHealth {
  /** Seconds since the last heartbeat of a worker; null when there was none. */
  readonly beat_seconds: number | null;
  /** Whether that worker reached Temporal. */
  readonly temporal: boolean;
  readonly waiting: number;
  readonly oldest_waiting_seconds: number | null;
  /** Null when workflows run; otherwise what is wrong. */
  readonly trouble: string | null;
}

/** Writes a heartbeat of `worker`, with whether it reaches Temporal. */
export async function beat(
  db: Db,
  worker: { readonly worker: string; readonly temporal: boolean },
): Promise<void> {
  const value: Beat = { worker: worker.worker, temporal: worker.temporal, at_ms: machineMs() };
  await writeSetting(db, { name: NAME, value, at: now() });
}

function troubleOf(health: Omit<WorkflowHealth, 'trouble'>): string | null {
  const { beat_seconds, temporal, waiting, oldest_waiting_seconds } = health;
  const seconds = (ms: number) => ms / 1_000;
  if (beat_seconds === null) return 'degraded: no worker has run yet';
  if (beat_seconds > seconds(SILENT_MS)) return `degraded: no worker since ${beat_seconds} s`;
  if (!temporal) return 'degraded: the worker does not reach Temporal';
  if (oldest_waiting_seconds !== null && oldest_waiting_seconds > seconds(WAITING_MS)) {
    return `degraded: ${waiting} not started, the oldest since ${oldest_waiting_seconds} s`;
  }
  return null;
}

/** The state of workflows, from the last heartbeat and the oldest start that waits. */
export async function readWorkflowHealth(db: Db): Promise<WorkflowHealth> {
  const said = await readSetting<Beat>(db, NAME);
  const { waiting, oldest_at } = await readWaiting(db);
  const age = (from_ms: number, to_ms: number) => Math.max(0, Math.round((to_ms - from_ms) / 1_000));
  const health = {
    beat_seconds: said === null ? null : age(said.at_ms, machineMs()),
    temporal: said?.temporal ?? false,
    waiting,
    oldest_waiting_seconds: oldest_at === null ? null : age(oldest_at.getTime(), now().getTime()),
  };
  return { ...health, trouble: troubleOf(health) };
}
