// Mails in the staff schema.
import {
  findMailsOperation,
  MailView,
  releaseAddressOperation,
  resendMailOperation,
} from '@svc/core/desk/index.ts';
import { toWire } from '../derive.ts';
import { pageArgs, pageCost, rowsAsked } from '../page.ts';
import type { Runner } from '../run.ts';
import type { Parts } from './parts.ts';

// biome-ignore lint/suspicious/noExplicitAny: the builder knows its types, this part of the schema does not
type Any = any;

/** Adds the search in mails, and what is done about those that did not arrive. */
export function addMails({ builder, derive, connectionType, mutation }: Parts): void {
  const Mail = derive.output('Mail', MailView);
  const Mails = connectionType('Mail', Mail);
  builder.queryField('mails', (t: Any) =>
    t.field({
      type: Mails,
      nullable: true,
      description: 'Mails by address, organization, id or reference, newest first.',
      args: { q: t.arg.string({ required: true }), after: t.arg.string(), first: t.arg.int() },
      complexity: pageCost,
      extensions: { operation: findMailsOperation.name },
      resolve: async (_root: unknown, args: Record<string, unknown>, { runner }: { runner: Runner }) => {
        const given = { ...args, first: rowsAsked(args) };
        const page = await runner.run(findMailsOperation, toWire(findMailsOperation.input, given, pageArgs));
        return { page, paged: typeof args['after'] === 'string' };
      },
    }),
  );
  mutation({
    name: 'resendMail',
    operation: resendMailOperation,
    description: 'Sends a mail again that did not arrive.',
    payload: (t) => ({ mail: t.field({ type: Mail, resolve: (mail: unknown) => mail }) }),
  });
  mutation({
    name: 'releaseMailAddress',
    operation: releaseAddressOperation,
    description: 'Lets mail go to an address again that refused it.',
    payload: (t) => ({ address: t.exposeString('address') }),
  });
}
