// A list of the staff schema: a page of rows by one operation.
import type { Operation } from '@svc/core/kernel/index.ts';
import { toWire } from '../derive.ts';
import { pageArgs, pageCost, rowsAsked } from '../page.ts';
import type { Runner } from '../run.ts';

// biome-ignore lint/suspicious/noExplicitAny: the builder knows its types, the parts of the schema do not
type Any = any;

/** The field of a connection `type` whose pages `operation` reads. */
export function pageField(
  t: Any,
  facts: { readonly type: Any; readonly operation: Operation<Any, Any>; readonly description: string },
): Any {
  const { type, operation, description } = facts;
  return t.field({
    type,
    nullable: true,
    description,
    args: { after: t.arg.string(), first: t.arg.int() },
    complexity: pageCost,
    extensions: { operation: operation.name },
    resolve: async (_root: unknown, args: Record<string, unknown>, { runner }: { runner: Runner }) => {
      const given = toWire(operation.input, { ...args, first: rowsAsked(args) }, pageArgs);
      const page = await runner.run(operation, given);
      return { page, paged: typeof args['after'] === 'string' };
    },
  });
}
