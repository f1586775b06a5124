// A look-up that finds nothing is null in GraphQL, whether the object is missing or another organisation's.
import { ServiceError } from '@svc/core/kernel/index.ts';

/** What `found` resolves with, null where it is refused as not found. */
export async function nullWhenMissing<T>(found: Promise<T>): Promise<T | null> {
  try {
    return await found;
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'not_found') return null;
    throw error;
  }
}
