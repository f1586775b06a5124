// Compares a day of a rail's own books with ours. Every step may be repeated, also by two processes at once: what is booked
// is booked by the functions that events call, and what is stored is stored once.
import type { Context } from '../kernel/index.ts';
import { addStaffItem, type Rail, resolveStaffItem, type Time } from '../topups/index.ts';
import { findingOf, takeDisputes, takePayments, takeRefunds } from './facts.ts';
import { compareLines, comparePayouts } from './lines.ts';
import { noteCompared, paidBetween, unsettledBetween } from './store.ts';
import { type Counts, type Finding, isAsked } from './types.ts';

const DAY_MS = 86_400_000;
/** So long a rail may take to pay a payment out. */
const UNSETTLED_DAYS = 10;

/** A day, UTC. */
export function timeOf(day: string): Time {
  const from = new Date(`${day}T00:00:00Z`);
  return { from, to: new Date(from.getTime() + DAY_MS) };
}

/** Payments of ours that the rail does not have: those that its list of the day lacks are asked for one by one. */
async function findStrangers(
  context: Context,
  rail: Rail,
  { time, listed }: { readonly time: Time; readonly listed: ReadonlySet<string> },
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const topup of await paidBetween(context.db, { rail: rail.name, ...time })) {
    const { id, gateway_ref, payment_ref, total_minor, currency } = topup;
    const isThere = async () => {
      if (listed.has(payment_ref)) return true;
      if (gateway_ref === null) return false;
      const { facts } = await rail.readCheckout(gateway_ref);
      return facts.some((fact) => fact.kind === 'captured' && fact.payment_ref === payment_ref);
    };
    if (await isThere()) {
      const subject = `${rail.name} ${payment_ref}`;
      await resolveStaffItem(context.db, { kind: 'payment_not_at_rail', subject, at: context.now() });
      continue;
    }
    const details = { topup_id: id, payment_ref, total_minor, currency };
    findings.push(findingOf(rail, 'payment_not_at_rail', payment_ref, details));
  }
  return findings;
}

async function findUnsettled(context: Context, rail: Rail, { from, to }: Time): Promise<Finding[]> {
  const ago = (date: Date) => new Date(date.getTime() - UNSETTLED_DAYS * DAY_MS);
  const found = await unsettledBetween(context.db, { rail: rail.name, from: ago(from), to: ago(to) });
  return found.map(({ of, ref, topup_id, total_minor, currency }) =>
    findingOf(rail, `${of}_unsettled`, ref, { topup_id, total_minor, currency }),
  );
}

/**
 * Compares `day` of `rail` and notes the result; what needs a person becomes staff items.
 * @throws RailError when the rail cannot be asked now.
 */
export async function compareDay(
  context: Context,
  rail: Rail,
  day: string,
): Promise<{ readonly counts: Counts; readonly findings: readonly Finding[] }> {
  const time = timeOf(day);
  const { payments, refunds, disputes } = await rail.books.readDay(time);
  const { payouts, lines } = await rail.books.readSettled(time);
  const listed = new Set(payments.map(({ payment }) => payment.payment_ref));
  const findings = [
    ...(await takePayments(context, rail, payments)),
    ...(await takeRefunds(context, rail, refunds)),
    ...(await takeDisputes(context, rail, disputes)),
    ...(await compareLines(context, rail, lines)),
    ...(await comparePayouts(context, rail, payouts)),
    ...(await findStrangers(context, rail, { time, listed })),
    ...(await findUnsettled(context, rail, time)),
  ];
  const at = context.now();
  for (const finding of findings) {
    const { kind, subject, details } = finding;
    context.log.warn({ kind, subject, ...details }, 'the books of a rail and ours differed');
    if (isAsked(finding)) await addStaffItem(context.db, { kind, subject, details, at });
  }
  const counts = {
    ...{ payments: payments.length, refunds: refunds.length, disputes: disputes.length },
    ...{ lines: lines.length, payouts: payouts.length },
  };
  await noteCompared(context.db, { rail: rail.name, day, counts, findings, at });
  return { counts, findings };
}
