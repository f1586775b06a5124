// Which version of a document is in force, which comes, and what an organization owes. Pure but for `readDocuments`.
import type { Db, Id } from '../kernel/index.ts';
import { listAcceptances, listVersions } from './store.ts';
import type { Acceptance, DocumentKind, LegalVersion } from './types.ts';

/** The newest of `versions` (one kind, in order) that is in force at `now`; null before the first. */
export function versionInForce(versions: readonly LegalVersion[], now: Date): LegalVersion | null {
  return versions.findLast(({ effective_at }) => effective_at.getTime() <= now.getTime()) ?? null;
}

/** Those of `versions` that can be accepted at `now`: the one in force and those that come. */
export function acceptableVersions(versions: readonly LegalVersion[], now: Date): LegalVersion[] {
  const current = versionInForce(versions, now);
  return versions.filter((one) => one === current || one.effective_at.getTime() > now.getTime());
}

/**
 * Whether `version` waits for the organization to accept it at `now`: it is in force, and since what was accepted last
 * there was a version that asks for acceptance.
 */
function isOutstanding(
  version: LegalVersion,
  of: { versions: readonly LegalVersion[]; accepted: readonly Acceptance[]; now: Date },
): boolean {
  if (versionInForce(of.versions, of.now) !== version) return false;
  const last = of.versions.findLast((one) => acceptanceOf(one, of.accepted) !== null);
  const since = last?.effective_at.getTime() ?? Number.NEGATIVE_INFINITY;
  return of.versions.some(
    ({ requires_acceptance, effective_at }) =>
      requires_acceptance &&
      effective_at.getTime() > since &&
      effective_at.getTime() <= version.effective_at.getTime(),
  );
}

/** The acceptance of `version` among `accepted`; null when it was not accepted. */
export function acceptanceOf(version: LegalVersion, accepted: readonly Acceptance[]): Acceptance | null {
  return accepted.find((one) => one.kind === version.kind && one.version === version.version) ?? null;
}

/** A document as an organization stands to it. */
export interface DocumentState {
  readonly version: LegalVersion;
  readonly previous: LegalVersion | null;
  readonly acceptance: Acceptance | null;
  readonly outstanding: boolean;
}

/** `version` as an organization that has `accepted` stands to it. */
function stateOf(
  version: LegalVersion,
  of: { versions: readonly LegalVersion[]; accepted: readonly Acceptance[]; now: Date },
): DocumentState {
  return {
    version,
    previous: of.versions[of.versions.indexOf(version) - 1] ?? null,
    acceptance: acceptanceOf(version, of.accepted),
    outstanding: isOutstanding(version, of),
  };
}

/** All versions of every kind, or of one, as the organization stands to them; in the order in which they take effect. */
export async function readDocuments(
  db: Db,
  args: { org_id: Id<'org'>; kind: DocumentKind | null; now: Date },
): Promise<DocumentState[]> {
  const all = await listVersions(db, args.kind);
  const accepted = await listAcceptances(db, args.org_id);
  return all.map((version) => {
    const versions = all.filter(({ kind }) => kind === version.kind);
    return stateOf(version, { versions, accepted, now: args.now });
  });
}
