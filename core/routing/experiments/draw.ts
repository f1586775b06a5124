// Which arm of an experiment a call is in (docs/policies.md#experiments). A hash decides, of what the experiment sticks
// to or else of the request id, so that every gateway comes to the same arm without asking anybody.
import { sha256 } from '../../kernel/index.ts';
import { type Arm, type ExperimentPlan, experimentOf, type Ruling, SHARES } from '../../policies/index.ts';
import type { SettledInput, SettledPreferences, TakenArm } from '../types.ts';

interface Drawn {
  readonly plan: ExperimentPlan;
  readonly taken: TakenArm;
}

/** The arm whose buckets `bucket` is one of: the first ones are the control's. */
export function armOf({ arms: [control, candidate] }: ExperimentPlan, bucket: number): Arm {
  return bucket < control.share ? control : candidate;
}

/**
 * The draw of a call; null where its policy has no experiment. By version and experiment, and not by the rules that
 * matched: an experiment of the defaults would move whom it sticks to from arm to arm with each rule.
 */
export function drawArm({ policy, version, actions }: Ruling, input: SettledInput): Drawn | null {
  if (actions.experiment === undefined) return null;
  const plan = experimentOf(actions.experiment);
  if (plan === null) return null;
  const { name, stick } = plan;
  const kept = stick === null ? null : (input.affinity?.value(stick) ?? null);
  const unit = kept === null ? `request\n${input.request_id}` : `${stick}\n${kept}`;
  const bucket = sha256(`${policy}\n${version}\n${name}\n${unit}`).readUInt32BE(0) % SHARES;
  return { plan, taken: { name, arm: armOf(plan, bucket).name, bucket } };
}

type Lists = NonNullable<SettledPreferences['providers']>;

/** `own` with the order of an arm in place of any other. */
function reordered(own: Lists | undefined, order: readonly string[] | undefined): Lists {
  const { order: _, ...rest } = own ?? {};
  return order === undefined ? rest : { ...rest, order: [...order] };
}

/**
 * `input` as the arm asks for it. What the arm leaves out is left out beside what policy and request leave out; its
 * order stands before theirs, as they would else undo the arm.
 */
export function underArm(input: SettledInput, experiment: string, arm: Arm): SettledInput {
  const { preferences } = input;
  const { providers, endpoints } = arm;
  const lists = preferences.lists ?? { only: [], regions: [], quantizations: [] };
  const only = [providers?.only, endpoints?.only].filter((names) => names !== undefined);
  const orders = providers?.order !== undefined || endpoints?.order !== undefined;
  return {
    ...input,
    model: arm.model ?? input.model,
    arm: `${experiment}/${arm.name}`,
    preferences: {
      ...preferences,
      lists: { ...lists, only: [...lists.only, ...only] },
      ignore: [...(preferences.ignore ?? []), ...(providers?.ignore ?? []), ...(endpoints?.ignore ?? [])],
      ...(orders
        ? {
            providers: reordered(preferences.providers, providers?.order),
            endpoints: reordered(preferences.endpoints, endpoints?.order),
          }
        : {}),
    },
  };
}
