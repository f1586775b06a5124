// Batches of codes as staff make, watch and end them.
import { type Static, Type } from 'typebox';
import { askSecondPerson } from '../approvals/index.ts';
import { writeAudit } from '../identity/index.ts';
import {
  type Context,
  lineOf,
  named,
  nullable,
  operation,
  page,
  pageInput,
  pageOf,
  Time,
  TimeIn,
  timeInMs,
  walkPage,
} from '../kernel/index.ts';
import { endBatch, makeBatch } from './batch.ts';
import { listBatches } from './store.ts';
import type { Batch } from './types.ts';

/** An act that a second person may have to approve. */
export const MAKE_CODES = 'staff.redeem.create';
const finance = { kind: 'staff', roles: ['finance'] } as const;

export const BatchView = named(
  'RedeemBatch',
  Type.Object({
    name: Type.String(),
    amount_micro_usd: Type.Integer(),
    codes: Type.Integer(),
    redeemed: Type.Integer(),
    credit_days: Type.Integer(),
    valid_until: Time,
    max_per_org: Type.Integer(),
    country: nullable(Type.String()),
    new_org_only: Type.Boolean(),
    created_by: Type.String(),
    created_at: Time,
    closed_at: nullable(Time),
  }),
);
type BatchView = Static<typeof BatchView>;

/** A batch as it is shown. */
function viewBatch(batch: Batch, redeemed: number): BatchView {
  const { batch_id: _, valid_until, created_at, closed_at, ...plain } = batch;
  return {
    ...plain,
    redeemed,
    valid_until: valid_until.toISOString(),
    created_at: created_at.toISOString(),
    closed_at: closed_at?.toISOString() ?? null,
  };
}

const example: BatchView = {
  name: 'devcon-2026',
  amount_micro_usd: 5_000_000,
  codes: 500,
  redeemed: 0,
  credit_days: 90,
  valid_until: '2026-12-31T00:00:00.000Z',
  max_per_org: 1,
  country: null,
  new_org_only: true,
  created_by: 'fin@svc.example',
  created_at: '2026-11-21T10:00:00.000Z',
  closed_at: null,
};

/** Members of a new batch, of staff and of `svcctl`. */
const NewBatch = Type.Object({
  name: Type.String({ pattern: '^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$' }),
  amount_micro: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  codes: Type.Integer({ minimum: 1, maximum: 10_000 }),
  credit_days: Type.Integer({ minimum: 1, maximum: 3_650 }),
  valid_until: TimeIn,
  max_per_org: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 })),
  country: Type.Optional(Type.String({ pattern: '^[A-Z]{2}$' })),
  new_org_only: Type.Optional(Type.Boolean()),
});

export const createBatchOperation = operation({
  name: MAKE_CODES,
  method: 'POST',
  path: '/staff/redeem/batches',
  summary:
    'Make a batch of codes, worth more than 100 USD with a second person; they are in this answer alone',
  audience: finance,
  input: NewBatch,
  output: Type.Object({ batch: BatchView, csv: Type.String({ description: 'the codes, shown once' }) }),
  errors: ['already_exists', 'pending_approval'],
  example: { batch: example, csv: 'code,amount_micro_usd,batch\r\n' },
  async run(context, input) {
    const { amount_micro, codes, name } = input;
    await askSecondPerson(context, {
      ...{ action: MAKE_CODES, input, org_id: null, reason: `codes ${name}` },
      // What all of them are worth: a batch of small codes moves as much.
      amount_micro_usd: Math.min(amount_micro * codes, Number.MAX_SAFE_INTEGER),
    });
    return makeApproved(context, input);
  },
});

/** Makes a batch that needs no second person, or has one. @throws ServiceError already_exists. */
export async function makeApproved(
  context: Context,
  { amount_micro, valid_until, ...rest }: Static<typeof NewBatch>,
): Promise<{ batch: BatchView; csv: string }> {
  const made = await makeBatch(context, context.services.root_key, {
    ...rest,
    amount_micro_usd: amount_micro,
    valid_until: new Date(timeInMs(valid_until)),
  });
  return { batch: viewBatch(made.batch, 0), csv: made.csv };
}

export const closeBatchOperation = operation({
  name: 'staff.redeem.close',
  method: 'POST',
  path: '/staff/redeem/batches/:name/close',
  summary: 'End a batch: none of its codes is taken any more',
  audience: finance,
  input: Type.Object({ name: lineOf(40) }),
  output: Type.Object({ name: Type.String(), closed_at: nullable(Time) }),
  errors: [],
  example: { name: example.name, closed_at: '2026-11-22T10:00:00.000Z' },
  async run(context, { name }) {
    const batch = await endBatch(context, name);
    return { name: batch.name, closed_at: batch.closed_at?.toISOString() ?? null };
  },
});

export const listBatchesOperation = operation({
  name: 'staff.redeem.list',
  method: 'GET',
  path: '/staff/redeem/batches',
  summary: 'List batches of codes with how many are redeemed, newest first',
  audience: { kind: 'staff', roles: ['finance', 'support'] },
  input: Type.Object(pageInput(200)),
  output: pageOf(BatchView),
  errors: [],
  example: { object: 'list', data: [example], next_cursor: '' },
  run: (context, input) =>
    context.transaction(async (context) => {
      await writeAudit(context, { action: 'staff.redeem.list', org_id: null });
      const { rows, next_cursor, cursorAt } = await walkPage(context, {
        bound: 'staff.redeem.list',
        cursor: input.cursor,
        limit: input.limit ?? 50,
        read: (after, limit) => listBatches(context.db, { before: after?.at ?? null, limit }),
        placeOf: (batch) => ({ at: batch.batch_id, id: '' }),
      });
      const shown = rows.map(({ redeemed, ...batch }) => viewBatch(batch, redeemed));
      return page(shown, next_cursor, cursorAt);
    }),
});

export const staffRedeemOperations = [
  createBatchOperation,
  closeBatchOperation,
  listBatchesOperation,
] as const;
