// The status of a Project or ApiKey after a look. Pure.
import { condition, type Finding } from '../look/conditions.ts';
import { sameData } from '../text.ts';
import { type Condition, conditionOf } from '../types.ts';
import { type AccessObject, accessConditions } from './types.ts';

interface AccessFindings {
  readonly Accepted: Finding;
  readonly Synced: Finding;
}

/** What a look came to: the conditions, and the members of the status that are of one kind. */
export interface Conclusion {
  readonly findings: AccessFindings;
  readonly fields: Readonly<Record<string, string>>;
}

export const ok = (reason: string, message: string): Finding => ({ status: 'True', reason, message });
export const no = (reason: string, message: string): Finding => ({ status: 'False', reason, message });

/** A condition as the object has it; good news about an older generation is none about this one. */
export function known(object: AccessObject, type: 'Accepted' | 'Synced'): Finding {
  const found = conditionOf(object, type);
  const is_stale = found?.observedGeneration !== object.metadata.generation && found?.status === 'True';
  if (found === undefined || is_stale) {
    return { status: 'Unknown', reason: 'Pending', message: 'not looked at yet' };
  }
  return found;
}

/** The members of the status beside its conditions. */
export function fieldsOf({ status = {} }: AccessObject): Readonly<Record<string, string>> {
  const { conditions: _, observedGeneration: __, ...fields } = status;
  return fields as Readonly<Record<string, string>>;
}

/** The merge patch that brings the status to what a look concluded; null where nothing changes. */
export function accessPatch(
  object: AccessObject,
  { findings, fields }: Conclusion,
  now: Date,
): Readonly<Record<string, unknown>> | null {
  const { Accepted, Synced } = findings;
  // What is known to be wrong says more than what is not known yet.
  const blocking =
    [Accepted, Synced].find(({ status }) => status === 'False') ??
    [Accepted, Synced].find(({ status }) => status !== 'True');
  const Ready: Finding =
    blocking === undefined ? ok('Ready', findings.Synced.message) : { ...blocking, status: 'False' };
  const all = { ...findings, Ready };
  const before = object.status ?? {};
  const { generation } = object.metadata;
  const conditions: readonly Condition[] = accessConditions.map((type) =>
    condition(type, all[type], before.conditions ?? [], { generation, now }),
  );
  const after = { observedGeneration: generation, ...fields, conditions };
  if (sameData(before, after)) return null;
  const gone = Object.keys(before).filter((name) => !Object.hasOwn(after, name));
  return { ...after, ...Object.fromEntries(gone.map((name) => [name, null])) };
}
