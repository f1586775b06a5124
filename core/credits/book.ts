// Whose credits are meant.
import { type Context, type Environment, notFound, orgCaller } from '../kernel/index.ts';
import { findOrg, type Org } from '../orgs/index.ts';

/** The book of an organization in `environment`. */
export function bookIn(org: Pick<Org, 'live_book_id' | 'sandbox_book_id'>, environment: Environment): number {
  return environment === 'live' ? org.live_book_id : org.sandbox_book_id;
}

/** The caller's organization and the book that its key or session acts in. @throws ServiceError not_found. */
export async function callersBook(
  context: Context,
): Promise<{ org: Org; environment: Environment; book_id: number }> {
  const { org_id, environment } = orgCaller(context);
  const org = await findOrg(context.db, org_id);
  if (org === null) throw notFound();
  return { org, environment, book_id: bookIn(org, environment) };
}
