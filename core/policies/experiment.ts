// Experiments as a policy asks for them: calls are split between two arms, and the arms are compared.
import { SHARES, shareOf } from './canary.ts';
import type { Actions, PolicyDocument } from './types.ts';

type Written = NonNullable<Actions['experiment']>;

export const armNames = ['control', 'candidate'] as const;

/** One side of an experiment: what of the choice is another one in it. */
export interface Arm extends Pick<Written['arms'][number], 'providers' | 'endpoints' | 'model'> {
  readonly name: (typeof armNames)[number];
  /** Of 10,000 buckets it has this many. */
  readonly share: number;
}

/** An experiment with everything that its policy leaves to the standard. */
export interface ExperimentPlan {
  readonly name: string;
  /** Control, then candidate: this order is that of their buckets. */
  readonly arms: readonly [Arm, Arm];
  /** Who stays in one arm; null: each call is drawn by itself. */
  readonly stick: NonNullable<Written['stick']> | null;
}

/** `written` as a plan; null where it does not name both arms, which no policy that was checked does. */
export function experimentOf({ name, arms, stick }: Written): ExperimentPlan | null {
  const control = arms.find((arm) => arm.name === 'control');
  const candidate = arms.find((arm) => arm.name === 'candidate');
  if (control === undefined || candidate === undefined) return null;
  const share = shareOf(control.percent);
  return {
    name,
    arms: [
      { ...control, share },
      { ...candidate, share: SHARES - share },
    ],
    stick: stick ?? null,
  };
}

/** The experiments of a policy, in the order of its text; a name is that of one place only. */
export function experimentsOf({ defaults, rules = [] }: PolicyDocument): ExperimentPlan[] {
  const written = [defaults ?? {}, ...rules].map(({ experiment }) => experiment);
  return written.flatMap((experiment) => (experiment === undefined ? [] : (experimentOf(experiment) ?? [])));
}
