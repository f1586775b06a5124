// Whose customer a new organization becomes that was made with a reseller's invite code. Resellers know of people and not the
// other way round, so they say it here.
import type { Context, Id } from '../kernel/index.ts';

export interface FoundingParents {
  /** Parent and tier of an organization that is made in the transaction of `context`. @throws ServiceError invite_required. */
  of(
    context: Context,
    reseller_id: Id<'org'>,
  ): Promise<{ readonly parent_org_id: Id<'org'>; readonly reseller_tier_id: Id<'tier'> | null }>;
}

declare module '../kernel/operation/operation.ts' {
  interface Services {
    readonly founding_parents?: FoundingParents;
  }
}

/** @throws Error (a defect) in a program that knows no resellers: nobody makes organizations there. */
export function foundingParentsOf({ services }: Context): FoundingParents {
  if (services.founding_parents === undefined)
    throw new Error('nobody knows whose customer a founder becomes');
  return services.founding_parents;
}
