// What is accepted with a new organization. Legal documents know of people and not the other way round, so who has the
// documents says it here.
import type { Context, Id } from '../kernel/index.ts';

export interface FoundingTerms {
  /** Accepts what is in force for an organization that is made in the transaction of `context`. */
  accept(context: Context, made: { readonly org_id: Id<'org'> }): Promise<void>;
}

declare module '../kernel/operation/operation.ts' {
  interface Services {
    readonly founding_terms?: FoundingTerms;
  }
}

/** @throws Error (a defect) in a program that has no documents: nobody accepts there. */
export function foundingTermsOf({ services }: Context): FoundingTerms {
  if (services.founding_terms === undefined) throw new Error('nobody knows what a founder accepts');
  return services.founding_terms;
}
