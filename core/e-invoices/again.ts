// A registration that ended without a number is tried again by staff, when its cause has been removed.
import { writeAudit } from '../identity/index.ts';
import { findNumbered, type Invoice, reopenRegistration } from '../invoices/index.ts';
import { type Context, notFound, ServiceError } from '../kernel/index.ts';
import { startWorkflow } from '../workflow-starts/index.ts';

/**
 * Lets the document of this number wait for its registration again and starts the workflow anew, which asks at least once,
 * however old the document is.
 * @throws ServiceError not_found; state_conflict for one whose registration has not failed.
 */
export function registerAgain(
  context: Context,
  { number, reason }: { readonly number: string; readonly reason: string },
): Promise<Invoice> {
  return context.transaction(async (context) => {
    const { db } = context;
    const at = context.now();
    const invoice = await findNumbered(db, number);
    if (invoice === null) throw notFound();
    const { id, org_id, irn_status } = invoice;
    if (!(await reopenRegistration(db, id)))
      throw new ServiceError(
        'state_conflict',
        `The registration of ${number} is ${irn_status}, not failed.`,
        {
          details: { state: irn_status },
        },
      );
    // The id of the workflow that has ended is taken for good.
    const workflow_id = `invoice-${id}-${at.getTime()}`;
    await startWorkflow(db, { workflow_id, type: 'invoiceIssue', args: { invoice_id: id }, org_id, at });
    await writeAudit(context, {
      ...{ action: 'staff.invoices.register', org_id, reason },
      target: { type: 'invoice', id, display: number },
    });
    return { ...invoice, irn_status: 'pending' };
  });
}
