// Lots as customers read them: credit that came in together, with what is left of it and when that ends.
import { type Static, Type } from 'typebox';
import {
  idOf,
  named,
  nullable,
  oneOf,
  operation,
  page,
  pageInput,
  pageOf,
  Time,
  walkPage,
} from '../kernel/index.ts';
import { type Lot, readLots } from '../ledger/index.ts';
import { callersBook } from './book.ts';

const DEFAULT_LIMIT = 50;

export const lotKinds = ['paid', 'granted'] as const;

export const LotView = named(
  'Lot',
  Type.Object({
    id: idOf('lot'),
    kind: oneOf(lotKinds, 'LotKind'),
    source_type: Type.String({ description: 'what brought it: `ref_type` of its ledger entry' }),
    source_id: Type.String(),
    amount_micro_usd: Type.Integer(),
    remaining_micro_usd: Type.Integer({ description: 'not yet spent, taken or expired' }),
    expires_at: nullable(Time),
    created_at: Time,
  }),
);
export type LotView = Static<typeof LotView>;

/** What the documentation shows. */
export const lotExample: LotView = {
  id: 'lot_01KACZ3V8S6T5R4Q3P2N1M0K9J',
  kind: 'paid',
  source_type: 'topup',
  source_id: 'tup_01KACZ3V8S6T5R4Q3P2N1M0K9G',
  amount_micro_usd: 25_000_000,
  remaining_micro_usd: 24_998_747,
  expires_at: null,
  created_at: '2026-11-21T10:00:00.000Z',
};

/** A lot on the wire. */
export function viewLot(lot: Lot): LotView {
  return {
    id: lot.id,
    kind: lot.kind,
    source_type: lot.source_type,
    source_id: lot.source_id,
    amount_micro_usd: lot.amount_micro_usd,
    remaining_micro_usd: lot.remaining_micro_usd,
    expires_at: lot.expires_at?.toISOString() ?? null,
    created_at: lot.created_at.toISOString(),
  };
}

/** What the cursor of a page of lots holds: credit that was put back shares its entry with other lots. */
export function placeOfLot(lot: Lot): { at: number; id: string } {
  return { at: lot.seq, id: String(lot.origin_seq) };
}

/** The lot that a cursor stands at; null at the beginning. */
export function lotAt(place: { at: number; id: string } | null): Pick<Lot, 'seq' | 'origin_seq'> | null {
  return place === null ? null : { seq: place.at, origin_seq: Number(place.id) };
}

export const listLotsOperation = operation({
  name: 'credits.lots',
  method: 'GET',
  path: '/v1/credits/lots',
  summary: 'List lots, newest first',
  audience: {
    ...{ kind: 'key', scopes: ['read:credits'], while_closed: true },
    session: ['owner', 'admin', 'billing'],
  },
  input: Type.Object({
    open: Type.Optional(Type.Boolean({ description: 'only lots of which something is left' })),
    ...pageInput(200),
  }),
  output: pageOf(LotView),
  errors: [],
  example: { object: 'list', data: [lotExample], next_cursor: '' },
  async run(context, input) {
    const { org, book_id } = await callersBook(context);
    const ledger = context.shards.at(org.shard);
    const open = input.open ?? false;
    const { rows, next_cursor, cursorAt } = await walkPage(context, {
      bound: `credits.lots ${book_id} ${open}`,
      cursor: input.cursor,
      limit: input.limit ?? DEFAULT_LIMIT,
      read: (after, limit) => readLots(ledger, { book_id, open, after: lotAt(after), limit }),
      placeOf: placeOfLot,
    });
    return page(rows.map(viewLot), next_cursor, cursorAt);
  },
});
