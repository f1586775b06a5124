// Which buckets the calls of a key are counted in.
import { type Environment, ServiceError } from '../kernel/index.ts';
import type { Grant, KeyRow } from '../keys/index.ts';
import type { LimitBound, LimitRefusal, LimitSubject, Rates } from './types.ts';

/** The bucket of an organization's plan, live and test apart. */
export function planSubject(org_id: string, environment: Environment): string {
  return `${org_id}-${environment}`;
}

/** Whose limits bound a call of an organization. */
interface Bounded {
  readonly org_id: string;
  readonly environment: Environment;
  readonly key_id: string;
  /** What all keys of its rotation chain count as. */
  readonly chain_no: number;
  readonly project_id: string;
}

interface Limits {
  readonly key: Rates;
  /** Null: none of the three is set, and its calls are not counted together. */
  readonly project: Rates | null;
  /** Null: the organization has paid, or was not made by signing up. */
  readonly trial: Rates | null;
  readonly plan: Rates;
}

function planBound({ org_id, environment }: Bounded | Place, rates: Rates): LimitBound {
  return { scope: 'plan', bucket: planSubject(org_id, environment), subject: org_id, rates };
}

/** What bounds an organization until its first top-up is paid, in a bucket that no other limit counts in. */
function trialBound({ org_id, environment }: Bounded | Place, rates: Rates): LimitBound {
  const bucket = `trial-${planSubject(org_id, environment)}`;
  return { scope: 'trial', bucket, subject: org_id, rates };
}

function projectBound({ project_id, environment }: Bounded | ProjectPlace, rates: Rates): LimitBound {
  return { scope: 'project', bucket: `project-${project_id}-${environment}`, subject: project_id, rates };
}

function subjectOfCall(bounded: Bounded, { key, project, trial, plan }: Limits): LimitSubject {
  const { org_id, environment, key_id, chain_no } = bounded;
  const own: LimitBound = {
    ...{ scope: 'key', bucket: `key-${chain_no}-${environment}`, subject: key_id, rates: key },
  };
  const of_plan = planBound(bounded, plan);
  // Written out, because nearly every call has no trial: lists that grow take 27 ns more.
  const upper = trial === null ? null : trialBound(bounded, trial);
  let bounds: LimitBound[];
  if (project === null) bounds = upper === null ? [own, of_plan] : [own, upper, of_plan];
  else {
    const of_project = projectBound(bounded, project);
    bounds = upper === null ? [own, of_project, of_plan] : [own, of_project, upper, of_plan];
  }
  return { org_id, plan: of_plan.bucket, bounds };
}

/** The buckets of a stored key, of a project and an organization with these limits. */
export function subjectOfKey(
  key: Pick<KeyRow, 'id' | 'org_id' | 'project_id' | 'environment' | 'chain_no' | keyof Rates>,
  limits: Pick<Limits, 'project' | 'trial' | 'plan'>,
): LimitSubject {
  const { id: key_id, rpm, tpm, concurrency } = key;
  return subjectOfCall({ ...key, key_id }, { ...limits, key: { rpm, tpm, concurrency } });
}

interface Place {
  readonly org_id: string;
  readonly environment: Environment;
}
interface ProjectPlace extends Place {
  readonly project_id: string;
}

/** The buckets of all keys of a project together, to look at. */
export function subjectOfProject(
  place: ProjectPlace,
  { project, ...shared }: Pick<Limits, 'trial' | 'plan'> & { readonly project: Rates },
): LimitSubject {
  const whole = subjectOfPlan(place, shared);
  return { ...whole, bounds: [projectBound(place, project), ...whole.bounds] };
}

/** The buckets of all keys of an organization together, to look at. */
export function subjectOfPlan(place: Place, { trial, plan }: Pick<Limits, 'trial' | 'plan'>): LimitSubject {
  const of_plan = planBound(place, plan);
  const bounds = trial === null ? [of_plan] : [trialBound(place, trial), of_plan];
  return { org_id: place.org_id, plan: of_plan.bucket, bounds };
}

/**
 * The buckets of `grant`: its rotation chain under the key's own limits, its project under those of the project, its
 * organization under the plan's.
 */
export function subjectOf(grant: Grant): LimitSubject {
  const { org_id, environment, key_id, project_id, subject, limits } = grant;
  return subjectOfCall({ org_id, environment, key_id, project_id, chain_no: subject.key_no }, limits);
}

/** `subject` with other limits. */
function withRates(subject: LimitSubject, change: (rates: Rates) => Rates): LimitSubject {
  return { ...subject, bounds: subject.bounds.map((one) => ({ ...one, rates: change(one.rates) })) };
}

/**
 * The same without the limit of concurrent calls: for requests that are free and short, and count as a request only.
 */
export function requestSubjectOf(grant: Grant): LimitSubject {
  return withRates(subjectOf(grant), (rates) => ({ ...rates, concurrency: null }));
}

/** The part of every limit that one of `processes` may grant by itself; at least one where the limit is not zero. */
export function shareOf(subject: LimitSubject, processes: number): LimitSubject {
  const part = (limit: number | null) =>
    limit === null || limit === 0 ? limit : Math.max(1, Math.floor(limit / processes));
  return withRates(subject, ({ rpm, tpm, concurrency }) => ({
    rpm: part(rpm),
    tpm: part(tpm),
    concurrency: part(concurrency),
  }));
}

const what: Readonly<Record<LimitRefusal['limit'], (value: number) => string>> = {
  rpm: (value) => `${value} requests per minute`,
  tpm: (value) => `${value} tokens per minute`,
  concurrency: (value) => `${value} calls at once`,
};

const whose: Readonly<Record<LimitRefusal['scope'], (subject: string) => string>> = {
  key: () => 'This key',
  project: (subject) => `The project ${subject} of this key`,
  trial: () => 'The organization',
  plan: () => "The organization's plan",
};

/** What lifts a limit, where something does besides another one. */
const until: Readonly<Partial<Record<LimitRefusal['scope'], string>>> = {
  trial: ' until the first top-up is paid',
};

/** The refusal as callers get it: 429 `rate_limit_exceeded` with the limit, whose it is, and when to come back. */
export function limitError({ limit, scope, subject, limit_value, reset_ms }: LimitRefusal): ServiceError {
  const allows = `${whose[scope](subject)} allows ${what[limit](limit_value)} (${limit})${until[scope] ?? ''}.`;
  return new ServiceError('rate_limit_exceeded', `${allows} Try again in ${Math.ceil(reset_ms / 1_000)} s.`, {
    details: { limit, scope, subject, limit_value, reset_ms },
    retry_after_ms: reset_ms,
  });
}
