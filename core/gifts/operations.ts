// Make, list and cancel gifts.
import { type Static, Type } from 'typebox';
import { callersBook } from '../credits/index.ts';
import { writeAudit } from '../identity/index.ts';
import {
  idOf,
  isId,
  lineOf,
  named,
  notFound,
  nullable,
  oneOf,
  operation,
  orgCaller,
  page,
  pageInput,
  pageOf,
  Time,
  walkPage,
} from '../kernel/index.ts';
import { cancelGift, makeGift } from './give.ts';
import { listGifts } from './store.ts';
import { type Gift, giftStatuses } from './types.ts';

const roles = ['owner', 'admin', 'billing'] as const;
const givers = { kind: 'key', scopes: ['manage:credits'], session: roles, sandbox: false } as const;
const DEFAULT_LIMIT = 50;
const MIN_MICRO_USD = 1_000_000;
const MAX_MICRO_USD = 500_000_000;

export const GiftView = named(
  'Gift',
  Type.Object({
    id: idOf('gift'),
    amount_micro_usd: Type.Integer(),
    hint: Type.String({ description: 'last four characters of the code' }),
    note: Type.String({ description: 'for the organization that made it; empty when it has none' }),
    status: oneOf(giftStatuses, 'GiftStatus'),
    expires_at: Time,
    created_at: Time,
    closed_at: nullable(Time),
    code: Type.Optional(Type.String({ description: 'only in the answer that makes it' })),
  }),
);
type GiftView = Static<typeof GiftView>;

const GiftClosed = named(
  'GiftClosed',
  Type.Object({ id: idOf('gift'), status: oneOf(giftStatuses, 'GiftStatus') }),
);

const example = {
  id: 'gift_01KACZ3V8S6T5R4Q3P2N1M0K9J',
  amount_micro_usd: 10_000_000,
  hint: '...GH01',
  note: 'hackathon',
  status: 'open',
  expires_at: '2027-02-19T10:00:00.000Z',
  created_at: '2026-11-21T10:00:00.000Z',
  closed_at: null,
} as const satisfies GiftView;

function viewGift(gift: Gift): GiftView {
  return {
    id: gift.id,
    amount_micro_usd: gift.amount_micro_usd,
    hint: gift.hint,
    note: gift.note,
    // Customers are never shown a pending one.
    status: gift.status as GiftView['status'],
    expires_at: gift.expires_at.toISOString(),
    created_at: gift.created_at.toISOString(),
    closed_at: gift.closed_at?.toISOString() ?? null,
  };
}

function auditOf(gift: Gift) {
  const target = { type: 'gift', id: gift.id, display: gift.hint };
  return { org_id: gift.org_id, target, after: { amount_micro: gift.amount_micro_usd, status: gift.status } };
}

export const listGiftsOperation = operation({
  name: 'credits.gifts.list',
  method: 'GET',
  path: '/v1/credits/gifts',
  summary: 'List gifts that the organization has made, newest first',
  audience: { kind: 'key', scopes: ['read:credits'], session: roles },
  input: Type.Object(pageInput(200)),
  output: pageOf(GiftView),
  errors: [],
  example: { object: 'list', data: [example], next_cursor: '' },
  async run(context, input) {
    const { org_id, environment } = orgCaller(context);
    // Gifts are made of live credit alone.
    if (environment !== 'live') return page([], '', () => '');
    const { rows, next_cursor, cursorAt } = await walkPage(context, {
      bound: `credits.gifts.list ${org_id}`,
      cursor: input.cursor,
      limit: input.limit ?? DEFAULT_LIMIT,
      read: (after, limit) => listGifts(context.db, { org_id, after, limit }),
      placeOf: (gift) => ({ at: gift.created_at.getTime(), id: gift.id }),
    });
    return page(rows.map(viewGift), next_cursor, cursorAt);
  },
});

export const createGiftOperation = operation({
  name: 'credits.gifts.create',
  method: 'POST',
  path: '/v1/credits/gifts',
  summary: 'Make a gift out of paid credit; the code is in this answer alone',
  audience: givers,
  input: Type.Object({
    amount_micro_usd: Type.Integer({ minimum: MIN_MICRO_USD, maximum: MAX_MICRO_USD }),
    note: Type.Optional(lineOf(500, 0)),
  }),
  output: GiftView,
  errors: ['insufficient_credits', 'payment_hold', 'service_unavailable'],
  status: 201,
  idempotent: true,
  // The credit is taken after the commit. Where the process dies before it answers, the gift goes back by itself.
  own_transactions: true,
  request: { amount_micro_usd: 10_000_000, note: 'hackathon' },
  example: { ...example, code: 'GIFT-01AB-1C0D-10EF-GH01' },
  async run(context, { amount_micro_usd, note = '' }) {
    const { org } = await callersBook(context);
    const { gift, code } = await makeGift(context, org, { amount_micro_usd, note });
    await writeAudit(context, { action: 'credits.gifts.create', ...auditOf(gift) });
    return { ...viewGift(gift), code };
  },
});

export const cancelGiftOperation = operation({
  name: 'credits.gifts.cancel',
  method: 'DELETE',
  path: '/v1/credits/gifts/:id',
  summary: 'Cancel an open gift; its credit goes back where it was',
  audience: givers,
  input: Type.Object({ id: idOf('gift') }),
  output: GiftClosed,
  errors: ['state_conflict'],
  example: { id: example.id, status: 'cancelled' },
  async run(context, { id }) {
    if (!isId('gift', id)) throw notFound();
    const { org } = await callersBook(context);
    const gift = await context.transaction(async (context) => {
      const cancelled = await cancelGift(context, org, id);
      await writeAudit(context, { action: 'credits.gifts.cancel', ...auditOf(cancelled) });
      return cancelled;
    });
    return { id: gift.id, status: 'cancelled' as const };
  },
});

export const giftOperations = [listGiftsOperation, createGiftOperation, cancelGiftOperation] as const;
