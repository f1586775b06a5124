// The periodic work of an installation, led by one process at a time.
import type { RequestLog } from '../analytics/index.ts';
import { mailedTopics, mailFact } from '../budgets/index.ts';
import { notifyExpiring, reconcileDaily } from '../credits/index.ts';
import { eachShard, type Pool } from '../db/index.ts';
import type { Egress } from '../egress/index.ts';
import { purgeEvalOutputs } from '../evals/index.ts';
import { settleGifts } from '../gifts/index.ts';
import { recheckDomains, refreshMetadata } from '../identity/index.ts';
import { lostRow } from '../inference/index.ts';
import { openDocument } from '../invoices/index.ts';
import { type Log, newRequestId, now, nowMs, type RootKeyRing, type Services } from '../kernel/index.ts';
import { findSubjectOwner, notifyExpiringKeys } from '../keys/index.ts';
import {
  applyDueTasks,
  checkpointSigner,
  countLowBooks,
  expireLots,
  readMoves,
  readTaskBacklog,
  sweepOnce,
  takeDailyCheckpoint,
} from '../ledger/index.ts';
import { tellOfLegal } from '../legal/index.ts';
import {
  type MailOutcome,
  type MailParts,
  type MailTransport,
  readMailBacklog,
  sendDue,
} from '../mail/index.ts';
import { cancelOfClosed, endMandates, lookAtBalances } from '../mandates/index.ts';
import { tellOfModels } from '../model-news/index.ts';
import { openPeriods } from '../plans/index.ts';
import { adoptEarlyDisputes, adoptRailRefunds, settleLosses } from '../refunds/index.ts';
import {
  countAccruals,
  creditAccruals,
  mailFromOf,
  recheckSenders,
  settleAllocations,
} from '../resellers/index.ts';
import {
  countExperiments,
  countShadows,
  dropExperimentHours,
  dropShadowHours,
  judgeCanaries,
} from '../rollouts/index.ts';
import { type Job, type Leader, lead } from '../runtime/index.ts';
import { compareRails } from '../settlements/index.ts';
import { recheckStorefronts, settingsOf, surroundingsOf } from '../storefronts/index.ts';
import { type MoneyIn, readSilences, refreshFx, runRailTasks } from '../topups/index.ts';
import { createDeliverer, type Deliverer, readBacklog, relayOutbox } from '../webhooks/index.ts';
import { type CertificateJobs, type CertificateSource, certificateJobs } from './certificate-jobs.ts';
import { createContext } from './context.ts';
import { noteMailEnd } from './mail-ends.ts';
import { figureJobs, rebuildJob } from './row-jobs.ts';
import { upkeepJobs } from './upkeep-jobs.ts';

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

interface JobParts {
  readonly pool: Pool;
  /** Of the database, where a session keeps its lock: the leader has a connection of its own. */
  readonly direct_url: string;
  readonly log: Log;
  readonly request_log: Pick<RequestLog, 'write' | 'flush'>;
  readonly money_in: MoneyIn;
  readonly cell: string;
  /** `loadRootKey` of the key ring file: signs webhooks, and the checkpoints of the ledger. */
  readonly root_key: RootKeyRing;
  /** The guarded client of the process (`openEgress`). */
  readonly egress: Egress;
  readonly mail: MailTransport;
  /** What reads and keeps rows of calls in another engine than PostgreSQL (`openAnalytics`). */
  readonly rows?: Pick<Services, 'row_reader' | 'row_keeper'>;
  /** Where storefronts are; absent: there are none. */
  readonly storefronts?: NonNullable<Services['storefronts']>;
  /** Where certificates of their domains come from; absent: from outside. */
  readonly certificates?: CertificateSource;
  /** So many organizations stand behind a published count of calls; 3 unless given. */
  readonly public_min_orgs?: number;
}

interface Waiting {
  readonly waiting: number;
  /** Since the oldest came. */
  readonly oldest_ms: number;
}

export interface Jobs extends Leader {
  readonly deliverer: Deliverer;
  /** Facts that wait in the outbox, as the leader last saw it; null where this process does not lead. */
  readonly backlog: Waiting | null;
  /** Orders to ledgers that were not carried out yet, likewise. */
  readonly orders: Waiting | null;
  /** Live books below the mark of `credits.low`, likewise. */
  readonly low_books: number | null;
  /** Seconds that each rail has reported nothing while a payment was waited for, likewise. */
  readonly silences: Readonly<Record<string, number>> | null;
  /** Seconds since each move of a ledger was begun that has not ended, likewise. */
  readonly moves: Readonly<Record<string, number>> | null;
  /** Mails that wait for a mail server, likewise. */
  readonly mails: Waiting | null;
  /** What is done about certificates of domains; nothing where they come from outside. */
  readonly certificates: CertificateJobs;
  /** Attempts to send mails by outcome, in this process. */
  readonly mail_outcomes: ReadonlyMap<MailOutcome, number>;
}

/** Starts the jobs of an installation: in every program that calls this, running in the one that has the leader lock. */
export function startJobs(parts: JobParts): Jobs {
  const { pool, direct_url, log, root_key, egress } = parts;
  const seen: Seen = { ...nothing };
  const mail_outcomes = new Map<MailOutcome, number>();
  const deliverer = createDeliverer({
    ...{ store: pool, egress, root_key, log },
    mayTake: () => leader.leading,
  });
  const certificates = certificateJobs(parts.certificates, { db: pool, root_key, log });
  const leader = lead({
    url: direct_url,
    log,
    jobs: [
      ...moneyJobs(parts),
      ...resellerJobs(parts),
      ...shadowJobs(parts),
      ...upkeepJobs(pool, parts.rows),
      ...figureJobs(parts),
      rebuildJob(parts),
      ...postJobs(parts, { deliverer, mail_outcomes }),
      ...certificates.jobs,
      ...measureJobs(pool, seen),
    ],
  });
  return {
    get leading() {
      return leader.leading;
    },
    counts: leader.counts,
    deliverer,
    get backlog() {
      return leader.leading ? seen.backlog : null;
    },
    get orders() {
      return leader.leading ? seen.orders : null;
    },
    get low_books() {
      return leader.leading ? seen.low_books : null;
    },
    get moves() {
      return leader.leading ? seen.moves : null;
    },
    get silences() {
      return leader.leading ? seen.silences : null;
    },
    get mails() {
      return leader.leading ? seen.mails : null;
    },
    mail_outcomes,
    certificates,
    async stop() {
      await certificates.close();
      await leader.stop();
      await deliverer.stop();
    },
  };
}

/** Send what waits for others: events and mails. */
function postJobs(
  parts: JobParts,
  { deliverer, mail_outcomes }: { deliverer: Deliverer; mail_outcomes: Map<MailOutcome, number> },
): Job[] {
  const { pool, log } = parts;
  return [
    {
      name: 'relay_outbox',
      every_ms: SECOND / 2,
      async run() {
        const queued = await relayOutbox(pool, relayParts(log));
        if (queued > 0) await deliverer.pump();
        return queued;
      },
    },
    { name: 'send_mail', every_ms: SECOND, run: () => sendDue(mailParts(parts, mail_outcomes)) },
    { name: 'deliver_webhooks', every_ms: SECOND, run: () => deliverer.pump() },
  ];
}

/** The names in events, and what is mailed besides. */
export function relayParts(log: Log) {
  return { log, nameKey: findSubjectOwner, reported: mailedTopics, report: mailFact };
}

/** What the leader measured last. */
type Seen = { -readonly [K in 'backlog' | 'orders' | 'low_books' | 'mails' | 'moves' | 'silences']: Jobs[K] };
const nothing: Seen = {
  backlog: null,
  orders: null,
  low_books: null,
  mails: null,
  moves: null,
  silences: null,
};

/** Look at what waits and who is short of money, for the metrics, and write it to `seen`. */
function measureJobs(pool: Pool, seen: Seen): Job[] {
  const measure = (name: string, every_ms: number, look: () => Promise<void>): Job => ({
    ...{ name, every_ms },
    async run() {
      await look();
      return 0;
    },
  });
  return [
    measure('measure_outbox', 5 * SECOND, async () => {
      seen.backlog = waitingOf(await readBacklog(pool));
    }),
    measure('measure_orders', 5 * SECOND, async () => {
      seen.orders = waitingOf(await readTaskBacklog(pool));
    }),
    measure('measure_mail', 5 * SECOND, async () => {
      seen.mails = waitingOf(await readMailBacklog(pool));
    }),
    measure('measure_rails', 60 * SECOND, async () => {
      seen.silences = await readSilences(pool, now());
    }),
    measure('measure_moves', 60 * SECOND, async () => {
      seen.moves = await readMoves(pool, now());
    }),
    measure('measure_balances', 60 * SECOND, async () => {
      seen.low_books = await eachShard(pool.shards, countLowBooks);
    }),
  ];
}

function waitingOf({ waiting, oldest_at }: { waiting: number; oldest_at: Date | null }): Waiting {
  return { waiting, oldest_ms: oldest_at === null ? 0 : Math.max(0, nowMs() - oldest_at.getTime()) };
}

/** How mails are sent here, and what of other concepts goes with them. */
function mailParts(parts: JobParts, outcomes: Map<MailOutcome, number>): MailParts {
  const { pool: store, mail: transport, money_in, root_key, log } = parts;
  return {
    ...{ store, transport, root_key, log, outcomes },
    aroundOf: (db, mail) =>
      surroundingsOf(db, mail, {
        settings: settingsOf(parts),
        ours: { console_url: money_in.console_url, product: 'svc' },
      }),
    async openAttachment(_, { org_id }, { id }) {
      if (org_id === null) throw new Error(`no organization has the document ${id}`);
      return openDocument(jobContext(parts), { org_id, id });
    },
    fromOf: (db, org_id) => mailFromOf(db, root_key, org_id),
    onEnd: (db, mail, end) => noteMailEnd({ db, now, services: jobContext(parts).services }, mail, end),
  };
}

/** Gives back what dead processes held, in every ledger, and records their calls as lost. @returns how many. */
export function sweepHolds({
  pool,
  request_log,
  cell,
}: Pick<JobParts, 'pool' | 'cell'> & { readonly request_log: Pick<RequestLog, 'write'> }): Promise<number> {
  return eachShard(pool.shards, async (ledger) => {
    const swept = await sweepOnce(ledger);
    // Their calls died with a process: the caller finds them as `gateway_lost`.
    for (const hold of swept) {
      const owner = await findSubjectOwner(pool, hold);
      if (owner !== null) request_log.write(lostRow(owner, hold.request_id, cell));
    }
    return swept.length;
  });
}

function moneyJobs(parts: JobParts): Job[] {
  const { pool, log, root_key } = parts;
  const { shards } = pool;
  return [
    { name: 'sweep_holds', every_ms: 5 * SECOND, run: () => sweepHolds(parts) },
    { name: 'ledger_tasks', every_ms: SECOND, run: () => applyDueTasks(pool, log) },
    { name: 'rail_tasks', every_ms: 5 * SECOND, run: () => runRailTasks(jobContext(parts)) },
    { name: 'rail_refunds', every_ms: 60 * SECOND, run: () => adoptRailRefunds(jobContext(parts)) },
    { name: 'compare_rails', every_ms: 10 * SECOND, run: () => compareRails(jobContext(parts)) },
    { name: 'early_disputes', every_ms: 10 * SECOND, run: () => adoptEarlyDisputes(jobContext(parts)) },
    { name: 'dispute_losses', every_ms: 10 * SECOND, run: () => settleLosses(jobContext(parts)) },
    { name: 'auto_topups', every_ms: 5 * SECOND, run: () => lookAtBalances(jobContext(parts)) },
    {
      name: 'cancel_mandates_of_closed',
      every_ms: 600 * SECOND,
      run: () => cancelOfClosed(jobContext(parts)),
    },
    { name: 'end_mandates', every_ms: 60 * SECOND, run: () => endMandates(jobContext(parts)) },
    { name: 'refresh_fx', every_ms: 60 * SECOND, run: () => refreshFx(jobContext(parts)) },
    {
      name: 'checkpoint_ledger',
      every_ms: 60 * SECOND,
      run: () => takeDailyCheckpoint(pool, checkpointSigner(root_key), now()),
    },
    { name: 'judge_canaries', every_ms: 5 * SECOND, run: () => judgeCanaries(jobContext(parts)) },
    { name: 'count_experiments', every_ms: 5 * SECOND, run: () => countExperiments(jobContext(parts)) },
    { name: 'drop_experiment_hours', every_ms: HOUR, run: () => dropExperimentHours(jobContext(parts)) },
    { name: 'recheck_domains', every_ms: HOUR, run: () => recheckDomains(jobContext(parts), parts.egress) },
    {
      name: 'refresh_saml_metadata',
      every_ms: HOUR,
      run: () => refreshMetadata(jobContext(parts), parts.egress),
    },
    { name: 'settle_gifts', every_ms: 60 * SECOND, run: () => settleGifts(jobContext(parts)) },
    { name: 'purge_eval_outputs', every_ms: HOUR, run: () => purgeEvalOutputs(pool, now()) },
    { name: 'open_plan_periods', every_ms: 10 * SECOND, run: () => openPeriods(jobContext(parts)) },
    { name: 'notify_expiring', every_ms: HOUR, run: () => notifyExpiring(jobContext(parts)) },
    {
      name: 'notify_expiring_keys',
      every_ms: HOUR / 4,
      run: () => notifyExpiringKeys(jobContext(parts)),
    },
    { name: 'tell_of_legal', every_ms: 10 * SECOND, run: () => tellOfLegal(jobContext(parts)) },
    { name: 'tell_of_models', every_ms: 10 * SECOND, run: () => tellOfModels(pool, parts.rows?.row_reader) },
    { name: 'reconcile', every_ms: HOUR / 4, run: () => reconcileDaily(jobContext(parts)) },
    { name: 'expire_lots', every_ms: HOUR, run: () => eachShard(shards, (ledger) => expireLots(ledger)) },
  ];
}

/** Books what resellers' processes have left, and looks whether their domains are still theirs. */
function resellerJobs(parts: JobParts): Job[] {
  return [
    { name: 'settle_allocations', every_ms: 10 * SECOND, run: () => settleAllocations(jobContext(parts)) },
    { name: 'count_accruals', every_ms: 300 * SECOND, run: () => countAccruals(jobContext(parts)) },
    {
      name: 'recheck_senders',
      every_ms: HOUR / 4,
      run: () => recheckSenders(jobContext(parts), parts.egress),
    },
    { name: 'credit_accruals', every_ms: HOUR / 4, run: () => creditAccruals(jobContext(parts)) },
    {
      name: 'recheck_storefronts',
      every_ms: HOUR / 4,
      run: () => recheckStorefronts(jobContext(parts), parts.egress),
    },
  ];
}

/** Counts shadows of calls, and forgets what was counted long ago. */
function shadowJobs(parts: JobParts): Job[] {
  return [
    { name: 'count_shadows', every_ms: 5 * SECOND, run: () => countShadows(jobContext(parts)) },
    { name: 'drop_shadow_hours', every_ms: HOUR, run: () => dropShadowHours(jobContext(parts)) },
  ];
}

/** Jobs act for nobody: what they touch says whose it is. */
function jobContext(parts: JobParts): ReturnType<typeof createContext> {
  const { pool, log, money_in, rows } = parts;
  const services = { money_in, ...rows } as Services;
  return createContext({ request_id: newRequestId(), caller: { kind: 'public' }, pool, log, services });
}
