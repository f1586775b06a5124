// Code of a page that cannot be had.

/** The code of a page could not be loaded, because the server cannot be reached. */
export class PageLost extends Error {}

/** Whether the server answers. */
export async function isReached(): Promise<boolean> {
  try {
    await fetch('/favicon.svg', { cache: 'no-store' });
    return true;
  } catch {
    return false;
  }
}

/**
 * `importer`, of which a failure without a connection is a `PageLost`. Any other failure stays as it is: the files of
 * this release have been replaced by those of a newer one, and the router reloads the console once. Without a connection
 * that would end it.
 */
export function kept<T>(importer: () => Promise<T>): () => Promise<T> {
  return () =>
    importer().catch(async (error: unknown) => {
      if (await isReached()) throw error;
      throw new PageLost('no connection');
    });
}
