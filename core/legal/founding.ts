// What the founder of an organization accepts with it, for core/identity, which stands above and makes organizations.
import type { FoundingTerms } from '../identity/index.ts';
import { acceptInForce } from './accept.ts';
import { foundingKinds } from './types.ts';

export const foundingTerms: FoundingTerms = {
  accept: (context, { org_id }) => acceptInForce(context, { org_id, kinds: foundingKinds }),
};
