// The accounts of the double-entry books that follow from the ledger, the payments and the documents.

type AccountType = 'asset' | 'liability' | 'revenue' | 'expense' | 'exchange';

/** Every account: its type, and what stands on it. */
export const ACCOUNTS = {
  rail_receivable: {
    type: 'asset',
    doc: 'payments that rails took for us, less refunds, lost disputes and fees; payouts are booked in the bank’s books',
  },
  customer_credit: { type: 'liability', doc: 'credit of customers that is not spent' },
  disputed_credit: { type: 'liability', doc: 'credit that waits for the end of a dispute' },
  gifts_outstanding: { type: 'liability', doc: 'gifts that nobody has redeemed yet' },
  transfers: {
    type: 'liability',
    doc: 'credit on its way from a reseller to a child; zero unless one is under way',
  },
  tax_payable: { type: 'liability', doc: 'tax on our invoices, less that on our credit notes' },
  reseller_tax: {
    type: 'liability',
    doc: 'tax that customers of resellers paid on documents of these, less that on their credit notes: it is the resellers’',
  },
  usage_revenue: { type: 'revenue', doc: 'what calls cost' },
  plan_revenue: { type: 'revenue', doc: 'fees of plans' },
  breakage: { type: 'revenue', doc: 'paid credit that expired' },
  promotions: { type: 'expense', doc: 'credit given away, less what of it expired' },
  write_offs: {
    type: 'expense',
    doc: 'costs, refunds and disputes that a balance did not cover, and the tax of payments that were lost',
  },
  rail_fees: { type: 'expense', doc: 'what rails took of payments, refunds and disputes' },
  reseller_commissions: { type: 'expense', doc: 'markup credited to resellers' },
  adjustments: { type: 'expense', doc: 'corrections by staff' },
  exchange: {
    type: 'exchange',
    doc: 'credit sold, in dollars, against its price in the currency of payment',
  },
} as const satisfies Readonly<Record<string, { readonly type: AccountType; readonly doc: string }>>;

export type Account = keyof typeof ACCOUNTS;
export const accountNames = Object.keys(ACCOUNTS) as Account[];
