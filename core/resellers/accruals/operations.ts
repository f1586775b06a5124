// What a reseller earns, month by month and customer by customer, as JSON or as a statement for its accountant.
import { type Static, Type } from 'typebox';
import {
  type Context,
  csv,
  FileAnswer,
  idOf,
  named,
  nullable,
  oneOf,
  operation,
  page,
  pageInput,
  pageOf,
  walkPage,
} from '../../kernel/index.ts';
import { findOrg, findOrgs } from '../../orgs/index.ts';
import { holders, resellerCaller } from '../audience.ts';
import { accrualOf } from './count.ts';
import { type Accrual, listAccruals } from './store.ts';

const PAGE = 50;
/** Rows of a statement: a month of so many customers. */
const ROWS_MAX = 10_000;
const FIELDS = [
  ...['month', 'child_org_id', 'usage_micro', 'markup_micro', 'burned_micro', 'paid_micro'],
  ...['written_off_micro', 'accrued_micro', 'status', 'ledger_seq', 'child_name'],
];
export const accrualStates = ['open', 'credited'] as const;

export const AccrualView = named(
  'ResellerAccrual',
  Type.Object({
    month: Type.String({ description: 'YYYY-MM, UTC' }),
    child_org_id: idOf('org'),
    child_name: Type.String(),
    usage_micro: Type.Integer({ description: 'what calls of the month cost the customer' }),
    markup_micro: Type.Integer({ description: 'how much of it is above catalog prices' }),
    burned_micro: Type.Integer({ description: 'credit that its calls used' }),
    paid_micro: Type.Integer({ description: 'how much of that was paid, or given by the reseller' }),
    written_off_micro: Type.Integer({ description: 'what was asked for and not there' }),
    accrued_micro: Type.Integer({
      description: 'markup × paid / burned, less what was written off; what it would be now while it is open',
    }),
    status: oneOf(accrualStates, 'ResellerAccrualStatus'),
    ledger_seq: nullable(
      Type.Integer({ description: 'the entry of the reseller, where something was credited' }),
    ),
  }),
);
type AccrualView = Static<typeof AccrualView>;

const example: AccrualView = {
  ...{ month: '2026-11', child_org_id: 'org_01KACZ3V8S6T5R4Q3P2N1M0K9J', child_name: 'Northwind' },
  ...{ usage_micro: 2_813, markup_micro: 313, burned_micro: 2_813, paid_micro: 2_813, written_off_micro: 0 },
  ...{ accrued_micro: 313, status: 'credited', ledger_seq: 42 },
};

/** What a month earned, or would earn now while it is open. Pure. */
export function earnedOf({ accrued_micro, ...rest }: Omit<Accrual, 'child_org_id' | 'ledger_seq'>): number {
  return accrued_micro ?? accrualOf(rest);
}

async function viewAccruals(context: Context, rows: readonly Accrual[]): Promise<AccrualView[]> {
  const ids = [...new Set(rows.map(({ child_org_id }) => child_org_id))];
  const orgs = await findOrgs(context.acrossOrgs.db, ids);
  return rows.map((row) => {
    const { org_id: _, month, ...rest } = row;
    const child_name = orgs.get(row.child_org_id)?.name ?? '';
    return { ...rest, child_name, month: month.slice(0, 7), accrued_micro: earnedOf(row) };
  });
}

/** The rows as CSV; the last is that of the sums, under the month `total`. */
function statementOf(rows: readonly AccrualView[]): string {
  const sum = (name: 'usage_micro' | 'markup_micro' | 'burned_micro' | 'paid_micro') =>
    rows.reduce((all, row) => all + row[name], 0);
  const total = {
    ...{
      month: 'total',
      child_org_id: '',
      child_name: '',
      usage_micro: sum('usage_micro'),
      markup_micro: sum('markup_micro'),
    },
    ...{ burned_micro: sum('burned_micro'), paid_micro: sum('paid_micro') },
    written_off_micro: rows.reduce((all, row) => all + row.written_off_micro, 0),
    accrued_micro: rows.reduce((all, row) => all + row.accrued_micro, 0),
    ...{ status: '', ledger_seq: null },
  };
  return csv(FIELDS, [...rows, total]);
}

export const listAccrualsOperation = operation({
  name: 'reseller.accruals.list',
  method: 'GET',
  path: '/v1/reseller/accruals',
  summary: 'List the markup earned per month and customer, newest month first, as JSON or CSV',
  audience: holders('reseller.read'),
  input: Type.Object({
    month: Type.Optional(Type.String({ pattern: '^[0-9]{4}-(?:0[1-9]|1[0-2])$', description: 'YYYY-MM' })),
    child_org_id: Type.Optional(Type.String()),
    format: Type.Optional(oneOf(['json', 'csv'], 'TableFormat')),
    ...pageInput(200),
  }),
  output: pageOf(AccrualView),
  errors: ['grant_required'],
  produces: 'text/csv',
  example: { object: 'list', data: [example], next_cursor: '' },
  async run(context, { month: asked, child_org_id = null, format, cursor, limit }) {
    const { org_id } = resellerCaller(context);
    const month = asked === undefined ? null : `${asked}-01`;
    const filter = { org_id, month, child_org_id };
    if (format === 'csv') {
      const rows = await listAccruals(context.db, { ...filter, after: null, limit: ROWS_MAX });
      const slug = (await findOrg(context.db, org_id))?.slug ?? '';
      return new FileAnswer({
        content_type: 'text/csv; charset=utf-8',
        filename: `accruals-${slug}-${asked ?? context.now().toISOString().slice(0, 10)}.csv`,
        body: statementOf(await viewAccruals(context, rows)),
      });
    }
    const { rows, next_cursor, cursorAt } = await walkPage(context, {
      bound: `reseller.accruals ${JSON.stringify(filter)}`,
      cursor,
      limit: limit ?? PAGE,
      read: (after, limit) => listAccruals(context.db, { ...filter, after, limit }),
      placeOf: (row) => ({ at: Date.parse(row.month), id: row.child_org_id }),
    });
    return page(await viewAccruals(context, rows), next_cursor, cursorAt);
  },
});
