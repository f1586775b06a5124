// The statement of a month for the accountant of a reseller. Its tables are not GraphQL: `GET /v1/reseller/statement` has them.
import { StatementView, statementOperation } from '@svc/core/resellers/index.ts';
import { builder, derive } from '../../builder.ts';
import { Reseller } from './reseller.ts';

const Statement = derive.output('ResellerStatement', StatementView, {
  names: {
    ...{ customer: 'ResellerStatementLine', customers: 'ResellerStatementLine' },
    ...{ totals: 'ResellerStatementTotals', account: 'ResellerStatementAccount' },
    ...{ document: 'ResellerStatementDocuments', documents: 'ResellerStatementDocuments' },
  },
  omit: ['object'],
});

builder.objectFields(Reseller, (t) => ({
  statement: t.field({
    type: Statement,
    nullable: true,
    description: 'Customers, documents and the account in a month, `2026-11`.',
    args: { month: t.arg.string({ required: true }) },
    complexity: { field: 20 },
    extensions: { operation: statementOperation.name },
    resolve: (_root, { month }, { runner }) => runner.run(statementOperation, { month }),
  }),
}));
