// What becomes of a request for higher limits. Pure.
import { type Limits, limitNames } from './types.ts';

/** Raises of one key that need no person, within a day. */
const RAISES_A_DAY = 3;

/** Why a request waits for a person. */
type Obstacle = 'beyond_plan' | 'key_ended' | 'too_many_raises';

/** Whether all that `requested` names is within `most`. */
export function isWithin(requested: Limits, most: Limits): boolean {
  return limitNames.every((name) => {
    const [asked, bound] = [requested[name], most[name]];
    return asked === null || bound === null || asked <= bound;
  });
}

/** What holds for a key that has the limits `own`, in an organization that has `most`. */
export function effective(own: Limits, most: Limits): Limits {
  const tighter = (name: keyof Limits) => {
    const [of_key, of_org] = [own[name], most[name]];
    if (of_key === null || of_org === null) return of_key ?? of_org;
    return Math.min(of_key, of_org);
  };
  return { rpm: tighter('rpm'), tpm: tighter('tpm'), concurrency: tighter('concurrency') };
}

/** `own` with what `granted` names. */
export function granting(own: Limits, granted: Limits): Limits {
  return {
    rpm: granted.rpm ?? own.rpm,
    tpm: granted.tpm ?? own.tpm,
    concurrency: granted.concurrency ?? own.concurrency,
  };
}

/** Null where the request is granted at once, else why a person decides. */
export function obstacleOf(facts: {
  readonly requested: Limits;
  readonly most: Limits;
  readonly is_active: boolean;
  readonly raises_today: number;
}): Obstacle | null {
  if (!facts.is_active) return 'key_ended';
  if (!isWithin(facts.requested, facts.most)) return 'beyond_plan';
  return facts.raises_today >= RAISES_A_DAY ? 'too_many_raises' : null;
}
