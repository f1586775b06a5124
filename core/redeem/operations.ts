// Redeem a code, and list what was redeemed.
import { type Static, Type } from 'typebox';
import { callersBook } from '../credits/index.ts';
import { writeAudit } from '../identity/index.ts';
import {
  idOf,
  named,
  nullable,
  operation,
  page,
  pageInput,
  pageOf,
  Time,
  walkPage,
} from '../kernel/index.ts';
import { redeem, withEntry } from './redeem.ts';
import { listRedemptions } from './store.ts';
import type { Redemption } from './types.ts';

const roles = ['owner', 'admin', 'billing'] as const;
const DEFAULT_LIMIT = 50;

export const RedemptionView = named(
  'Redemption',
  Type.Object({
    id: idOf('redemption'),
    amount_micro_usd: Type.Integer(),
    ledger_seq: nullable(Type.Integer({ description: 'null until the ledger has booked it' })),
    credit_expires_at: Time,
    batch: nullable(Type.String({ description: 'name of the batch; null: a gift' })),
    created_at: Time,
  }),
);
type RedemptionView = Static<typeof RedemptionView>;

const example: RedemptionView = {
  id: 'red_01KACZ3V8S6T5R4Q3P2N1M0K9J',
  amount_micro_usd: 5_000_000,
  ledger_seq: 18,
  credit_expires_at: '2027-02-19T10:00:00.000Z',
  batch: 'devcon-2026',
  created_at: '2026-11-21T10:00:00.000Z',
};

function viewRedemption(redemption: Redemption): RedemptionView {
  return {
    id: redemption.id,
    amount_micro_usd: redemption.amount_micro_usd,
    ledger_seq: redemption.ledger_seq,
    credit_expires_at: redemption.credit_expires_at.toISOString(),
    batch: redemption.batch,
    created_at: redemption.created_at.toISOString(),
  };
}

export const redeemOperation = operation({
  name: 'credits.redeem',
  method: 'POST',
  path: '/v1/credits/redeem',
  summary: 'Redeem a code or a gift',
  audience: { kind: 'key', scopes: ['manage:credits'], session: roles, sandbox: false },
  input: Type.Object({
    code: Type.String({
      minLength: 1,
      maxLength: 64,
      format: 'line',
      description: 'letter case, spaces and hyphens do not matter; O is 0, I and L are 1',
    }),
  }),
  output: RedemptionView,
  errors: ['code_already_used', 'gift_own_org', 'token_expired'],
  status: 201,
  idempotent: true,
  // The entry is there after the commit, and a miss is counted though the call is refused. A code works once.
  own_transactions: true,
  request: { code: 'CR-01AB-1C0D-10EF-GH01' },
  example,
  async run(context, { code }) {
    const { org } = await callersBook(context);
    const redemption = await redeem(context, org, code);
    const target = { type: 'redemption', id: redemption.id, display: redemption.batch ?? 'gift' };
    const after = { amount_micro: redemption.amount_micro_usd };
    await writeAudit(context, { action: 'credits.redeem', org_id: org.id, target, after });
    return viewRedemption(redemption);
  },
});

export const listRedemptionsOperation = operation({
  name: 'credits.redemptions.list',
  method: 'GET',
  path: '/v1/credits/redemptions',
  summary: 'List codes and gifts that the organization has redeemed, newest first',
  audience: { kind: 'key', scopes: ['read:credits'], session: roles },
  input: Type.Object(pageInput(200)),
  output: pageOf(RedemptionView),
  errors: [],
  example: { object: 'list', data: [example], next_cursor: '' },
  async run(context, input) {
    const { org, environment } = await callersBook(context);
    // Codes are redeemed into live credit alone.
    if (environment !== 'live') return page([], '', () => '');
    const { rows, next_cursor, cursorAt } = await walkPage(context, {
      bound: `credits.redemptions.list ${org.id}`,
      cursor: input.cursor,
      limit: input.limit ?? DEFAULT_LIMIT,
      read: (after, limit) => listRedemptions(context.db, { org_id: org.id, after, limit }),
      placeOf: (redemption) => ({ at: redemption.created_at.getTime(), id: redemption.id }),
    });
    const booked: Redemption[] = [];
    for (const row of rows) booked.push(await withEntry(context, org, row));
    return page(booked.map(viewRedemption), next_cursor, cursorAt);
  },
});

export const redeemOperations = [redeemOperation, listRedemptionsOperation] as const;
