// The key of the hashes of an organization's end users. It is sealed under the key ring by `svcctl keyring rotate`; what was
// made since then or before is still as it was made.
import { type Db, type Id, openColumn, type RootKeyRing } from '../kernel/index.ts';
import { findPepperRow } from './policy-store.ts';
import { findGrantRow } from './store.ts';
import type { GrantFacts, PepperRow } from './types.ts';

/** Where peppers are, and what opens them. */
export interface PepperPlace {
  readonly db: Db;
  readonly root_key: RootKeyRing;
}

function openPepper(place: PepperPlace, org_id: Id<'org'>, { pepper, pepper_sealed }: PepperRow): Buffer {
  if (pepper_sealed === null) return pepper as Buffer;
  return openColumn(place.root_key, 'org.pepper_sealed', [org_id], pepper_sealed);
}

/** The pepper of an organization; null when there is no such organization. @throws Error when no key of the ring opens it. */
export async function findPepper(place: PepperPlace, org_id: Id<'org'>): Promise<Buffer | null> {
  const found = await findPepperRow(place.db, org_id);
  return found === null ? null : openPepper(place, org_id, found);
}

/**
 * What keys inherit, read for one project of one organization; null when either is missing.
 * @throws Error when no key of the ring opens the pepper.
 */
export async function findGrantFacts(
  place: PepperPlace,
  args: { org_id: Id<'org'>; project_id: Id<'project'> },
): Promise<GrantFacts | null> {
  const found = await findGrantRow(place.db, args);
  if (found === null) return null;
  const { pepper, pepper_sealed, ...facts } = found;
  return { ...facts, pepper: openPepper(place, args.org_id, { pepper, pepper_sealed }) };
}
