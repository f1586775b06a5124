// Relay connections over paged operations.
import { cursorOf, type Environment, type Operation } from '@svc/core/kernel/index.ts';
import { toWire } from '../derive.ts';
import { limits } from '../limits.ts';
import { type PageOfRows, pageArgs, pageCost, pageInfoOf, rowsAsked } from '../page.ts';
import type { RunOptions } from '../run.ts';
import { builder, derive, PageInfo } from './builder.ts';
import type { TenantContext } from './context.ts';

// biome-ignore lint/suspicious/noExplicitAny: rows are of the type that the operation's schema derives
type Any = any;

/** The connection type for rows of `node`, named after it. */
export function connectionType(name: string, node: Any): Any {
  const edge = builder.objectRef<{ page: PageOfRows['page']; at: number }>(`${name}Edge`).implement({
    fields: (t) => ({
      cursor: t.string({ resolve: ({ page, at }) => cursorOf(page, at) }),
      node: t.field({ type: node, resolve: ({ page, at }) => page.data[at] as Any }),
    }),
  });
  return builder.objectRef<PageOfRows>(`${name}Connection`).implement({
    fields: (t) => ({
      edges: t.field({
        type: [edge],
        complexity: { field: 1, multiplier: 1 },
        resolve: ({ page }) => page.data.map((_, at) => ({ page, at })),
      }),
      nodes: t.field({
        type: [node],
        complexity: { field: 1, multiplier: 1 },
        resolve: ({ page }) => [...page.data] as Any,
      }),
      pageInfo: t.field({ type: PageInfo, resolve: pageInfoOf }),
    }),
  });
}

interface PageField {
  readonly operation: Operation<Any, Any>;
  readonly type: Any;
  readonly description?: string;
  /** Environment in which the operation runs: the parent's, where the parent names a book. */
  readonly options: (parent: Any) => RunOptions;
  /** The field takes the environment as an argument, where the operation has no such member. */
  readonly environment?: true;
}

/** A field that returns a page of `operation`. Its arguments are those of the operation, with `first` and `after`. */
export function pageField(t: Any, parentName: string, field: PageField): Any {
  return t.field({
    type: field.type,
    nullable: true,
    ...(field.description === undefined ? {} : { description: field.description }),
    args: {
      ...derive.args(t.arg, parentName, field.operation.input, { omit: ['limit', 'cursor', 'format'] }),
      ...(field.environment === true ? { environment: t.arg({ type: 'Environment' as Any }) } : {}),
      after: t.arg.string({ description: 'a cursor of an edge' }),
      first: t.arg.int({
        description: `rows, ${limits.page_default} unless given, at most ${limits.page_max}`,
      }),
    },
    complexity: pageCost,
    extensions: { operation: field.operation.name },
    resolve: async (
      parent: Any,
      args: Record<string, unknown>,
      context: TenantContext,
    ): Promise<PageOfRows> => {
      const { environment, ...others } = args;
      const given = field.environment === true ? others : args;
      const input = toWire(field.operation.input, { ...given, first: rowsAsked(args) }, pageArgs);
      const asked =
        field.environment === true ? { environment: (environment ?? null) as Environment | null } : {};
      const page = await context.runner.run(field.operation, input, { ...field.options(parent), ...asked });
      return { page: page as PageOfRows['page'], paged: typeof args['after'] === 'string' };
    },
  });
}
