// What the canaries of a policy say. Pure.
import type { PolicyCanarySubscription } from '../../api/gen/tools/graphql.ts';
import { plural, shareText } from '../../ui/format/numbers.ts';
import type { Tone } from '../../ui/status.tsx';

export type CanaryShown = PolicyCanarySubscription['policyCanary'][number];

/** Its state as a word, and its tone. */
export function canaryState({ state, percent }: Pick<CanaryShown, 'state' | 'percent'>): {
  readonly tone: Tone;
  readonly word: string;
} {
  if (state === 'GREEN') return { tone: 'ok', word: 'good' };
  if (state === 'RED') return { tone: 'bad', word: percent === 0 ? 'rolled back' : 'worse' };
  return state === 'DONE' ? { tone: 'mute', word: 'ended' } : { tone: 'warn', word: 'pending' };
}

type Figures = Pick<CanaryShown, 'errorRate' | 'samples' | 'controlErrorRate' | 'controlSamples'>;

/** Failures there and elsewhere; null while no call was judged. */
export function figuresText({
  errorRate,
  samples,
  controlErrorRate,
  controlSamples,
}: Figures): string | null {
  const said = (rate: number | null | undefined, calls: number) =>
    rate == null ? 'no calls' : `${shareText(rate)} of ${plural(calls, 'call')}`;
  if (errorRate == null && controlErrorRate == null) return null;
  return `failed: ${said(errorRate, samples)}; elsewhere ${said(controlErrorRate, controlSamples)}`;
}
