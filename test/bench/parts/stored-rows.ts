// What PostgreSQL spends on storing the row and the attempt of a call, apart from everything else.
import { postgresSink } from '@svc/core/analytics/engine/postgres.ts';
import type { RequestRow } from '@svc/core/analytics/index.ts';
import { prepareDays } from '@svc/core/analytics/store.ts';
import { createPool } from '@svc/core/db/index.ts';
import { newRequestId } from '@svc/core/kernel/index.ts';
import type { Tenant } from '../../registry/harness.ts';
import { rowOf } from '../../registry/rows.ts';
import { treeCpuMicros } from '../machine.ts';
import type { Stack } from '../stack.ts';

export interface StoredRowFigures {
  readonly postgres_us: number;
  readonly rows: number;
}

/** As many as the log of a process sends at once. */
const BATCH = 500;

/** In batches as a busy gateway sends them, after some that fill the caches of the server. */
export async function measureStoredRows(stack: Stack, batches: number): Promise<StoredRowFigures> {
  const pool = createPool(stack.database_url, { max: 1 });
  try {
    const today = new Date().toISOString().slice(0, 10);
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
    await prepareDays(pool, { first: today, last: tomorrow });
    const sink = postgresSink(pool);
    const { org_id, project_id, keys } = stack.keys;
    const tenant = { org: { id: org_id }, live: { id: project_id }, key_id: keys[0]?.key_id };
    const store = async (count: number) => {
      for (let sent = 0; sent < count; sent++) {
        const rows: RequestRow[] = Array.from({ length: BATCH }, () =>
          rowOf(tenant as unknown as Tenant, { request_id: newRequestId() }),
        );
        await sink.insert(rows);
      }
    };
    await store(Math.ceil(batches / 4));
    const before = treeCpuMicros(stack.postgres.pid);
    await store(batches);
    const rows = batches * BATCH;
    return { postgres_us: (treeCpuMicros(stack.postgres.pid) - before) / rows, rows };
  } finally {
    await pool.end();
  }
}
