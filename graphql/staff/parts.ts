// What the parts of the staff schema are built with.
import type { Operation } from '@svc/core/kernel/index.ts';
import type { Derivation } from '../derive.ts';

// biome-ignore lint/suspicious/noExplicitAny: the builder knows its types, the parts of the schema do not
type Any = any;

export interface Parts {
  readonly builder: Any;
  readonly derive: Derivation;
  connectionType(name: string, node: Any): Any;
  /** A page of what belongs to an organization, by an operation that takes its id. */
  orgPage(t: Any, name: string, operation: Operation<Any, Any>, type: Any): Any;
  mutation(facts: {
    name: string;
    operation: Operation<Any, Any>;
    description: string;
    rename?: Readonly<Record<string, string>>;
    payload: (t: Any) => Record<string, Any>;
  }): void;
  readonly StaffOrg: Any;
}
