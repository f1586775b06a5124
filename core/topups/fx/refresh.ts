// Fetches the rates of the day at 00:15 and 15:30 UTC. A job: it needs no workflows, and of several processes the leader
// runs it.
import { writeAudit } from '../../identity/index.ts';
import { type Context, ServiceError } from '../../kernel/index.ts';
import { currencies } from '../currency.ts';
import { moneyIn } from '../money-in.ts';
import { addStaffItem, resolveStaffItem } from '../rail-store.ts';
import { type FetchedDay, parseEcb, parseJsonRates } from './parse.ts';
import { type FxKind, rateText } from './rates.ts';
import type { FxSource } from './source.ts';
import { findFetch, findNewestDay, insertDay, noteFetch, releaseDay } from './store.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Minutes of the UTC day at which rates are fetched. */
const SLOTS = [15, 15 * 60 + 30] as const;
const AGAIN_MS = 5 * MINUTE_MS;
const TIMEOUT_MS = 10_000;
const BYTES_MAX = 1_048_576;
/** A rate that moved more from one day to the next waits for a person. */
const JUMP_BPS = 1_000;

/** The latest time of the schedule that is not after `now`. Pure. */
export function slotBefore(now: Date): Date {
  const midnight = Date.parse(now.toISOString().slice(0, 10));
  const times = [midnight - DAY_MS, midnight].flatMap((day) =>
    SLOTS.map((minute) => day + minute * MINUTE_MS),
  );
  return new Date(times.findLast((time) => time <= now.getTime()) as number);
}

/** The currency whose rate moved more than a tenth from `before` to `after`; null when none did. Pure. */
export function jumpBetween(before: FetchedDay, after: FetchedDay): string | null {
  const jumped = currencies.find((currency) => {
    const [old, fresh] = [before.rates[currency], after.rates[currency]];
    return Math.abs(fresh - old) * 10_000 > old * JUMP_BPS;
  });
  return jumped ?? null;
}

async function fetchDay(source: FxSource, url: string, now: Date): Promise<FetchedDay> {
  const reply = await fetch(url, {
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
    headers: { accept: source.kind === 'ecb' ? 'application/xml, text/xml' : 'application/json' },
  });
  if (!reply.ok) throw new RangeError(`the source answered ${reply.status}`);
  const text = await reply.text();
  if (text.length > BYTES_MAX) throw new RangeError('the answer is too long');
  const day = source.kind === 'ecb' ? parseEcb(text) : parseJsonRates(text);
  // Banks west of Greenwich may be a day ahead of their answer, never two.
  if (Date.parse(day.fx_day) > now.getTime() + DAY_MS) throw new RangeError(`${day.fx_day} is yet to come`);
  return day;
}

/** What the item of a day that waits is called by. */
export function jumpSubject(kind: FxKind, fx_day: string): string {
  return `${kind} ${fx_day}`;
}

/** Puts a day in force, or before the staff when a rate jumped. */
async function take(context: Context, source: FxSource, day: FetchedDay): Promise<void> {
  const at = context.now();
  const newest = await findNewestDay(context.db, source.kind);
  if (newest !== null && newest.fx_day >= day.fx_day) return;
  const jumped = newest === null ? null : jumpBetween(newest, day);
  const state = jumped === null ? 'in_force' : 'waiting';
  const is_new = await insertDay(context.db, { ...day, source: source.kind, state, at });
  if (!is_new || jumped === null || newest === null) return;
  const currency = jumped as keyof FetchedDay['rates'];
  await addStaffItem(context.db, {
    kind: 'fx_jump',
    subject: jumpSubject(source.kind, day.fx_day),
    details: {
      currency,
      before: rateText(newest.rates[currency]),
      after: rateText(day.rates[currency]),
      before_day: newest.fx_day,
    },
    at,
  });
}

/**
 * Fetches the rates when a time of the schedule has passed, and after a failure again five minutes later. Returns 1 when
 * the source was asked with success, else 0. The newest rates in force stay until others are.
 */
export async function refreshFx(context: Context): Promise<number> {
  const source = moneyIn(context).fx;
  if (source.url === null) return 0;
  const tried_at = context.now();
  const slot_at = slotBefore(tried_at);
  const last = await findFetch(context.db, source.kind);
  if (last?.slot_at != null && last.slot_at >= slot_at) return 0;
  if (last?.error != null && tried_at.getTime() - last.tried_at.getTime() < AGAIN_MS) return 0;
  try {
    const day = await fetchDay(source, source.url, tried_at);
    await context.transaction(async (context) => {
      await take(context, source, day);
      await noteFetch(context.db, { source: source.kind, slot_at, tried_at, error: null });
    });
    return 1;
  } catch (error) {
    // What the source did is no defect of ours: the job goes on, and the age of the rates tells.
    const message = error instanceof Error ? error.message : String(error);
    context.log.warn({ error, source: source.kind }, 'exchange rates could not be fetched');
    await noteFetch(context.db, {
      source: source.kind,
      slot_at: null,
      tried_at,
      error: message.slice(0, 500),
    });
    return 0;
  }
}

/**
 * Staff accept a day whose rates jumped: it is in force, and its item is done.
 * @throws ServiceError not_found when no such day waits.
 */
export async function acceptFxDay(context: Context, fx_day: string): Promise<void> {
  const at = context.now();
  await context.transaction(async (context) => {
    const kind = await releaseDay(context.db, { fx_day, at });
    if (kind === null) throw new ServiceError('not_found', `No rates of ${fx_day} wait for a decision.`);
    await resolveStaffItem(context.db, { kind: 'fx_jump', subject: jumpSubject(kind, fx_day), at });
    const target = { type: 'fx_day', id: fx_day, display: `${kind} ${fx_day}` };
    await writeAudit(context, { action: 'staff.fx.accept', org_id: null, target });
  });
}
