// Mails in the staff schema.
import { findMailsOperation, MailView } from '@svc/core/desk/index.ts';
import { toWire } from '../derive.ts';
import { pageArgs, pageCost, rowsAsked } from '../page.ts';
import type { Runner } from '../run.ts';
import type { Parts } from './parts.ts';

// biome-ignore lint/suspicious/noExplicitAny: the builder knows its types, this part of the schema does not
type Any = any;

/** Adds the search in mails. */
export function addMails({ builder, derive, connectionType }: Parts): void {
  const Mails = connectionType('Mail', derive.output('Mail', MailView));
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
}
