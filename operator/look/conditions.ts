// From findings to `status.conditions`: what changed, when, and whether the object is ready. Pure.
import { type Condition, type ConditionType, conditionTypes, PROPAGATING } from '../types.ts';

/** What a reconcile found about one condition. */
export interface Finding {
  readonly status: Condition['status'];
  readonly reason: string;
  readonly message: string;
}

export interface Findings {
  readonly Accepted: Finding;
  readonly Synced: Finding;
  readonly Activated: Finding;
}

/** API servers take 32,768; people read a few lines. */
const MESSAGE_MAX = 1_024;

function isTrue(finding: Finding | undefined): boolean {
  return finding?.status === 'True';
}

/** Ready is what the first condition in the way says; `wants_active` says whether Activated can be in the way. */
function readyOf(findings: Findings, wants_active: boolean): Finding {
  const { Accepted, Synced, Activated } = findings;
  const wanted = wants_active ? [Accepted, Synced, Activated] : [Accepted, Synced];
  const blocking = wanted.find((one) => !isTrue(one));
  if (blocking !== undefined) return { ...blocking, status: 'False' };
  return { status: 'True', reason: 'Ready', message: (wants_active ? Activated : Synced).message };
}

/** One condition after a look; its time changes only with its status. */
export function condition(
  type: ConditionType,
  finding: Finding,
  before: readonly Condition[],
  at: { readonly generation: number; readonly now: Date },
): Condition {
  const known = before.find((one) => one.type === type);
  const message = finding.message.slice(0, MESSAGE_MAX);
  const since = known?.status === finding.status ? known.lastTransitionTime : undefined;
  return {
    type,
    ...{ status: finding.status, reason: finding.reason, message },
    observedGeneration: at.generation,
    // Seconds, as Kubernetes writes its times.
    lastTransitionTime: since ?? `${at.now.toISOString().slice(0, 19)}Z`,
  };
}

/** The conditions after a reconcile; a time changes only with its condition's status. */
export function conditionsOf(
  findings: Findings,
  input: {
    readonly before: readonly Condition[];
    readonly wants_active: boolean;
    readonly propagating: Finding;
    readonly generation: number;
    readonly now: Date;
  },
): readonly Condition[] {
  const all = { ...findings, Ready: readyOf(findings, input.wants_active) };
  const types: readonly ConditionType[] = [...conditionTypes.slice(0, -1), PROPAGATING, 'Ready'];
  const found = { ...all, [PROPAGATING]: input.propagating };
  return types.map((type) => condition(type, found[type], input.before, input));
}
