// What is typed of a price, as the API takes it. Pure.
import type { PricePlanPartsFragment } from '../../../api/gen/staff/graphql.ts';
import { plural } from '../../../ui/format/numbers.ts';

type Plan = Omit<PricePlanPartsFragment, '__typename' | 'rates' | 'effect'> & {
  readonly rates: readonly Rate[];
};
type Rate = Omit<PricePlanPartsFragment['rates'][number], '__typename'>;
const DECIMAL = /^\d{1,9}(\.\d{1,6})?$/;
const DAY_MS = 86_400_000;

/** One amount among those of an endpoint. */
export const keyOf = ({ tier, fromPromptTokens, kind }: Rate): string =>
  `${tier ?? ''} ${fromPromptTokens ?? 0} ${kind}`;

/** An amount in words: `output, tier flex, prompts of 200,000 tokens and more`. */
export function nameOf({
  tier,
  fromPromptTokens,
  kind,
}: Pick<Rate, 'tier' | 'fromPromptTokens' | 'kind'>): string {
  const parts = [
    kind.replaceAll('_', ' '),
    tier === null ? '' : `tier ${tier}`,
    fromPromptTokens === null ? '' : `prompts of ${plural(fromPromptTokens, 'token')} and more`,
  ];
  return parts.filter(Boolean).join(', ');
}

export interface PriceForm {
  readonly from: string;
  readonly reason: string;
  /** By `keyOf`. */
  readonly amounts: Readonly<Record<string, string>>;
}

/** The form as it is opened: nothing is another amount yet. */
export function formOf(plan: Plan): PriceForm {
  return {
    ...{ from: plan.from, reason: '' },
    amounts: Object.fromEntries(plan.rates.map((rate) => [keyOf(rate), rate.before])),
  };
}

/** `today` and so many UTC days. */
export function dayAfter(today: Date, days: number): string {
  return new Date(today.getTime() + days * DAY_MS).toISOString().slice(0, 10);
}

export type PriceFaults = Readonly<Record<string, string>>;

/** The amounts that are typed otherwise, and what is wrong of the form by field. */
export function changesOf(plan: Plan, form: PriceForm) {
  const faults: Record<string, string> = {};
  const changes = plan.rates.flatMap((rate) => {
    const typed = (form.amounts[keyOf(rate)] ?? '').trim();
    if (!DECIMAL.test(typed)) {
      faults[keyOf(rate)] = 'An amount such as 2.50, with at most six places.';
      return [];
    }
    if (Number(typed) === Number(rate.before)) return [];
    const { tier, fromPromptTokens, kind } = rate;
    return [
      {
        ...{ kind, usdPerMillion: typed },
        ...(tier === null ? {} : { tier }),
        ...(fromPromptTokens === null ? {} : { fromPromptTokens }),
      },
    ];
  });
  if (!/^\d{4}-\d{2}-\d{2}$/.test(form.from)) faults['from'] = 'The first day, such as 2026-12-31.';
  if (form.reason.trim() === '') faults['reason'] = 'Say why, in one line.';
  if (changes.length === 0 && Object.keys(faults).length === 0)
    faults['amounts'] = 'No amount is another one yet.';
  return { changes, faults };
}

/** A share in hundredths of a per cent with its sign; `free` where it cost nothing before. */
export function changeText(bps: number | null): string {
  if (bps === null) return 'was free';
  if (bps === 0) return 'none';
  return `${bps > 0 ? '+' : '−'}${Math.abs(bps) / 100} %`;
}

const states = {
  COMING: 'coming',
  IN_FORCE: 'in force',
  FOLLOWED: 'another followed',
  OVERTAKEN: 'overtaken by the files',
  LEFT: 'the endpoint has left',
} as const;
/** What became of a price that was set. */
export const stateText = (state: keyof typeof states): string => states[state];

/** A proposal as it is kept, by name and text, in words: its day and each amount that it asks for. */
export function priceFacts(input: readonly { readonly name: string; readonly value: string }[]) {
  const textOf = (name: string) => input.find((one) => one.name === name)?.value ?? '';
  const changes = JSON.parse(textOf('changes') || '[]') as {
    readonly kind: string;
    readonly usd_per_million: string;
    readonly tier?: string;
    readonly from_prompt_tokens?: number;
  }[];
  return [
    { name: 'endpoint', value: textOf('endpoint_id') },
    { name: 'from', value: textOf('from') },
    ...changes.map(({ kind, usd_per_million, tier = null, from_prompt_tokens = null }) => ({
      name: nameOf({ kind, tier, fromPromptTokens: from_prompt_tokens }),
      value: `${usd_per_million} USD per million`,
    })),
  ];
}
