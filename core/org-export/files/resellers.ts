// What a reseller has: its tiers and its customers. Empty for other organizations.
import {
  getInvoicingOperation,
  getMailSenderOperation,
  listAccrualsOperation,
  listAllocationsOperation,
  listChildrenOperation,
  listResellerAnnouncementsOperation,
  listResellerInvoicesOperation,
  listTiersOperation,
} from '../../resellers/index.ts';
import { getStorefrontOperation, listDomainsOperation } from '../../storefronts/index.ts';
import type { RowFile } from '../types.ts';
import { answerOf, once, oneWhenThere, pagesOf, under } from '../walk.ts';

export const resellerFiles: readonly RowFile[] = [
  {
    name: 'reseller_tiers',
    about: 'What customers of a reseller pay above catalog prices.',
    route: 'GET /v1/reseller/tiers',
    pages: ({ live }) => once(answerOf(live, listTiersOperation, {}).then(({ data }) => data)),
  },
  {
    name: 'reseller_children',
    about: 'Customers of a reseller, as it sees them.',
    route: 'GET /v1/reseller/children',
    pages: ({ live }) => pagesOf(live, listChildrenOperation, {}),
  },
  {
    name: 'reseller_allocations',
    about: 'Credit that customers of a reseller were given, and what of it was taken back.',
    route: 'GET /v1/reseller/children/{id}/allocations',
    pages: ({ live }) =>
      under(pagesOf(live, listChildrenOperation, {}), ({ id }) =>
        pagesOf(live, listAllocationsOperation, { id }),
      ),
  },
  {
    name: 'reseller_accruals',
    about: 'Markup that a reseller earned, by month and customer.',
    route: 'GET /v1/reseller/accruals',
    pages: ({ live }) => pagesOf(live, listAccrualsOperation, {}),
  },
  {
    name: 'reseller_announcements',
    about: 'What a reseller said to its customers.',
    route: 'GET /v1/reseller/announcements',
    pages: ({ live }) => pagesOf(live, listResellerAnnouncementsOperation, {}),
  },
  {
    name: 'storefront',
    about: 'What customers of a reseller see in place of us.',
    route: 'GET /v1/reseller/storefront',
    pages: ({ live }) => once(answerOf(live, getStorefrontOperation, {}).then((shop) => [shop])),
  },
  {
    name: 'storefront_domains',
    about: 'Domains of the storefront of a reseller.',
    route: 'GET /v1/reseller/storefront/domains',
    pages: ({ live }) => once(answerOf(live, listDomainsOperation, {}).then(({ data }) => data)),
  },
  {
    name: 'reseller_invoicing',
    about: 'In which name a reseller sells to its customers.',
    route: 'GET /v1/reseller/invoicing',
    pages: ({ live }) => once(oneWhenThere(answerOf(live, getInvoicingOperation, {}))),
  },
  {
    name: 'reseller_mail',
    about: 'Whom mails to customers of a reseller come from.',
    route: 'GET /v1/reseller/storefront/mail',
    pages: ({ live }) => once(oneWhenThere(answerOf(live, getMailSenderOperation, {}))),
  },
  {
    name: 'reseller_invoices',
    about: 'Invoices and credit notes that customers have of a reseller.',
    route: 'GET /v1/reseller/invoices',
    pages: ({ live }) => pagesOf(live, listResellerInvoicesOperation, {}),
  },
];
