// Publishing a version of a document, by staff or with a release.
import { actorOf, writeAudit } from '../identity/index.ts';
import { type Context, invalid, ServiceError } from '../kernel/index.ts';
import { unknownPlaceholder } from './fill.ts';
import { announceAll, insertVersion, listVersions, lockPublishing } from './store.ts';
import type { DocumentKind, LegalVersion } from './types.ts';

const DAY_MS = 86_400_000;
/** Terms that change are published so long before they take effect. */
export const NOTICE_DAYS = 30;
const VERSION = /^\d{4}-\d{2}-\d{2}(?:\.\d{1,2})?$/;

interface NewVersion {
  readonly kind: DocumentKind;
  readonly version: string;
  readonly title: string;
  readonly summary: string;
  readonly requires_acceptance: boolean;
  readonly text: string;
  /** Absent: as soon as may be. */
  readonly effective_at?: Date;
}

/** @throws ServiceError invalid_request for a name that is no date, maybe with a number after it. */
export function checkVersionName(version: string): void {
  const is_day = VERSION.test(version) && !Number.isNaN(Date.parse(version.slice(0, 10)));
  if (!is_day) throw invalid('version', 'format', 'A version is a date, such as 2026-12-01 or 2026-12-01.2.');
}

/** When a new version takes effect. @throws ServiceError invalid_request where that is sooner than people were told. */
export function effectOf(
  wanted: Date | undefined,
  given: { now: Date; is_first: boolean; notice_days: number; last: Date | null },
): Date {
  const { now, is_first, notice_days, last } = given;
  const earliest = is_first ? now : new Date(now.getTime() + notice_days * DAY_MS);
  const effective_at = wanted ?? earliest;
  if (!is_first && effective_at.getTime() < earliest.getTime())
    throw invalid(
      'effective_at',
      'range',
      `A change takes effect ${notice_days} days from now at the soonest.`,
    );
  if (last !== null && effective_at.getTime() <= last.getTime())
    throw invalid('effective_at', 'range', 'It takes effect after the version before it.');
  return effective_at;
}

/** Publishes a version: from then on everybody can read it, and is told of it. @throws ServiceError invalid_request, already_exists. */
export async function publishVersion(context: Context, given: NewVersion): Promise<LegalVersion> {
  checkVersionName(given.version);
  const unknown = unknownPlaceholder(given.text);
  if (unknown !== null) throw invalid('text', 'enum', `There is no placeholder ${unknown}.`);
  return context.transaction(async (context) => {
    const { db, now } = context;
    await lockPublishing(db);
    const before = await listVersions(db, given.kind);
    const at = now();
    const effective_at = effectOf(given.effective_at, {
      ...{ now: at, is_first: before.length === 0, notice_days: NOTICE_DAYS },
      last: before.at(-1)?.effective_at ?? null,
    });
    const made: LegalVersion = {
      ...{ ...given, effective_at, published_at: at, published_by: actorOf(context.caller).display },
      announced_through: '',
    };
    if (!(await insertVersion(db, made)))
      throw new ServiceError('already_exists', 'There is such a version of this document.', {
        param: 'version',
      });
    await announceAll(db);
    await writeAudit(context, {
      ...{ action: 'staff.legal.publish', org_id: null },
      target: { type: 'legal_document', id: `${made.kind} ${made.version}`, display: made.title },
      after: { effective_at: effective_at.toISOString(), requires_acceptance: made.requires_acceptance },
    });
    return made;
  });
}
