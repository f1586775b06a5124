// Setting `org_erasure`: how long an erasure is announced before it begins. One that was asked for keeps its time.
import { readSetting, writeSetting } from '../db/index.ts';
import { changesOf, writeAudit } from '../identity/index.ts';
import { type Context, type Db, invalid } from '../kernel/index.ts';

/** A week, so that whoever is away finds out; and not so long that nobody remembers. */
export const noticeDays = { min: 7, max: 90 } as const;

interface ErasureTerms {
  /** Between asking and the beginning, so that a mistake can be taken back. */
  readonly notice_days: number;
}

const DEFAULTS: ErasureTerms = { notice_days: 30 };

/** The values in force: those of the release under what staff have set. */
export async function readErasureTerms(db: Db): Promise<ErasureTerms> {
  return { ...DEFAULTS, ...(await readSetting<Partial<ErasureTerms>>(db, 'org_erasure')) };
}

/** Changes the notice of erasures that are asked for from now on. @throws ServiceError invalid_request. */
export function changeErasureTerms(context: Context, { notice_days }: ErasureTerms): Promise<ErasureTerms> {
  return context.transaction(async (context) => {
    const { min, max } = noticeDays;
    if (!Number.isInteger(notice_days) || notice_days < min || notice_days > max)
      throw invalid('notice_days', 'range', `The notice is ${min} to ${max} days.`);
    const before = await readErasureTerms(context.db);
    const after = { notice_days };
    await writeSetting(context.db, { name: 'org_erasure', value: after, at: context.now() });
    await writeAudit(context, {
      ...{ action: 'staff.orgs.erasures.terms.set', org_id: null },
      ...changesOf(before, after, ['notice_days']),
    });
    return after;
  });
}
