// The gateway with figures, and calls of any day as rows.
import { insertRows } from '@svc/core/analytics/store.ts';
import { FiguresMemory, figureServices, publishFigures } from '@svc/core/figures/index.ts';
import { type Id, now, nowMs, type RequestId, shiftClock } from '@svc/core/kernel/index.ts';
import { ulid } from 'ulid';
import { type Harness, startHarness, type Tenant } from '../registry/harness.ts';
import { rowOf } from '../registry/rows.ts';

export type Row = ReturnType<typeof rowOf>;
type Attempt = Row['attempt_rows'][number];

/** Calls that are alike. */
export interface Calls extends Partial<Omit<Row, 'attempt_rows'>> {
  readonly n: number;
  readonly tenant: Tenant;
  /** How long ago, in hours; 1 unless given. */
  readonly hours_ago?: number;
  readonly attempt?: Partial<Attempt>;
}

export interface FiguresWorld extends Harness {
  readonly memory: FiguresMemory;
  write(calls: Calls): Promise<void>;
  /** Publishes figures of now, and lets the process forget what it knew. */
  publish(min_orgs?: number): Promise<void>;
}

export async function startFiguresWorld(): Promise<FiguresWorld> {
  const memory = new FiguresMemory();
  const harness = await startHarness({ services: figureServices(memory) });
  return {
    ...harness,
    memory,
    async write({ n, tenant, hours_ago = 1, attempt = {}, ...other }) {
      const at_ms = nowMs() - hours_ago * 3_600_000;
      const rows = Array.from({ length: n }, () => {
        const row = rowOf(tenant, { ...other, request_id: ulid(at_ms) as RequestId });
        const endpoint_id = row.endpoint_id as Id<'endpoint'>;
        return { ...row, attempt_rows: row.attempt_rows.map((one) => ({ ...one, endpoint_id, ...attempt })) };
      });
      for (let at = 0; at < rows.length; at += 500) await insertRows(harness.pool, rows.slice(at, at + 500));
    },
    async publish(min_orgs = 1) {
      await publishFigures(harness.pool, { now: now(), min_orgs });
      memory.forget();
    },
  };
}

/** Noon of the present day in UTC, so that an hour ago is the same day. */
export function noon(): void {
  shiftClock(0);
  const day_ms = 86_400_000;
  shiftClock(Math.floor(nowMs() / day_ms) * day_ms + day_ms / 2 - nowMs());
}
