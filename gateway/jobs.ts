// The periodic work of an installation (design 2 "jobs"), led by one process at a time.
import { prepareDays, type RequestLog } from '@svc/core/analytics/index.ts';
import { type Job, type Leader, lead, type Pool } from '@svc/core/db/index.ts';
import { lostRow } from '@svc/core/inference/index.ts';
import { type Log, now, nowMs } from '@svc/core/kernel/index.ts';
import { findSubjectOwner } from '@svc/core/keys/index.ts';
import { expireLots, makeMeterPartitions, purgeClaims, sweepOnce } from '@svc/core/ledger/index.ts';
import { purgeAnswers } from '@svc/core/operations/index.ts';

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

/** Starts the jobs; they run wherever the leader lock is won. */
export function startJobs(parts: {
  pool: Pool;
  url: string;
  log: Log;
  request_log: RequestLog;
  cell: string;
}): Leader {
  const { pool, url, log, request_log, cell } = parts;
  const jobs: Job[] = [
    {
      name: 'sweep_holds',
      every_ms: 5 * SECOND,
      async run() {
        const swept = await sweepOnce(pool);
        // Their calls died with a process (4.8 row 19): the caller finds them as `gateway_lost`.
        for (const hold of swept) {
          const owner = await findSubjectOwner(pool, hold);
          if (owner !== null) request_log.write(lostRow(owner, hold.request_id, cell));
        }
        return swept.length;
      },
    },
    { name: 'expire_lots', every_ms: HOUR, run: () => expireLots(pool) },
    { name: 'purge_claims', every_ms: HOUR, run: () => purgeClaims(pool) },
    { name: 'purge_answers', every_ms: HOUR, run: () => purgeAnswers(pool, now()) },
    {
      name: 'row_partitions',
      every_ms: 6 * HOUR,
      run: () => prepareDays(pool, { first: dayAfter(0), last: dayAfter(2) }),
    },
    { name: 'meter_partitions', every_ms: 6 * HOUR, run: () => makeMeterPartitions(pool) },
  ];
  return lead({ url, log, jobs });
}

/** The UTC date `days` from today. */
function dayAfter(days: number): string {
  return new Date(nowMs() + days * 24 * HOUR).toISOString().slice(0, 10);
}
