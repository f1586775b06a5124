// Jobs that make room for new rows and remove what is no longer kept.
import {
  dropOldDays,
  dropSums,
  prepareDays,
  rollUpUsage,
  sumMissing,
  summariseArrivals,
  sumSpans,
} from '../analytics/index.ts';
import { purgeNotices } from '../credits/index.ts';
import { eachShard, type Pool } from '../db/index.ts';
import { purgeAudit, purgeSignIn } from '../identity/index.ts';
import { now, nowMs, type Services } from '../kernel/index.ts';
import { purgeKeyNotices } from '../keys/index.ts';
import { makeMeterPartitions, measureLoad, purgeClaims, purgeRuns } from '../ledger/index.ts';
import { purgeMails } from '../mail/index.ts';
import { sweepErasedOrgs } from '../org-erasure/index.ts';
import { preparePayloadDays, purgePayloads } from '../payloads/index.ts';
import { sweepErased } from '../privacy/index.ts';
import { purgeMisses } from '../redeem/index.ts';
import type { Job } from '../runtime/index.ts';
import { purgeQuotes, purgeRailEvents } from '../topups/index.ts';
import { purgeWebhooks } from '../webhooks/index.ts';
import { purgeWorkflows } from '../workflow-starts/index.ts';
import { purgeAnswers } from './store.ts';

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

/** Makes room for new rows and removes what is no longer kept (docs/operate/retention.md). */
export function upkeepJobs(pool: Pool, rows: Partial<Pick<Services, 'row_keeper'>> = {}): Job[] {
  const { row_keeper: keeper } = rows;
  return [
    { name: 'summarise_arrivals', every_ms: 15 * SECOND, run: () => summariseArrivals(pool) },
    { name: 'purge_credit_notices', every_ms: HOUR, run: () => purgeNotices(pool, dayAfter(-1)) },
    { name: 'purge_key_notices', every_ms: HOUR, run: () => purgeKeyNotices(pool, now()) },
    { name: 'purge_quotes', every_ms: HOUR, run: () => purgeQuotes(pool, now()) },
    { name: 'purge_rail_events', every_ms: HOUR, run: () => purgeRailEvents(pool, now()) },
    { name: 'purge_workflows', every_ms: HOUR, run: () => purgeWorkflows(pool, now()) },
    {
      name: 'purge_redeem_misses',
      every_ms: HOUR,
      run: () => purgeMisses(pool, new Date(nowMs() - HOUR)),
    },
    { name: 'purge_sign_in', every_ms: HOUR, run: () => purgeSignIn(pool, now()) },
    { name: 'purge_audit', every_ms: HOUR, run: () => purgeAudit(pool, now()) },
    { name: 'purge_answers', every_ms: HOUR, run: () => purgeAnswers(pool, now()) },
    { name: 'sweep_erased', every_ms: 10 * SECOND, run: () => sweepErased(pool, now(), keeper) },
    { name: 'sweep_erased_orgs', every_ms: HOUR, run: () => sweepErasedOrgs(pool, now(), keeper) },
    { name: 'purge_payloads', every_ms: HOUR, run: () => purgePayloads(pool, now()) },
    { name: 'purge_mails', every_ms: HOUR, run: () => purgeMails(pool) },
    { name: 'purge_webhooks', every_ms: HOUR, run: () => purgeWebhooks(pool) },
    {
      name: 'roll_up_usage',
      every_ms: 60 * SECOND,
      run: async () =>
        (await rollUpUsage(pool, now())) +
        (await sumMissing(pool)) +
        (await sumSpans(pool)) +
        ((await keeper?.sumHours(now())) ?? 0),
    },
    {
      name: 'row_partitions',
      every_ms: 6 * HOUR,
      run: () => prepareDays(pool, { first: dayAfter(0), last: dayAfter(2) }),
    },
    { name: 'drop_sums', every_ms: 6 * HOUR, run: () => dropSums(pool, now()) },
    {
      name: 'drop_rows',
      every_ms: HOUR,
      run: async () => (await dropOldDays(pool, now())) + ((await keeper?.dropDays(now())) ?? 0),
    },
    {
      name: 'payload_partitions',
      every_ms: 6 * HOUR,
      run: () => preparePayloadDays(pool, { first: dayAfter(0), last: dayAfter(2) }),
    },
    ...shardJobs(pool),
  ];
}

/** The same of each ledger, and how busy it is. */
function shardJobs(pool: Pool): Job[] {
  const { shards } = pool;
  return [
    { name: 'purge_claims', every_ms: HOUR, run: () => eachShard(shards, (ledger) => purgeClaims(ledger)) },
    { name: 'purge_runs', every_ms: HOUR, run: () => eachShard(shards, (ledger) => purgeRuns(ledger)) },
    { name: 'meter_partitions', every_ms: 6 * HOUR, run: () => eachShard(shards, makeMeterPartitions) },
    { name: 'measure_load', every_ms: 300 * SECOND, run: () => measureLoad(pool) },
  ];
}

/** The UTC date `days` from today. */
function dayAfter(days: number): string {
  return new Date(nowMs() + days * 24 * HOUR).toISOString().slice(0, 10);
}
