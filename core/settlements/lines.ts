// What a rail paid out, compared with our books line by line, and each payout with the sum of its lines.
import type { Context } from '../kernel/index.ts';
import { noteFee, type Payout, type Rail, resolveStaffItem, type SettledLine } from '../topups/index.ts';
import { findingOf, takeDisputes, takePayments, takeRefunds } from './facts.ts';
import {
  insertLine,
  type Known,
  keepPayout,
  knownLines,
  knownOf,
  knownPayments,
  type PaidTopup,
  paidOf,
  sumLines,
} from './store.ts';
import type { Finding } from './types.ts';

/** The rail may list the lines of a payout a day after the payout itself. */
const PATIENCE_MS = 86_400_000;

interface Books {
  readonly topups: ReadonlyMap<string, PaidTopup>;
  readonly refunds: ReadonlyMap<string, Known>;
  readonly disputes: ReadonlyMap<string, Known>;
  /** Payments that are ours and bought nothing: they go back. */
  readonly returning: ReadonlySet<string>;
}

/** What our books say about a line, and what of its fee no top-up says. */
interface Verdict {
  readonly topup_id: PaidTopup['id'] | null;
  readonly extra_fee_minor: number;
  readonly finding: Finding | null;
}

function judgePayment(rail: Rail, line: SettledLine, books: Books): Verdict {
  const { payment_ref, fee_minor, currency, paid } = line;
  const topup = books.topups.get(payment_ref ?? '');
  if (topup === undefined || paid === null) {
    const is_ours = books.returning.has(payment_ref ?? '');
    return { topup_id: null, extra_fee_minor: is_ours ? fee_minor : 0, finding: null };
  }
  // A top-up whose fee nobody has said takes it from here.
  const said = topup.fee_minor ?? (currency === topup.currency ? fee_minor : 0);
  const extra_fee_minor = fee_minor - said;
  const { payment } = paid;
  const is_right = payment.amount_minor === topup.total_minor && payment.currency === topup.currency;
  const fee_differs = currency === topup.currency && extra_fee_minor !== 0;
  if (is_right && !fee_differs) return { topup_id: topup.id, extra_fee_minor, finding: null };
  const finding = findingOf(rail, 'settlement_differs', line.ref, {
    ...{ topup_id: topup.id, payment_ref, payout_ref: line.payout_ref },
    ...{ expected_minor: topup.total_minor, settled_minor: payment.amount_minor },
    ...{ expected_fee_minor: topup.fee_minor, settled_fee_minor: fee_minor },
    ...{ currency: topup.currency, settled_currency: payment.currency },
  });
  return { topup_id: topup.id, extra_fee_minor, finding };
}

/** Money that went back, or was taken by a dispute. */
function judgeBack(rail: Rail, line: SettledLine, known: Known | undefined): Verdict {
  const { source_ref, payment_ref, fee_minor, currency, payout_ref } = line;
  if (known === undefined) return { topup_id: null, extra_fee_minor: 0, finding: null };
  const { topup_id } = known;
  const settled_minor = line.back?.amount_minor ?? Math.abs(line.amount_minor);
  const settled_currency = line.back?.currency ?? currency;
  // What an account keeps in another currency says nothing of the amount.
  const comparable = settled_currency === known.currency || line.back !== null;
  const is_right = settled_minor === known.amount_minor && settled_currency === known.currency;
  if (is_right || !comparable) return { topup_id, extra_fee_minor: fee_minor, finding: null };
  const finding = findingOf(rail, 'settlement_differs', line.ref, {
    ...{ topup_id, source_ref, payment_ref, payout_ref },
    ...{ expected_minor: known.amount_minor, settled_minor, currency: known.currency, settled_currency },
  });
  return { topup_id, extra_fee_minor: fee_minor, finding };
}

function judge(rail: Rail, line: SettledLine, books: Books): Verdict {
  const { kind, source_ref, payment_ref, amount_minor, fee_minor, currency, payout_ref } = line;
  switch (kind) {
    case 'payment':
      return judgePayment(rail, line, books);
    case 'refund':
    case 'refund_back': {
      const verdict = judgeBack(rail, line, books.refunds.get(source_ref ?? ''));
      const is_ours = verdict.topup_id !== null || books.returning.has(payment_ref ?? '');
      return { ...verdict, extra_fee_minor: is_ours ? fee_minor : 0 };
    }
    case 'dispute':
    case 'dispute_back':
      return judgeBack(rail, line, books.disputes.get(source_ref ?? ''));
    case 'fee':
      return { topup_id: null, extra_fee_minor: fee_minor, finding: null };
    case 'other': {
      const details = { source_ref, payment_ref, amount_minor, fee_minor, currency, payout_ref };
      const finding = findingOf(rail, 'settlement_unknown', line.ref, details);
      return { topup_id: null, extra_fee_minor: 0, finding };
    }
  }
}

const refsOf = (lines: readonly SettledLine[], name: 'payment_ref' | 'source_ref') => [
  ...new Set(lines.map((line) => line[name]).filter((ref) => ref !== null)),
];

async function readBooks(context: Context, rail: Rail, lines: readonly SettledLine[]): Promise<Books> {
  const { db } = context;
  const [payments, sources] = [refsOf(lines, 'payment_ref'), refsOf(lines, 'source_ref')];
  const of_rail = { rail: rail.name };
  const topups = await paidOf(db, { ...of_rail, refs: payments });
  const known = await knownPayments(db, { ...of_rail, refs: payments });
  return {
    topups,
    refunds: await knownOf(db, { of: 'refund', ...of_rail, refs: sources }),
    disputes: await knownOf(db, { of: 'dispute', ...of_rail, refs: sources }),
    returning: new Set([...known].filter((ref) => !topups.has(ref))),
  };
}

/** Takes what the lines show and no event said. */
async function takeLines(context: Context, rail: Rail, lines: readonly SettledLine[]): Promise<Finding[]> {
  const payments = lines.map(({ paid }) => paid).filter((paid) => paid !== null);
  const refunds = lines.map(({ back }) => back).filter((back) => back !== null);
  const disputed = lines.filter(({ kind }) => kind === 'dispute' || kind === 'dispute_back');
  const { disputes: known } = await readBooks(context, rail, disputed);
  const disputes = [];
  for (const ref of refsOf(disputed, 'source_ref'))
    if (!known.has(ref)) disputes.push(await rail.readDispute(ref));
  return [
    ...(await takePayments(context, rail, payments)),
    ...(await takeRefunds(context, rail, refunds)),
    ...(await takeDisputes(context, rail, disputes)),
  ];
}

async function keepLine(
  context: Context,
  rail: Rail,
  line: SettledLine,
  { topup_id, extra_fee_minor }: Verdict,
): Promise<void> {
  const { kind, payment_ref, source_ref } = line;
  await context.transaction(async ({ db, now }) => {
    const at = now();
    if (!(await insertLine(db, { rail: rail.name, line, topup_id, extra_fee_minor, at }))) return;
    if (kind === 'payment' && topup_id !== null && line.paid?.fee_minor != null)
      await noteFee(db, { id: topup_id, fee_minor: line.paid.fee_minor });
    if (kind === 'payment' || kind === 'refund') {
      const subject = `${rail.name} ${kind === 'payment' ? payment_ref : source_ref}`;
      await resolveStaffItem(db, { kind: `${kind}_unsettled`, subject, at });
    }
  });
}

/** Compares what was settled, line by line, and stores the lines. Repeated, it finds the same and stores nothing twice. */
export async function compareLines(
  context: Context,
  rail: Rail,
  lines: readonly SettledLine[],
): Promise<Finding[]> {
  const findings = await takeLines(context, rail, lines);
  const books = await readBooks(context, rail, lines);
  const refs = lines.map(({ ref }) => ref);
  const known = await knownLines(context.db, { rail: rail.name, refs });
  for (const line of lines) {
    const verdict = judge(rail, line, books);
    if (verdict.finding !== null) findings.push(verdict.finding);
    if (!known.has(`${line.kind} ${line.ref}`)) await keepLine(context, rail, line, verdict);
  }
  return findings;
}

/** Stores payouts, and finds those that failed or are not the sum of their lines. */
export async function comparePayouts(
  context: Context,
  rail: Rail,
  payouts: readonly Payout[],
): Promise<Finding[]> {
  const { db } = context;
  const findings: Finding[] = [];
  for (const payout of payouts) {
    const { ref, amount_minor, currency, state, bank_ref, itemized, at } = payout;
    await keepPayout(db, { rail: rail.name, payout });
    const details = { payout_ref: ref, amount_minor, currency, bank_ref };
    if (state === 'failed') findings.push(findingOf(rail, 'payout_failed', ref, details));
    if (!itemized || context.now().getTime() - at.getTime() < PATIENCE_MS) continue;
    const lines_minor = await sumLines(db, { rail: rail.name, payout_ref: ref });
    if (lines_minor !== amount_minor)
      findings.push(findingOf(rail, 'payout_differs', ref, { ...details, lines_minor }));
    else {
      const subject = `${rail.name} ${ref}`;
      await resolveStaffItem(db, { kind: 'payout_differs', subject, at: context.now() });
    }
  }
  return findings;
}
