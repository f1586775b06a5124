// What is done to the keys of a member who leaves or comes back. Keys know of people and not the other way round, so who has
// the keys says it here.
import type { Context, Id } from '../../kernel/index.ts';

interface Place {
  readonly org_id: Id<'org'>;
  readonly user_id: Id<'user'>;
}

export interface MemberKeys {
  /** Holds the keys that a person made, before the organization is locked. */
  lock(context: Context, place: Place): Promise<void>;
  /** The membership was suspended or has ended. */
  left(context: Context, place: Place): Promise<void>;
  /** The person is a member again. */
  came(context: Context, place: Place): Promise<void>;
}

declare module '../../kernel/operation/operation.ts' {
  interface Services {
    readonly member_keys?: MemberKeys;
  }
}

/** @throws Error (a defect) in a program that has no keys: nobody leaves it with theirs. */
export function memberKeysOf({ services }: Context): MemberKeys {
  if (services.member_keys === undefined) throw new Error('nobody sees to the keys of members');
  return services.member_keys;
}
