// What staff see of an organization besides its ledger, and the queue of what a person must look at. Reached over the
// staff listener alone; each look is an entry of the audit log.
import { Type } from 'typebox';
import { auditTargetOf, getStaffOrg, lookInto } from '../credits/index.ts';
import { listActs, writeAudit } from '../identity/index.ts';
import { fileName, fileOf, findDocument, listInvoices } from '../invoices/index.ts';
import {
  FileAnswer,
  idOf,
  isId,
  lineOf,
  notFound,
  operation,
  page,
  pageInput,
  pageOf,
  ServiceError,
  walkPage,
} from '../kernel/index.ts';
import {
  closeItem,
  listOpenItems,
  listTopups,
  lockItem,
  newestDisputes,
  TopupView,
  viewTopup,
} from '../topups/index.ts';
import { approvalOperations } from './approvals.ts';
import { listStaffBudgetsOperation } from './budgets.ts';
import { findMailsOperation, releaseAddressOperation, resendMailOperation } from './mails.ts';
import { getOutboxOperation } from './operate/outbox.ts';
import { getFxOperation, listPricesOperation } from './operate/prices.ts';
import { listWorkflowsOperation } from './operate/workflows.ts';
import {
  getProposedPriceOperation,
  listSetPricesOperation,
  previewPriceOperation,
  proposePriceOperation,
} from './prices/operations.ts';
import { proposeRatesOperation } from './prices/rates.ts';
import { ActView, DocumentView, ItemView, viewAct, viewDocument, viewItem } from './schema.ts';
import { getShadowAllowanceOperation, setShadowAllowanceOperation } from './shadows.ts';

const readers = { kind: 'staff', roles: ['finance', 'support'] } as const;
const PAGE = 50;

const ofOrg = Type.Object({ id: Type.String(), ...pageInput(200) });
const empty: { object: 'list'; data: never[]; next_cursor: string } = {
  object: 'list',
  data: [],
  next_cursor: '',
};

export const listStaffTopupsOperation = operation({
  name: 'staff.topups.list',
  method: 'GET',
  path: '/staff/orgs/:id/topups',
  summary: 'List the top-ups of an organization, newest first',
  audience: readers,
  input: ofOrg,
  output: pageOf(TopupView),
  errors: [],
  example: empty,
  run: (context, input) =>
    context.transaction(async (context) => {
      const org = await lookInto(context, input.id, 'staff.topups.list');
      const { rows, next_cursor, cursorAt } = await walkPage(context, {
        bound: `staff.topups ${org.id}`,
        cursor: input.cursor,
        limit: input.limit ?? PAGE,
        read: (after, limit) =>
          listTopups(context.db, {
            org_id: org.id,
            before: after === null ? null : { at: new Date(after.at), id: after.id },
            limit,
          }),
        placeOf: (topup) => ({ at: topup.created_at.getTime(), id: topup.id }),
      });
      const ids = rows.map(({ id }) => id);
      const disputes = await newestDisputes(context.db, ids);
      // Where it is paid is for who pays.
      return page(
        rows.map((topup) => viewTopup(topup, { dispute: disputes.get(topup.id) ?? null })),
        next_cursor,
        cursorAt,
      );
    }),
});

export const listStaffDocumentsOperation = operation({
  name: 'staff.documents.list',
  method: 'GET',
  path: '/staff/orgs/:id/documents',
  summary: 'List invoices and credit notes of an organization, newest first',
  audience: readers,
  input: ofOrg,
  output: pageOf(DocumentView),
  errors: [],
  example: empty,
  run: (context, input) =>
    context.transaction(async (context) => {
      const org = await lookInto(context, input.id, 'staff.documents.list');
      const { rows, next_cursor, cursorAt } = await walkPage(context, {
        bound: `staff.documents ${org.id}`,
        cursor: input.cursor,
        limit: input.limit ?? PAGE,
        read: (after, limit) =>
          listInvoices(context.db, {
            org_id: org.id,
            kind: null,
            before: after === null ? null : { at: new Date(after.at), id: after.id },
            limit,
          }),
        placeOf: (invoice) => ({ at: invoice.issued_at.getTime(), id: invoice.id }),
      });
      return page(rows.map(viewDocument), next_cursor, cursorAt);
    }),
});

const staffPdfOperation = operation({
  name: 'staff.documents.pdf',
  method: 'GET',
  path: '/staff/documents/:id/pdf',
  summary: 'Download an invoice or credit note of any organization as PDF',
  audience: readers,
  input: Type.Object({ id: idOf('invoice') }),
  output: Type.String({ description: 'the bytes of the file' }),
  produces: 'application/pdf',
  errors: ['service_unavailable'],
  example: '%PDF-1.7',
  async run(context, { id }) {
    const is_id = isId('invoice', id) || isId('credit_note', id);
    const invoice = is_id ? await findDocument(context.db, id) : null;
    if (invoice === null) throw notFound();
    const { org_id, number } = invoice;
    const target = { type: 'invoice', id, display: number };
    await writeAudit(context, { action: 'staff.documents.pdf', org_id, target });
    const { pdf } = await fileOf(context, invoice);
    return new FileAnswer({
      content_type: 'application/pdf',
      filename: fileName(number, 'pdf'),
      body: pdf,
    });
  },
});

export const listStaffActsOperation = operation({
  name: 'staff.audit.list',
  method: 'GET',
  path: '/staff/orgs/:id/audit',
  summary: 'List what staff did to an organization, newest first',
  audience: { kind: 'staff', roles: ['finance', 'support', 'compliance'] },
  input: Type.Object({
    id: Type.String(),
    looks: Type.Optional(Type.Boolean({ description: 'also what was only read' })),
    ...pageInput(200),
  }),
  output: pageOf(ActView),
  errors: [],
  example: empty,
  run: (context, input) =>
    context.transaction(async (context) => {
      const org = await lookInto(context, input.id, 'staff.audit.list');
      const looks = input.looks ?? false;
      const { rows, next_cursor, cursorAt } = await walkPage(context, {
        bound: `staff.audit ${org.id} ${looks}`,
        cursor: input.cursor,
        limit: input.limit ?? PAGE,
        read: (after, limit) =>
          listActs(context.db, { org_id: org.id, looks, before: after?.at ?? null, limit }),
        placeOf: (act) => ({ at: act.id, id: '' }),
      });
      return page(rows.map(viewAct), next_cursor, cursorAt);
    }),
});

export const listStaffItemsOperation = operation({
  name: 'staff.items.list',
  method: 'GET',
  path: '/staff/items',
  summary: 'List what a person must look at, oldest first',
  audience: readers,
  input: Type.Object({
    org_id: Type.Optional(Type.String({ description: 'id or slug: items about this organization alone' })),
    ...pageInput(200),
  }),
  output: pageOf(ItemView),
  errors: [],
  example: empty,
  run: (context, input) =>
    context.transaction(async (context) => {
      const org = input.org_id === undefined ? null : await getStaffOrg(context, input.org_id);
      const about = org === null ? { org_id: null } : auditTargetOf(org);
      await writeAudit(context, { action: 'staff.items.list', ...about });
      const { rows, next_cursor, cursorAt } = await walkPage(context, {
        bound: `staff.items ${org?.id ?? ''}`,
        cursor: input.cursor,
        limit: input.limit ?? PAGE,
        read: (after, limit) =>
          listOpenItems(context.db, {
            org_id: org?.id ?? null,
            after: after === null ? null : { at: new Date(after.at), id: Number(after.id) },
            limit,
          }),
        placeOf: (item) => ({ at: item.created_at.getTime(), id: String(item.staff_item_id) }),
      });
      return page(rows.map(viewItem), next_cursor, cursorAt);
    }),
});

export const resolveItemOperation = operation({
  name: 'staff.items.resolve',
  method: 'POST',
  path: '/staff/items/:id/resolve',
  summary: 'End a matter of the queue, with a note for the audit log',
  audience: { kind: 'staff', roles: ['finance'] },
  input: Type.Object({ id: Type.String(), note: lineOf(500) }),
  output: Type.Object({
    item: ItemView,
    replay: Type.Boolean({ description: 'it was over before; this note was not kept' }),
  }),
  errors: ['state_conflict'],
  example: {
    item: {
      id: '17',
      kind: 'second_payment',
      subject: 'rail-b pay_2',
      topup_id: null,
      org_id: null,
      org_name: null,
      invoice_number: null,
      in_review: false,
      details: [{ name: 'amount_minor', value: '2500' }],
      created_at: '2026-11-21T10:00:00.000Z',
      resolved_at: '2026-11-21T11:00:00.000Z',
    },
    replay: false,
  },
  run: (context, { id, note }) =>
    context.transaction(async (context) => {
      // An id of another shape is a missing one.
      const item = /^[0-9]{1,15}$/.test(id) ? await lockItem(context.db, Number(id)) : null;
      if (item === null) throw notFound();
      if (item.resolved_at !== null) return { item: viewItem(item), replay: true };
      if (item.topup_status === 'review') {
        throw new ServiceError(
          'state_conflict',
          'Its top-up is in review: the payment has arrived and is neither booked nor given back. Decide that first.',
        );
      }
      const at = context.now();
      await closeItem(context.db, { staff_item_id: item.staff_item_id, at });
      await writeAudit(context, {
        action: 'staff.items.resolve',
        org_id: item.org_id,
        target: { type: 'staff_item', id, display: `${item.kind} ${item.subject}` },
        after: { kind: item.kind, subject: item.subject },
        reason: note,
      });
      return { item: viewItem({ ...item, resolved_at: at }), replay: false };
    }),
});

export const deskOperations = [
  ...approvalOperations,
  listStaffTopupsOperation,
  listStaffDocumentsOperation,
  staffPdfOperation,
  listStaffActsOperation,
  listStaffItemsOperation,
  resolveItemOperation,
  listStaffBudgetsOperation,
  findMailsOperation,
  resendMailOperation,
  releaseAddressOperation,
  getShadowAllowanceOperation,
  setShadowAllowanceOperation,
  listWorkflowsOperation,
  getOutboxOperation,
  getFxOperation,
  listPricesOperation,
  previewPriceOperation,
  proposePriceOperation,
  getProposedPriceOperation,
  listSetPricesOperation,
  proposeRatesOperation,
] as const;
