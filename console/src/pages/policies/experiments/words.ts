// What the experiments of a policy say. Pure.
import type { PolicyExperimentsQuery } from '../../../api/gen/tools/graphql.ts';
import { exactText } from '../../../ui/format/money.ts';
import { durationText, shareText } from '../../../ui/format/numbers.ts';
import type { Tone } from '../../../ui/status.tsx';

export type ArmShown = NonNullable<PolicyExperimentsQuery['policyExperiments']>[number];
export type Metric = ArmShown['metric'];

/** What can be compared, with its name. */
export const metricNames: readonly (readonly [Metric, string])[] = [
  ['ERROR_RATE', 'Failures'],
  ['COST_MICRO', 'Cost of a call'],
  ['TTFT_MS', 'First token'],
];

/** A value of the metric: "2%", "$0.000412", "402 ms". */
export function metricText(metric: Metric, value: number | null | undefined): string {
  if (value == null) return '–';
  if (metric === 'COST_MICRO') return exactText(Math.round(value));
  return metric === 'TTFT_MS' ? durationText(value) : shareText(value);
}

/** The same with its sign: a difference. */
function signed(metric: Metric, value: number): string {
  const text = metricText(metric, Math.abs(value));
  if (text === metricText(metric, 0)) return text;
  return `${value < 0 ? '−' : '+'}${text}`;
}

type Compared = Pick<ArmShown, 'metric' | 'estimate' | 'low' | 'high'>;

/** The difference with its interval: "−$0.000580 (−$0.000611 to −$0.000549)"; null while there is none. */
export function differenceText({ metric, estimate, low, high }: Compared): string | null {
  if (estimate == null || low == null || high == null) return null;
  return `${signed(metric, estimate)} (${signed(metric, low)} to ${signed(metric, high)})`;
}

/** The decision as a word, and its tone; null for a control, about which none is made. */
export function decisionOf({ decision }: Pick<ArmShown, 'decision'>): {
  readonly tone: Tone;
  readonly word: string;
} | null {
  if (decision == null) return null;
  if (decision === 'BETTER') return { tone: 'ok', word: 'better' };
  return decision === 'WORSE' ? { tone: 'bad', word: 'worse' } : { tone: 'mute', word: 'cannot tell' };
}

/** Control and candidate of each experiment, side by side, in the order in which they came. */
export function pairsOf(
  arms: readonly ArmShown[],
): readonly { readonly key: string; readonly arms: ArmShown[] }[] {
  const pairs = new Map<string, ArmShown[]>();
  for (const arm of arms) {
    const key = `${arm.version} ${arm.experiment}`;
    pairs.set(key, [...(pairs.get(key) ?? []), arm]);
  }
  return [...pairs].map(([key, of]) => ({ key, arms: of }));
}
