// Credit, payments and invoices.
import { getBalanceOperation, listEntriesOperation, listLotsOperation } from '../../credits/index.ts';
import { listGiftsOperation } from '../../gifts/index.ts';
import { invoicePdfOperation, listInvoicesOperation } from '../../invoices/index.ts';
import { FileAnswer } from '../../kernel/index.ts';
import { getAutoTopupOperation, listMandatesOperation } from '../../mandates/index.ts';
import { getPlanOperation, listCharges } from '../../plans/index.ts';
import { listRedemptionsOperation } from '../../redeem/index.ts';
import { listRefundsOperation } from '../../refunds/index.ts';
import { listTopupsOperation } from '../../topups/index.ts';
import type { RowFile, Source, WholeFile } from '../types.ts';
import { answerOf, ofBoth, once, pagesOf } from '../walk.ts';

/** A month has few charges, so these are those of decades. */
const CHARGES = 10_000;
const ENTRY_PAGE = 500;

export const moneyFiles: readonly RowFile[] = [
  {
    name: 'balance',
    about: 'What there was of credit when the export was made. One line for each environment.',
    route: 'GET /v1/credits',
    pages: (source) =>
      ofBoth(source, (context) =>
        once(answerOf(context, getBalanceOperation, {}).then((balance) => [balance])),
      ),
  },
  {
    name: 'ledger',
    about:
      'Every entry of the ledger, newest first. The amounts of an environment add up to its balance, held credit included.',
    route: 'GET /v1/credits/ledger',
    pages: (source) => ofBoth(source, (context) => pagesOf(context, listEntriesOperation, {}, ENTRY_PAGE)),
  },
  {
    name: 'lots',
    about: 'Portions of credit with what is left of each and when it ends.',
    route: 'GET /v1/credits/lots',
    pages: (source) => ofBoth(source, (context) => pagesOf(context, listLotsOperation, {})),
  },
  {
    name: 'plan',
    about: 'The plan and what it includes. One line.',
    route: 'GET /v1/orgs/{id}/plan',
    pages: ({ live, org_id }) =>
      once(answerOf(live, getPlanOperation, { id: org_id }).then((plan) => [plan])),
  },
  {
    name: 'plan_charges',
    about: 'Fees of the plan by month.',
    route: null,
    pages: ({ live, org_id }) => once(listCharges(live.db, { org_id, limit: CHARGES })),
  },
  {
    name: 'topups',
    about: 'Payments, with what was refunded or disputed of each.',
    route: 'GET /v1/credits/topups',
    pages: ({ live }) => pagesOf(live, listTopupsOperation, {}),
  },
  {
    name: 'refunds',
    about: 'What went back of these payments.',
    route: 'GET /v1/credits/refunds',
    pages: ({ live }) => pagesOf(live, listRefundsOperation, {}),
  },
  {
    name: 'mandates',
    about: 'Mandates for automatic payments.',
    route: 'GET /v1/credits/mandates',
    pages: ({ live }) => pagesOf(live, listMandatesOperation, {}),
  },
  {
    name: 'auto_topup',
    about: 'How credit is topped up by itself. One line.',
    route: 'GET /v1/credits/auto-topup',
    pages: ({ live }) => once(answerOf(live, getAutoTopupOperation, {}).then((settings) => [settings])),
  },
  {
    name: 'gifts',
    about: 'Credit that was given away by code, and what became of it. The codes are not stored.',
    route: 'GET /v1/credits/gifts',
    pages: ({ live }) => pagesOf(live, listGiftsOperation, {}),
  },
  {
    name: 'redemptions',
    about: 'Codes that were redeemed for credit.',
    route: 'GET /v1/credits/redemptions',
    pages: ({ live }) => pagesOf(live, listRedemptionsOperation, {}),
  },
  {
    name: 'invoices',
    about: 'Invoices and credit notes. Their PDF files are in the folder invoices.',
    route: 'GET /v1/invoices',
    pages: ({ live }) => pagesOf(live, listInvoicesOperation, {}),
  },
];

/** The PDF files of invoices and credit notes, one at a time. */
export async function* invoiceFiles({ live }: Source): AsyncGenerator<WholeFile> {
  for await (const page of pagesOf(live, listInvoicesOperation, {})) {
    for (const { id } of page) {
      const answer = await invoicePdfOperation.run(live, { id });
      if (!(answer instanceof FileAnswer) || !Buffer.isBuffer(answer.body))
        throw new Error('the PDF of a document was expected');
      yield { path: `invoices/${answer.filename}`, bytes: answer.body };
    }
  }
}
