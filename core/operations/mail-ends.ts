// What other concepts make of the end of a mail.
import { documentOfMail, markSent } from '../invoices/index.ts';
import { type Context, isId } from '../kernel/index.ts';
import { noteMailedNotice } from '../mandates/index.ts';

/** Takes the end of a mail, in the transaction that notes it: a document was sent, a debit has its notice or gets none. */
export async function noteMailEnd(
  context: Pick<Context, 'db' | 'now' | 'services'>,
  { template, reference }: { readonly template: string; readonly reference: string },
  { has_gone, at }: { readonly has_gone: boolean; readonly at: Date },
): Promise<void> {
  if (template === 'debit_notice' && isId('topup', reference)) await noteMailedNotice(context, reference);
  if (has_gone && (template === 'receipt' || template === 'invoice'))
    await markSent(context.db, { id: documentOfMail(reference), at });
}
