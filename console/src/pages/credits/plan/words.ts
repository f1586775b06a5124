// What the page of the plan says. Pure.
import type { PlanFactsFragment, PlanOfferFactsFragment } from '../../../api/gen/graphql.ts';
import { currencyText, spendText } from '../../../ui/format/money.ts';
import { countText } from '../../../ui/format/numbers.ts';
import { dayText } from '../../../ui/format/time.ts';

export type Offer = PlanOfferFactsFragment;
export type Change = PlanFactsFragment['changes'][number];

/** "$49.00 a month". */
export function feeText({ monthlyMinor }: Pick<Offer, 'monthlyMinor'>): string {
  if (monthlyMinor === null || monthlyMinor === undefined) return 'by agreement';
  return BigInt(monthlyMinor) === 0n ? 'no fee' : `${currencyText(monthlyMinor, 'USD')} a month`;
}

/** The UTC day on which something at `time` happens: "Dec 1". */
export function dayOf(time: string): string {
  return dayText(time.slice(0, 10));
}

export function limitText(limit: number | null | undefined): string {
  return limit === null || limit === undefined ? 'no limit' : countText(limit);
}

/** What a press on the button of a change does. */
export function verbOf({ kind, plan, feeMicro }: Change): string {
  if (kind === 'UPGRADE') return `Pay ${spendText(feeMicro)} and change`;
  if (kind === 'KEEP') return BigInt(feeMicro) > 0n ? 'Try the fee again' : `Keep ${plan.name}`;
  return `Change to ${plan.name}`;
}

/** What a change means, a sentence each, before it is asked for. */
export function sentencesOf(present: PlanFactsFragment, change: Change): readonly string[] {
  const { plan, kind, effectiveAt, feeMicro, includedMicro } = change;
  const end = dayOf(present.periodEnd);
  if (kind === 'UPGRADE') {
    return [
      `${spendText(feeMicro)} leaves your credits now: what ${plan.name} costs more for the rest of the month.`,
      ...(BigInt(includedMicro) > 0n
        ? [`${spendText(includedMicro)} of credit comes with it and ends on ${end}.`]
        : []),
      `Its limits apply at once. From ${end} on it costs ${feeText(plan)}.`,
    ];
  }
  if (kind === 'KEEP') {
    return BigInt(feeMicro) > 0n
      ? [`${spendText(feeMicro)} leaves your credits now, and ${plan.name} stays.`]
      : [`${plan.name} stays, and costs ${feeText(plan)} again on ${end}.`];
  }
  const when =
    effectiveAt === present.periodEnd ? `${present.plan.name} stays until ${end}, then` : 'From now on';
  return [
    `${when} you are on ${plan.name}, with its limits. Nothing is given back.`,
    'Keys with higher limits keep their numbers and are bounded by the plan.',
  ];
}
