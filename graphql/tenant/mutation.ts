// A mutation runs one operation and returns a union: its payload, or the refusal as an object. Faults of ours remain
// top-level errors.
import type { Operation } from '@svc/core/kernel/index.ts';
import type { TSchema } from 'typebox';
import { toWire } from '../derive.ts';
import { userErrorOf } from '../errors.ts';
import { pascal } from '../names.ts';
import type { RunOptions } from '../run.ts';
import { builder, derive, userErrors } from './builder.ts';
import type { TenantContext } from './context.ts';

// biome-ignore lint/suspicious/noExplicitAny: derived types are known to the schema, not to the compiler
type Any = any;

interface MutationFacts {
  /** `createKey`. */
  readonly name: string;
  readonly operation: Operation<Any, Any>;
  readonly input: TSchema;
  readonly description: string;
  /** Members of the input type that exist only in GraphQL. */
  readonly extra?: (t: Any) => Record<string, Any>;
  readonly options?: (input: Record<string, unknown>) => RunOptions;
  /** Fields of the payload; `answer` of their parent is the operation's output. */
  payload(t: Any): Record<string, Any>;
}

function idempotencyField(t: Any): Record<string, Any> {
  return {
    idempotencyKey: t.string({
      description: 'Repeating the same key and input within 24 hours returns the first result again.',
    }),
  };
}

function inputOf(title: string, { operation, input, extra }: MutationFacts): Any {
  return derive.input(`${title}Input`, input, {
    extra: (t) => ({
      ...(operation.idempotent === true ? idempotencyField(t) : {}),
      ...extra?.(t),
    }),
  });
}

/** Adds the mutation with its `XxxInput`, `XxxPayload` and `XxxResult`. */
export function mutation(facts: MutationFacts): void {
  const { operation } = facts;
  const title = pascal(facts.name);
  const { properties } = facts.input as Any as { readonly properties: object };
  // An input type without members is no GraphQL: what says nothing more than its name takes no argument.
  const is_bare =
    Object.keys(properties).length === 0 && operation.idempotent !== true && facts.extra === undefined;
  const input = is_bare ? null : inputOf(title, facts);
  const payload = builder
    .objectRef<{ readonly answer: unknown }>(`${title}Payload`)
    .implement({ fields: (t) => facts.payload(t) });
  const result = builder.unionType(`${title}Result`, {
    types: [payload, ...userErrors] as Any,
    resolveType: (value: Any) => value.__typename ?? `${title}Payload`,
  });
  builder.mutationField(facts.name, (t) =>
    t.field({
      type: result as Any,
      description: facts.description,
      args: input === null ? {} : { input: t.arg({ type: input, required: true }) },
      extensions: { operation: operation.name },
      resolve: async (_root: unknown, args: Any, context: TenantContext) => {
        const given = (args.input ?? {}) as Record<string, unknown>;
        try {
          const answer = await context.runner.run(operation, toWire(facts.input, given), {
            idempotency_key: (given['idempotencyKey'] as string | null | undefined) ?? null,
            ...facts.options?.(given),
          });
          return { answer } as Any;
        } catch (error) {
          const refusal = userErrorOf(error, context.runner.request.request_id);
          if (refusal === null) throw error;
          return refusal as Any;
        }
      },
    }),
  );
}
