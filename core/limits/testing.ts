// What tests of the limits build: subjects with buckets of their own.
import { newUlid } from '../kernel/index.ts';
import type { LimitBound, LimitScope, LimitSubject, Rates } from './types.ts';

type Some = Partial<Rates>;

/** A subject of a new organization, bounded by `of.key`, by `of.project` where there is one, and by `of.plan`. */
export function subjectWith(of: {
  readonly key?: Some;
  readonly project?: Some;
  readonly plan?: Some;
}): LimitSubject {
  const org_id = newUlid();
  const bound = (scope: LimitScope, rates: Some): LimitBound => ({
    ...{ scope, bucket: `${scope}-${org_id}`, subject: `${scope} of ${org_id}` },
    rates: { rpm: null, tpm: null, concurrency: null, ...rates },
  });
  const plan = bound('plan', of.plan ?? {});
  return {
    org_id,
    plan: plan.bucket,
    bounds: [
      bound('key', of.key ?? {}),
      ...(of.project === undefined ? [] : [bound('project', of.project)]),
      plan,
    ],
  };
}

/** The same bounds with another key under them: the other keys of the project and of the plan. */
export function siblingOf(
  { bounds: [key, ...others], ...subject }: LimitSubject,
  rates: Some = {},
): LimitSubject {
  const bucket = `key-${newUlid()}`;
  const own: LimitBound = {
    ...{ scope: 'key', bucket, subject: bucket },
    rates: { rpm: null, tpm: null, concurrency: null, ...rates },
  };
  return { ...subject, bounds: key === undefined ? [own] : [own, ...others] };
}

/** `subject` after the limits of `scope` were changed to `rates`; null: the bound is gone. */
export function changed(subject: LimitSubject, scope: LimitScope, rates: Some | null): LimitSubject {
  const bounds = subject.bounds.flatMap((bound) => {
    if (bound.scope !== scope) return [bound];
    return rates === null ? [] : [{ ...bound, rates: { ...bound.rates, ...rates } }];
  });
  return { ...subject, bounds };
}
