// The statement of a month for the accountant of a reseller, as JSON or as tables.
import { type Static, Type } from 'typebox';
import type { Invoice } from '../../invoices/index.ts';
import { csv, FileAnswer, idOf, named, oneOf, operation } from '../../kernel/index.ts';
import { findOrg } from '../../orgs/index.ts';
import { holders, resellerCaller } from '../audience.ts';
import { documentsOf, figures, type Statement, statementOf } from './statement.ts';

const parts = ['customers', 'documents'] as const;

const figureFields = {
  usage_micro: Type.Integer({ description: 'what calls of the month cost' }),
  catalog_micro: Type.Integer({ description: 'what they cost at catalog prices' }),
  markup_micro: Type.Integer(),
  written_off_micro: Type.Integer({ description: 'what was asked of the balance and not there' }),
  accrued_micro: Type.Integer({ description: 'what the reseller earns of it' }),
  charged_micro: Type.Integer({ description: 'what calls took of the balance' }),
  sold_micro: Type.Integer({ description: 'credit that the customer paid for' }),
  refunded_micro: Type.Integer({ description: 'credit whose price went back' }),
  given_micro: Type.Integer({ description: 'credit that the reseller gave' }),
  reclaimed_micro: Type.Integer({ description: 'credit that it took back' }),
  other_micro: Type.Integer({ description: 'everything else that moved the balance, signed' }),
};

const Line = named(
  'ResellerStatementLine',
  Type.Object({ child_org_id: idOf('org'), name: Type.String(), ...figureFields }),
);
const Totals = named('ResellerStatementTotals', Type.Object(figureFields));
const Documents = named(
  'ResellerStatementDocuments',
  Type.Object({
    ...{ currency: Type.String(), invoices: Type.Integer(), credit_notes: Type.Integer() },
    ...{ taxable_minor: Type.Integer(), cgst_minor: Type.Integer(), sgst_minor: Type.Integer() },
    ...{ igst_minor: Type.Integer(), total_minor: Type.Integer() },
  }),
);
const Account = named(
  'ResellerStatementAccount',
  Type.Object({
    opening_micro: Type.Integer(),
    allocated_micro: Type.Integer({ description: 'below zero: given to customers' }),
    reclaimed_micro: Type.Integer(),
    accruals_micro: Type.Integer({ description: 'markup of earlier months that was credited in this one' }),
    other_micro: Type.Integer(),
    closing_micro: Type.Integer(),
  }),
);

export const StatementView = named(
  'ResellerStatement',
  Type.Object({
    object: Type.Literal('statement'),
    month: Type.String({ description: 'YYYY-MM; UTC, documents by the date in Kolkata' }),
    status: oneOf(['open', 'credited'], 'ResellerAccrualStatus'),
    customers: Type.Array(Line),
    totals: Totals,
    documents: Type.Array(Documents),
    account: Account,
  }),
);
export type StatementView = Static<typeof StatementView>;

const exampleFigures = {
  ...{
    usage_micro: 2_813,
    catalog_micro: 2_500,
    markup_micro: 313,
    written_off_micro: 0,
    accrued_micro: 313,
  },
  ...{ charged_micro: 2_813, sold_micro: 11_107_346, refunded_micro: 0, given_micro: 25_000_000 },
  ...{ reclaimed_micro: 0, other_micro: 0 },
};
const example: StatementView = {
  ...{ object: 'statement', month: '2026-11', status: 'credited', totals: exampleFigures },
  customers: [{ child_org_id: 'org_01KACZ3V8S6T5R4Q3P2N1M0K9J', name: 'Northwind', ...exampleFigures }],
  documents: [
    {
      ...{ currency: 'INR', invoices: 1, credit_notes: 0, taxable_minor: 100_000, cgst_minor: 9_000 },
      ...{ sgst_minor: 9_000, igst_minor: 0, total_minor: 118_000 },
    },
  ],
  account: {
    ...{ opening_micro: 50_000_000, allocated_micro: -25_000_000, reclaimed_micro: 0, accruals_micro: 0 },
    ...{ other_micro: 0, closing_micro: 25_000_000 },
  },
};

const viewOf = (statement: Statement): StatementView => ({
  ...{ object: 'statement', ...statement },
  customers: [...statement.customers],
  documents: [...statement.documents],
});

/** The customers as CSV; the last line has the sums under the id `total`. */
function customersCsv({ customers, totals }: Statement): string {
  const total = { child_org_id: 'total', name: '', ...totals };
  return csv(['child_org_id', 'name', ...figures], [...customers, total]);
}

const DOCUMENT_FIELDS = [
  ...[
    'number',
    'issued_at',
    'kind',
    'child_org_id',
    'recipient',
    'gstin',
    'place_of_supply',
    'currency',
    'inr_rate',
  ],
  ...['taxable_minor', 'cgst_minor', 'sgst_minor', 'igst_minor', 'total_minor', 'original_number'],
];

/** The documents as CSV, in the order in which they were issued. */
function documentsCsv(documents: readonly Invoice[]): string {
  const rows = documents.map(({ org_id, recipient, issued_at, ...document }) => ({
    ...document,
    ...{ issued_at: issued_at.toISOString(), child_org_id: org_id, recipient: recipient.name },
    gstin: recipient.gstin ?? '',
  }));
  return csv(DOCUMENT_FIELDS, rows);
}

export const statementOperation = operation({
  name: 'reseller.statement',
  method: 'GET',
  path: '/v1/reseller/statement',
  summary: 'Read the statement of a month: customers, documents and the account, as JSON or CSV',
  audience: holders('reseller.read'),
  input: Type.Object({
    month: Type.String({ pattern: '^[0-9]{4}-(?:0[1-9]|1[0-2])$', description: 'YYYY-MM' }),
    format: Type.Optional(oneOf(['json', 'csv'], 'TableFormat')),
    part: Type.Optional(oneOf(parts, 'ResellerStatementPart')),
  }),
  output: StatementView,
  errors: ['grant_required'],
  produces: 'text/csv',
  example,
  async run(context, { month, format, part = 'customers' }) {
    const { org_id } = resellerCaller(context);
    if (format !== 'csv') return viewOf(await statementOf(context, org_id, month));
    const slug = (await findOrg(context.db, org_id))?.slug ?? '';
    const body =
      part === 'customers'
        ? customersCsv(await statementOf(context, org_id, month))
        : documentsCsv(await documentsOf(context, org_id, month));
    return new FileAnswer({
      ...{
        content_type: 'text/csv; charset=utf-8',
        filename: `statement-${part}-${slug}-${month}.csv`,
        body,
      },
    });
  },
});
