// Moves a ledger to another place while calls go on: every row is copied and followed by the servers' own replication; then
// writers wait for a moment, in which the last change arrives, and the old place says where the ledger is. That is
// one commit at the old place: before it nothing has happened, after it nobody can write there.
//
// Each step looks at what there is and does what is missing, so the same move, begun again after any end, goes on.
import { type Db, monotonicMs, newUlid, now } from '../../kernel/index.ts';
import { type VerifyReport, verifyLedger } from '../verify/verify.ts';
import { checkPlaces, lockAlone, type MoveEnds, MoveRefused } from './check.ts';
import {
  findDifference,
  freeze,
  hasMark,
  isSameMoney,
  keepSight,
  leavePlace,
  listTables,
  openPlace,
  type Place,
  preparePlace,
  readLeft,
  readyPlace,
  rollBack,
  writeMark,
} from './place-store.ts';
import { beginMove, endMove, noteFollowing, noteMoved } from './record-store.ts';
import {
  dropPublication,
  dropSubscription,
  followFast,
  isStranded,
  makePublication,
  makeSlot,
  makeSubscription,
  pauseSubscription,
  readCopying,
  replicationName,
  resumeSubscription,
} from './replication-store.ts';

/** The server tries again what failed while it copies or applies; so many faults are no accident. */
const FAULTS_MAX = 20;
const POLL_MS = 100;
/** A copy is without its slot for the length of a commit, unless its server has died meanwhile. */
const STRANDED_MS = 5_000;
const MARK_POLL_MS = 5;
/** A mark that arrives as fast as this says that the new place keeps up. */
const CLOSE_MS = 250;
const FREEZES_MAX = 10;
const CLOSES_MAX = 600;
/** A place that does not answer for so long is asked again. */
const ANSWER_MS = 10_000;
const PAUSE_MS = 500;
/** A lock was not to be had in time, two wait for each other, a statement took too long. */
const BUSY = new Set(['55P03', '40P01', '57014']);
/** What the driver says, without a code, of an answer that did not come in time. */
const UNANSWERED = 'Query read timeout';

interface MoveOptions extends MoveEnds {
  /** The installation's own database. */
  readonly db: Db;
  /** The old place as the server of the new one reaches it. */
  readonly source_url: string;
  /** Writers wait no longer; a try that would take longer is given up, and made again. */
  readonly freeze_ms_max: number;
  /** Told what has been done; resolves before it goes on. */
  readonly onStep: (step: Step, words: string) => void | Promise<void>;
}

/** In their order. A move that is gone on with may leave out some. */
export const STEPS = [
  'recorded',
  'published',
  'slot',
  'subscribed',
  'copied',
  'verified',
  'frozen',
  'arrived',
  'left',
  'placed',
  'unsubscribed',
  'compared',
] as const;
export type Step = (typeof STEPS)[number];

export interface Moved {
  /** How long writers waited at most; null where an earlier run had left the old place. */
  readonly frozen_ms: number | null;
  readonly freezes: number;
  /** Whether every table was compared row by row, at the moment of the freeze. */
  readonly is_compared: boolean;
  readonly report: VerifyReport;
}

interface Open {
  readonly source: Place;
  /** Writes marks while `source` keeps others from writing. */
  readonly scribe: Place;
  readonly target: Place;
  /** Sees what the new place had at the moment of the freeze. */
  readonly sight: Place;
}

/** @throws MoveRefused when the place does not answer. */
async function openOrSay({ name, url }: MoveEnds['from']): Promise<Place> {
  try {
    return await openPlace(url);
  } catch (error) {
    throw new MoveRefused(
      `${name} does not answer (${(error as Error).message}): run the same command again when it does; of a server that ` +
        'has gone for good see docs/operate/shards.md',
    );
  }
}

async function openEnds({ from, to }: MoveEnds): Promise<Open & AsyncDisposable> {
  const opened: Place[] = [];
  try {
    for (const place of [from, from, to, to]) opened.push(await openOrSay(place));
  } catch (error) {
    await Promise.all(opened.map((place) => place.end()));
    throw error;
  }
  const [source, scribe, target, sight] = opened as [Place, Place, Place, Place];
  return {
    ...{ source, scribe, target, sight },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(opened.map((place) => place.end()));
    },
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/**
 * Moves the ledger of a shard, or goes on with the move that was begun. @throws MoveRefused when it cannot be; the
 * ledger is then where it was. @throws Error when a server goes away; begun again, it goes on.
 */
export async function moveLedger(options: MoveOptions): Promise<Moved> {
  const { db, shard, to, onStep } = options;
  await using ends = await openEnds(options);
  const { source, target } = ends;
  await lockAlone(source, shard);
  const name = replicationName(options);
  let moment: Moment | null = null;
  if ((await readLeft(source)) === null) {
    await copy(options, ends, name);
    moment = await change(options, ends, name);
  }
  if ((await readLeft(source)) !== to.name)
    throw new MoveRefused(`${options.from.name} was left for another place than ${to.name}`);
  await noteMoved(db, { shard, at: now() });
  await onStep('placed', `programs go to ${to.name}`);
  await dropSubscription(target, name);
  await dropPublication(source, name);
  await onStep('unsubscribed', 'the replication is taken down');
  const is_compared = moment !== null;
  if (is_compared) await compare(ends);
  await onStep('compared', is_compared ? 'every row is the same in both places' : 'not compared row by row');
  const report = await verifyLedger({ url: to.url });
  await endMove(db, shard);
  return { frozen_ms: moment?.frozen_ms ?? null, freezes: moment?.freezes ?? 0, is_compared, report };
}

/** Until the new place has everything and keeps up. */
async function copy(options: MoveOptions, { source, target }: Open, name: string): Promise<void> {
  const { db, shard, from, to, onStep } = options;
  const is_followed = (await readCopying(target, name)).tables > 0;
  await checkPlaces(options, { source, target, is_followed });
  const { moving_to } = await beginMove(db, { shard, from: from.name, to: to.name, at: now() });
  if (moving_to !== to.name) throw new MoveRefused(`${shard} is on its way to ${moving_to}`);
  await onStep('recorded', `${shard} moves to ${to.name}`);
  await makePublication(source, name);
  await onStep('published', 'the old place offers its tables');
  await makeSlot(source, name, { is_followed });
  await onStep('slot', 'the old place keeps what is changed from now on');
  if (!is_followed) await preparePlace(source, target);
  await makeSubscription(target, name, options.source_url);
  await onStep('subscribed', 'the new place copies');
  await untilCopied(source, target, name);
  await followFast(target, name);
  await noteFollowing(db, shard);
  await onStep('copied', 'every table is copied; changes follow');
  const report = await verifyLedger({ url: to.url });
  if (!report.ok) {
    const first = report.findings[0];
    throw new MoveRefused(
      `the copy is not right: book ${first?.book_id}: ${first?.check}: ${first?.message}`,
    );
  }
  await onStep('verified', `the copy is right: ${report.books} books, ${report.meters} metered calls`);
}

async function untilCopied(source: Place, target: Place, name: string): Promise<void> {
  let stranded_ms: number | null = null;
  for (;;) {
    const { tables, copied, faults } = await readCopying(target, name);
    if (faults > FAULTS_MAX)
      throw new MoveRefused(
        'the server of the new place cannot copy: its log says why; or end the move by --abort',
      );
    if (tables > 0 && copied === tables) return;
    stranded_ms = (await isStranded(source, target, name)) ? (stranded_ms ?? monotonicMs()) : null;
    if (stranded_ms !== null && monotonicMs() - stranded_ms > STRANDED_MS)
      throw new MoveRefused(
        'the server of the new place died when a table had just been copied, and cannot go on with it: end the move by --abort, and begin it again',
      );
    await pause(POLL_MS);
  }
}

interface Moment {
  readonly frozen_ms: number;
  readonly freezes: number;
}

/** Puts the ledger over, in one of several tries. @throws MoveRefused when none succeeds; the ledger is where it was. */
async function change(options: MoveOptions, ends: Open, name: string): Promise<Moment> {
  const tables = await listTables(ends.source);
  for (let freezes = 1; freezes <= FREEZES_MAX; freezes++) {
    await untilClose(ends, Math.min(CLOSE_MS, options.freeze_ms_max / 2));
    const frozen_ms = await tryChange(options, ends, { name, tables });
    if (frozen_ms !== null) return { frozen_ms, freezes };
    await pause(PAUSE_MS * freezes);
  }
  throw new MoveRefused(
    `writers would have waited longer than ${options.freeze_ms_max} ms, ${FREEZES_MAX} times; try again at a calmer time, or ` +
      'with a larger --freeze-ms',
  );
}

/** Until what is committed at the old place is at the new one within `ms`. @throws MoveRefused when it never is. */
async function untilClose(ends: Open, ms: number): Promise<void> {
  for (let tries = 0; tries < CLOSES_MAX; tries++) {
    const took = await timeMark(ends, ANSWER_MS);
    if (took !== null && took < ms) return;
    await pause(PAUSE_MS);
  }
  throw new MoveRefused('the new place does not keep up with the calls');
}

/** Milliseconds until what is committed at the old place is at the new one; null when that takes longer than `ms_max`. */
async function timeMark({ scribe, target }: Open, ms_max: number): Promise<number | null> {
  const mark = newUlid();
  const from = monotonicMs();
  const left = () => ms_max - (monotonicMs() - from);
  await writeMark(scribe, mark);
  while (left() > 0) {
    if (await hasMark(target, mark, left())) return monotonicMs() - from;
    await pause(MARK_POLL_MS);
  }
  return null;
}

/** Milliseconds that writers waited; null when it would have been too many, and nothing has changed. */
async function tryChange(
  options: MoveOptions,
  ends: Open,
  { name, tables }: { name: string; tables: readonly string[] },
): Promise<number | null> {
  const { source, target, sight } = ends;
  const { freeze_ms_max, to, onStep } = options;
  const from = monotonicMs();
  const left = () => freeze_ms_max - (monotonicMs() - from);
  try {
    await freeze(source, tables, freeze_ms_max);
    await onStep('frozen', 'writers wait');
    const arrived = await timeMark(ends, left());
    if (arrived === null) return await giveUp(ends, name);
    if (!(await isSameMoney(source, target, left())))
      throw new MoveRefused('the copy has other books or holds');
    await readyPlace(source, target, left());
    await keepSight(sight, left());
    await pauseSubscription(target, name, left());
    await onStep('arrived', 'the new place has everything');
    if (left() <= 0) return await giveUp(ends, name);
    await leavePlace(source, to.name);
  } catch (error) {
    if (isBusy(error)) return await giveUp(ends, name);
    await rollBack(source, ANSWER_MS).catch(() => {});
    throw error;
  }
  const frozen_ms = monotonicMs() - from;
  await onStep('left', `writers waited ${Math.round(frozen_ms)} ms; the ledger is in ${to.name}`);
  return frozen_ms;
}

function isBusy(error: unknown): boolean {
  return (error as Error).message === UNANSWERED || BUSY.has((error as { code?: string }).code ?? '');
}

/** Lets writers go on where they were. @throws Error when a place does not answer at all. */
async function giveUp({ source, target, sight }: Open, name: string): Promise<null> {
  await rollBack(source, ANSWER_MS);
  await rollBack(target, ANSWER_MS);
  await rollBack(sight, ANSWER_MS);
  await resumeSubscription(target, name);
  return null;
}

/** Compares every table, as the new place had it when the old one was left. */
async function compare({ source, sight }: Open): Promise<void> {
  const difference = await findDifference(source, sight, await listTables(source));
  await rollBack(sight, ANSWER_MS);
  if (difference !== null)
    throw new Error(
      `the places differ; keep the old one and look into it before anything else: ${difference}`,
    );
}
