// The key of the hashes of an organization's end users. The first `svcctl keyring rotate` of an installation seals those that
// are there; what is made after it is sealed at once.
import {
  type Context,
  type Db,
  headerOf,
  type Id,
  openColumn,
  type RootKeyRing,
  rootKeys,
  sealColumn,
  secureBytes,
} from '../kernel/index.ts';
import { findPepperHeader, findPepperRow } from './policy-store.ts';
import { findGrantRow } from './store.ts';
import type { GrantFacts, PepperRow } from './types.ts';

/** Where peppers are, and what opens them. */
export interface PepperPlace {
  readonly db: Db;
  readonly root_key: RootKeyRing;
}

/**
 * A pepper as the organization `org_id` is made with it: sealed where those of others are, under a key of this ring. Until the
 * first rotation programs of an earlier release may run, which read no sealed one; and a ring that opens none of them is not
 * that of the installation.
 */
export async function newPepper(
  { db, services }: Pick<Context, 'db' | 'services'>,
  org_id: Id<'org'>,
): Promise<PepperRow> {
  const pepper = secureBytes(32);
  const header = await findPepperHeader(db);
  const isOfRing = (found: Buffer) => rootKeys(services.root_key).some((key) => headerOf(key).equals(found));
  if (header === null || !isOfRing(header)) return { pepper, pepper_sealed: null };
  const pepper_sealed = sealColumn(services.root_key, 'org.pepper_sealed', [org_id], pepper);
  return { pepper: null, pepper_sealed };
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
