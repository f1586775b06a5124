// The daily check-in: a little credit, once per organization and UTC day, where the installation gives it.
import { type Static, Type } from 'typebox';
import {
  type Context,
  microUsd,
  named,
  nullable,
  operation,
  orgCaller,
  ServiceError,
  Time,
} from '../../kernel/index.ts';
import { creditOutcome, orderCredit } from '../../ledger/index.ts';
import { hasPaid } from '../../topups/index.ts';
import { callersBook } from '../book.ts';
import { insertCheckin, readStreak } from './store.ts';
import { type CheckinTerms, readCheckinTerms } from './terms.ts';

const everybody = ['owner', 'admin', 'developer', 'billing', 'viewer'] as const;
const DAY_MS = 86_400_000;

export const CheckinStatusView = named(
  'CheckinStatus',
  Type.Object({
    enabled: Type.Boolean({ description: 'false: this organization cannot check in' }),
    amount_micro_usd: Type.Integer(),
    credit_days: Type.Integer({ description: 'days until the credit ends' }),
    done_today: Type.Boolean(),
    streak_days: Type.Integer({ description: 'days in a row, up to today or yesterday' }),
  }),
);

export const CheckinView = named(
  'Checkin',
  Type.Object({
    day: Type.String({ format: 'date', description: 'UTC' }),
    amount_micro_usd: Type.Integer(),
    ledger_seq: nullable(Type.Integer({ description: 'null until the ledger has booked it' })),
    credit_expires_at: Time,
  }),
);
type CheckinView = Static<typeof CheckinView>;

function today(context: Context): string {
  return context.now().toISOString().slice(0, 10);
}

/** Why the organization cannot check in; null when it can. */
async function barTo(context: Context, terms: CheckinTerms): Promise<'off' | 'no_paid_topup' | null> {
  if (!terms.enabled) return 'off';
  const { org_id } = orgCaller(context);
  return terms.needs_topup && !(await hasPaid(context.db, org_id)) ? 'no_paid_topup' : null;
}

const sentences = {
  off: 'Check-ins are not offered here.',
  no_paid_topup: 'Organizations check in once they have paid a top-up.',
} as const;

export const getCheckinOperation = operation({
  name: 'credits.checkin.get',
  method: 'GET',
  path: '/v1/credits/checkin',
  summary: 'Whether the organization can check in today, and for how many days it has',
  audience: { kind: 'key', scopes: ['read:credits'], session: everybody },
  input: Type.Object({}),
  output: CheckinStatusView,
  errors: [],
  example: {
    enabled: true,
    amount_micro_usd: 100_000,
    credit_days: 30,
    done_today: false,
    streak_days: 4,
  },
  async run(context) {
    const { org_id } = orgCaller(context);
    const terms = await readCheckinTerms(context.db);
    const { done, streak_days } = await readStreak(context.db, { org_id, day: today(context) });
    return {
      enabled: (await barTo(context, terms)) === null,
      amount_micro_usd: terms.amount_micro_usd,
      credit_days: terms.credit_days,
      done_today: done,
      streak_days,
    };
  },
});

/** Notes the day and orders its credit, in one transaction. */
function order(context: Context, terms: CheckinTerms) {
  return context.transaction(async (context) => {
    const { org, book_id } = await callersBook(context);
    const { amount_micro_usd, credit_days } = terms;
    const at = context.now();
    const day = today(context);
    if (!(await insertCheckin(context.db, { org_id: org.id, day, amount_micro_usd, at }))) {
      const reset_ms = Date.parse(day) + DAY_MS - at.getTime();
      throw new ServiceError('checkin_already_done', 'The organization has checked in today.', {
        details: { day, reset_ms },
      });
    }
    const expires_at = new Date(at.getTime() + credit_days * DAY_MS);
    const { reference } = await orderCredit(context, org.shard, {
      book_id,
      kind: 'checkin',
      amount_micro_usd: microUsd(amount_micro_usd),
      granted: true,
      expires_at,
      ref_type: 'staff',
      ref_id: `checkin ${day}`,
    });
    return { day, amount_micro_usd, credit_expires_at: expires_at.toISOString(), book_id, reference };
  });
}

export const checkInOperation = operation({
  name: 'credits.checkin',
  method: 'POST',
  path: '/v1/credits/checkin',
  summary: 'Check in: a little credit, once per organization and UTC day',
  audience: { kind: 'key', scopes: ['manage:credits'], session: everybody, sandbox: false },
  input: Type.Object({}),
  output: CheckinView,
  errors: ['checkin_already_done', 'feature_disabled'],
  status: 201,
  idempotent: true,
  // The entry is there after the commit; run again, it says that today is done.
  own_transactions: true,
  example: {
    day: '2026-11-21',
    amount_micro_usd: 100_000,
    ledger_seq: 17,
    credit_expires_at: '2026-12-21T10:00:00.000Z',
  },
  async run(context): Promise<CheckinView> {
    const terms = await readCheckinTerms(context.db);
    const bar = await barTo(context, terms);
    if (bar !== null)
      throw new ServiceError('feature_disabled', sentences[bar], { details: { reason: bar } });
    const { book_id, reference, ...made } = await order(context, terms);
    // Who was refused where the ledger is late would send again, and be told that today is done.
    const entry = await creditOutcome(context, { book_id, reference });
    return { ...made, ledger_seq: entry?.seq ?? null };
  },
});
