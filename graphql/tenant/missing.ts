// In GraphQL a look-up that finds nothing returns null, whether the object does not exist or belongs to another
// organization.
import { ServiceError } from '@svc/core/kernel/index.ts';

/** What `found` resolves with; null when it rejects with not_found. */
export async function nullWhenMissing<T>(found: Promise<T>): Promise<T | null> {
  try {
    return await found;
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'not_found') return null;
    throw error;
  }
}
