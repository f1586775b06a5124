// The statement of a month for the accountant of a reseller: what each customer used and paid, the documents that were issued in
// the reseller's name, and what moved in the reseller's own book. Every figure comes from the ledger or from a document.
import { type Invoice, listIssued, monthInKolkata } from '../../invoices/index.ts';
import type { Context, Id } from '../../kernel/index.ts';
import { type EntryKind, findPlace, sumKinds } from '../../ledger/index.ts';
import { findOrg, findOrgs, type Org } from '../../orgs/index.ts';
import { accrualOf } from '../accruals/count.ts';
import { listStatement, type StatementRow } from './store.ts';

/** Customers of a month. */
const ROWS_MAX = 10_000;

/** Figures that add up over customers. */
export const figures = [
  ...['usage_micro', 'catalog_micro', 'markup_micro', 'written_off_micro', 'accrued_micro', 'charged_micro'],
  ...['sold_micro', 'refunded_micro', 'given_micro', 'reclaimed_micro', 'other_micro'],
] as const;
type Figures = Record<(typeof figures)[number], number>;

interface CustomerLine extends Figures {
  readonly child_org_id: Id<'org'>;
  readonly name: string;
}

/** Documents of a currency; credit notes count against. */
interface DocumentSum {
  readonly currency: string;
  readonly invoices: number;
  readonly credit_notes: number;
  readonly taxable_minor: number;
  readonly cgst_minor: number;
  readonly sgst_minor: number;
  readonly igst_minor: number;
  readonly total_minor: number;
}

/** What moved in the reseller's own book; credits positive, debits negative. */
interface AccountPart {
  readonly opening_micro: number;
  readonly allocated_micro: number;
  readonly reclaimed_micro: number;
  readonly accruals_micro: number;
  readonly other_micro: number;
  readonly closing_micro: number;
}

export interface Statement {
  readonly month: string;
  /** What a month earned is final from the third of the next. */
  readonly status: 'open' | 'credited';
  readonly customers: readonly CustomerLine[];
  readonly totals: Figures;
  readonly documents: readonly DocumentSum[];
  readonly account: AccountPart;
}

/** The month `2026-11` in UTC, from its first instant to that of the next. */
function monthInUtc(month: string): { from: Date; to: Date } {
  const [year, number] = month.split('-').map(Number) as [number, number];
  return { from: new Date(Date.UTC(year, number - 1, 1)), to: new Date(Date.UTC(year, number, 1)) };
}

function lineOf(row: StatementRow, name: string): CustomerLine {
  const { accrued_micro, burned_micro: _, paid_micro: __, ...moved } = row;
  return {
    ...moved,
    name,
    catalog_micro: row.usage_micro - row.markup_micro,
    accrued_micro: accrued_micro ?? accrualOf(row),
  };
}

/** The sums of all customers. Pure. */
function totalsOf(lines: readonly CustomerLine[]): Figures {
  const sum = (name: keyof Figures) => lines.reduce((all, line) => all + line[name], 0);
  return Object.fromEntries(figures.map((name) => [name, sum(name)])) as Figures;
}

/** The sums of documents by currency. Pure. */
function sumsOf(documents: readonly Invoice[]): DocumentSum[] {
  const currencies = [...new Set(documents.map(({ currency }) => currency))].sort();
  return currencies.map((currency) => {
    const own = documents.filter((one) => one.currency === currency);
    const notes = own.filter(({ kind }) => kind === 'credit_note');
    const sum = (name: 'taxable_minor' | 'cgst_minor' | 'sgst_minor' | 'igst_minor' | 'total_minor') =>
      own.reduce((all, one) => all + (one.kind === 'credit_note' ? -one[name] : one[name]), 0);
    return {
      ...{ currency, invoices: own.length - notes.length, credit_notes: notes.length },
      ...{
        taxable_minor: sum('taxable_minor'),
        cgst_minor: sum('cgst_minor'),
        sgst_minor: sum('sgst_minor'),
      },
      ...{ igst_minor: sum('igst_minor'), total_minor: sum('total_minor') },
    };
  });
}

/** Documents that were issued in the reseller's name in the month, as its returns count it: by the date in Kolkata. */
export function documentsOf(context: Context, org_id: Id<'org'>, month: string): Promise<Invoice[]> {
  return listIssued(context.acrossOrgs.db, { supplier_id: org_id, ...monthInKolkata(month) });
}

async function accountOf(context: Context, org: Org, month: string): Promise<AccountPart> {
  const ledger = context.shards.at(org.shard);
  const { from, to } = monthInUtc(month);
  const book_id = org.live_book_id;
  const [opening, closing] = [
    await findPlace(ledger, { book_id, at: from }),
    await findPlace(ledger, { book_id, at: to }),
  ];
  const kinds = await sumKinds(ledger, { book_id, after_seq: opening.seq, until_seq: closing.seq });
  const of = (...wanted: readonly EntryKind[]) =>
    kinds.reduce((sum, { kind, amount_micro }) => (wanted.includes(kind) ? sum + amount_micro : sum), 0);
  const [allocated, reclaimed, accruals] = [of('allocation_out'), of('allocation_reclaim'), of('accrual')];
  const all = kinds.reduce((sum, { amount_micro }) => sum + amount_micro, 0);
  return {
    opening_micro: opening.balance_micro,
    ...{ allocated_micro: allocated, reclaimed_micro: reclaimed, accruals_micro: accruals },
    other_micro: all - allocated - reclaimed - accruals,
    closing_micro: closing.balance_micro,
  };
}

/** The statement of a month of the reseller `org_id`. */
export async function statementOf(context: Context, org_id: Id<'org'>, month: string): Promise<Statement> {
  const org = await findOrg(context.db, org_id);
  if (org === null) throw new Error(`there is no organization ${org_id}`);
  const rows = await listStatement(context.db, { org_id, month: `${month}-01`, limit: ROWS_MAX });
  const ids = rows.map(({ child_org_id }) => child_org_id);
  const orgs = await findOrgs(context.acrossOrgs.db, ids);
  const customers = rows.map((row) => lineOf(row, orgs.get(row.child_org_id)?.name ?? ''));
  const earning = rows.filter(({ usage_micro }) => usage_micro > 0);
  const is_open = rows.length === 0 || earning.some(({ accrued_micro }) => accrued_micro === null);
  return {
    ...{ month, status: is_open ? 'open' : 'credited', customers, totals: totalsOf(customers) },
    documents: sumsOf(await documentsOf(context, org_id, month)),
    account: await accountOf(context, org, month),
  };
}
