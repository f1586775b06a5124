// What staff do with organizations and their credit (docs/sign-in.md#staff): each act and each look at a customer's
// rows is an entry of the audit log, in the transaction of the act. Reached over the staff listener alone.
import { Type } from 'typebox';
import { askSecondPerson } from '../approvals/index.ts';
import { writeAudit } from '../identity/index.ts';
import {
  type Context,
  type Environment,
  lineOf,
  microUsd,
  oneOf,
  operation,
  page,
  pageInput,
  pageOf,
  ServiceError,
  Time,
  walkPage,
} from '../kernel/index.ts';
import { bookedCredit, ENTRY_KINDS, orderCredit, readBalance, readEntries } from '../ledger/index.ts';
import { type Org, searchOrgs } from '../orgs/index.ts';
import { viewEntries } from './balance.ts';
import { bookIn } from './book.ts';
import { EntryView } from './schema.ts';
import { listStaffLotsOperation, staffReconciliationOperation } from './staff-accounts.ts';
import { auditTargetOf, Env, getStaffOrg, lookInto } from './staff-org.ts';

/** An act that a second person may have to approve. */
export const GRANT = 'staff.credits.grant';
const FOUND_MAX = 20;
const DAY_MS = 86_400_000;
const anyone = { kind: 'staff', roles: 'any' } as const;

export const StaffOrgView = Type.Object({
  id: Type.String(),
  slug: Type.String(),
  name: Type.String(),
  kind: oneOf(['team', 'personal', 'reseller', 'child'], 'OrganizationKind'),
  status: oneOf(['active', 'suspended', 'closed'], 'OrganizationStatus'),
  plan_id: Type.String(),
  billing_country: Type.String(),
  billing_currency: Type.String(),
  created_at: Time,
});

const Figures = Type.Object({
  available_micro_usd: Type.Integer(),
  held_micro_usd: Type.Integer(),
  granted_micro_usd: Type.Integer(),
});

function viewOrg(org: Org) {
  return {
    id: org.id,
    slug: org.slug,
    name: org.name,
    kind: org.kind,
    status: org.status,
    plan_id: org.plan_id,
    billing_country: org.billing_country,
    billing_currency: org.billing_currency,
    created_at: org.created_at.toISOString(),
  };
}

const orgExample = {
  id: 'org_01KACZ3V8S6T5R4Q3P2N1M0K9J',
  slug: 'acme',
  name: 'Acme',
  kind: 'team',
  status: 'active',
  plan_id: 'payg',
  billing_country: 'IN',
  billing_currency: 'INR',
  created_at: '2026-11-21T10:00:00.000Z',
} as const;

export const findOrgsOperation = operation({
  name: 'staff.orgs.find',
  method: 'GET',
  path: '/staff/orgs',
  summary: 'Find organizations by id, slug or part of the name',
  audience: anyone,
  input: Type.Object({ q: lineOf(254) }),
  output: Type.Object({ object: Type.Literal('list'), data: Type.Array(StaffOrgView) }),
  errors: [],
  example: { object: 'list', data: [orgExample] },
  run: (context, { q }) =>
    context.transaction(async (context) => {
      const found = await searchOrgs(context.db, { q: q.trim(), limit: FOUND_MAX });
      await writeAudit(context, { action: 'staff.orgs.find', org_id: null, after: { found: found.length } });
      return { object: 'list' as const, data: found.map(viewOrg) };
    }),
});

export const getStaffOrgOperation = operation({
  name: 'staff.orgs.get',
  method: 'GET',
  path: '/staff/orgs/:id',
  summary: 'Open an organization',
  audience: anyone,
  input: Type.Object({ id: Type.String() }),
  output: StaffOrgView,
  errors: [],
  example: orgExample,
  run: (context, { id }) =>
    context.transaction(async (context) => {
      return viewOrg(await lookInto(context, id, 'staff.orgs.get'));
    }),
});

export const getStaffBalanceOperation = operation({
  name: 'staff.credits.get',
  method: 'GET',
  path: '/staff/orgs/:id/credits',
  summary: "Read the balance of an organization's book",
  audience: { kind: 'staff', roles: ['finance', 'support'] },
  input: Type.Object({ id: Type.String(), environment: Env }),
  output: Figures,
  errors: [],
  example: { available_micro_usd: 99_998_747, held_micro_usd: 0, granted_micro_usd: 99_998_747 },
  run: (context, { id, environment }) =>
    context.transaction(async (context) => {
      const org = await lookInto(context, id, 'staff.credits.get');
      const balance = await readBalance(context.shards.at(org.shard), bookIn(org, environment ?? 'live'));
      return {
        available_micro_usd: balance.available_micro_usd,
        held_micro_usd: balance.held_micro_usd,
        granted_micro_usd: balance.granted_micro_usd,
      };
    }),
});

export const listStaffEntriesOperation = operation({
  name: 'staff.credits.ledger',
  method: 'GET',
  path: '/staff/orgs/:id/credits/ledger',
  summary: "List the ledger entries of an organization's book, newest first",
  audience: { kind: 'staff', roles: ['finance', 'support'] },
  input: Type.Object({
    id: Type.String(),
    environment: Env,
    kind: Type.Optional(oneOf(ENTRY_KINDS, 'LedgerEntryKind')),
    ...pageInput(500),
  }),
  output: pageOf(EntryView),
  errors: [],
  example: { object: 'list', data: [], next_cursor: '' },
  run: (context, input) =>
    context.transaction(async (context) => {
      const org = await lookInto(context, input.id, 'staff.credits.ledger');
      const book_id = bookIn(org, input.environment ?? 'live');
      const ledger = context.shards.at(org.shard);
      const kind = input.kind ?? null;
      const { rows, next_cursor, cursorAt } = await walkPage(context, {
        bound: `staff.credits.ledger ${book_id} ${kind ?? ''}`,
        cursor: input.cursor,
        limit: input.limit ?? 50,
        read: (after, limit) => readEntries(ledger, { book_id, before_seq: after?.at ?? null, kind, limit }),
        placeOf: (entry) => ({ at: entry.seq, id: '' }),
      });
      return page(await viewEntries(context.db, rows), next_cursor, cursorAt);
    }),
});

export const grantCreditOperation = operation({
  name: GRANT,
  method: 'POST',
  path: '/staff/orgs/:id/credits/grants',
  summary: 'Grant credit with the reason, above 100 USD with a second person; once per reference',
  audience: { kind: 'staff', roles: ['finance'] },
  input: Type.Object({
    id: Type.String(),
    amount_micro: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
    reason: lineOf(500),
    reference: lineOf(64),
    environment: Env,
    expires_days: Type.Optional(Type.Integer({ minimum: 1, maximum: 3_650 })),
  }),
  output: Type.Object({
    seq: Type.Integer(),
    lot_id: Type.String(),
    balance: Figures,
    replay: Type.Boolean(),
  }),
  errors: ['idempotency_conflict', 'pending_approval'],
  example: {
    seq: 3,
    lot_id: 'lot_01KACZ3V8S6T5R4Q3P2N1M0K9J',
    balance: { available_micro_usd: 5_000_000, held_micro_usd: 0, granted_micro_usd: 5_000_000 },
    replay: false,
  },
  async run(context, input) {
    const org = await getStaffOrg(context, input.id);
    const { amount_micro: amount_micro_usd, reason } = input;
    const asked = { ...input, id: org.id };
    await askSecondPerson(context, { action: GRANT, input: asked, org_id: org.id, amount_micro_usd, reason });
    const { book_id, reference, replay } = await context.transaction((context) =>
      orderGrant(context, org, input),
    );
    const { seq, lot_id } = await bookedCredit(context, { book_id, reference });
    const balance = await readBalance(context.shards.at(org.shard), book_id);
    return {
      seq,
      lot_id,
      balance: {
        available_micro_usd: balance.available_micro_usd,
        held_micro_usd: balance.held_micro_usd,
        granted_micro_usd: balance.granted_micro_usd,
      },
      replay,
    };
  },
});

/**
 * Grants what a second person has approved, in the open transaction; a reference that has granted already moves nothing, which who
 * approves must not take for done. @throws ServiceError idempotency_conflict, already_exists.
 */
export async function grantApproved(context: Context, input: Grant & { readonly id: string }): Promise<void> {
  const { replay } = await orderGrant(context, await getStaffOrg(context, input.id), input);
  if (replay)
    throw new ServiceError('already_exists', 'This reference has granted already. Refuse this one.', {
      param: 'reference',
    });
}

interface Grant {
  readonly amount_micro: number;
  readonly reason: string;
  readonly reference: string;
  readonly environment?: Environment;
  readonly expires_days?: number;
}

/** A reference names one grant: the same reference with another amount is refused as a mistake. */
async function orderGrant(
  context: Context,
  org: Org,
  grant: Grant,
): Promise<{ book_id: number; reference: string; replay: boolean }> {
  const { amount_micro, reason, environment = 'live' } = grant;
  const book_id = bookIn(org, environment);
  const days = grant.expires_days ?? null;
  const { reference, lot_id, replay, amount_micro_usd } = await orderCredit(context, org.shard, {
    book_id,
    amount_micro_usd: microUsd(amount_micro),
    kind: 'grant',
    granted: true,
    expires_at: days === null ? null : new Date(context.now().getTime() + days * DAY_MS),
    ref_type: 'staff',
    ref_id: `grant ${grant.reference}`,
  });
  if (amount_micro_usd !== amount_micro) {
    throw new ServiceError(
      'idempotency_conflict',
      'This reference was already used to grant another amount.',
      {
        param: 'reference',
      },
    );
  }
  if (!replay) {
    const after = { amount_micro, reference: grant.reference, environment, lot_id };
    await writeAudit(context, { action: 'staff.credits.grant', ...auditTargetOf(org), after, reason });
  }
  return { book_id, reference, replay };
}

export const staffCreditOperations = [
  findOrgsOperation,
  getStaffOrgOperation,
  getStaffBalanceOperation,
  listStaffEntriesOperation,
  listStaffLotsOperation,
  staffReconciliationOperation,
  grantCreditOperation,
] as const;
