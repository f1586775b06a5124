// A change of a plan as it is typed: what is wrong with it, what it asks for, and what it means for whom. Pure.
import type { PlanSheetQuery, SetPlanInput, SheetPlanFragment } from '../../../api/gen/staff/graphql.ts';
import { limitOf } from '../../../pages/budgets/limits.ts';
import { minorOf, typedText } from '../../../pages/credits/amount.ts';
import { currencyText } from '../../../ui/format/money.ts';
import { countText, plural } from '../../../ui/format/numbers.ts';
import { dateText } from '../../../ui/format/time.ts';

export type Sheet = NonNullable<PlanSheetQuery['planSheet']>;
export const limitFields = {
  rpm: 'Calls a minute',
  tpm: 'Tokens a minute',
  concurrency: 'Calls at once',
  keys: 'Keys',
  projects: 'Projects',
} as const;
type LimitField = keyof typeof limitFields;
const limitNames = Object.keys(limitFields) as readonly LimitField[];

type Field =
  | LimitField
  | 'monthlyMinor'
  | 'includedMicro'
  | 'graceDays'
  | 'from'
  | 'name'
  | 'description'
  | 'public'
  | 'reason';
export type PlanForm = Readonly<Record<Field, string>>;
export type PlanFaults = Partial<Record<Field, string>>;

/** Cents are ten thousand micro-dollars. */
const MICRO_PER_CENT = 10_000n;
const centsOf = (micro: string | number) => String(BigInt(micro) / MICRO_PER_CENT);
const moneyText = (cents: string | number) => currencyText(String(cents), 'USD');

/** Whether a plan has a fee that can be changed: others fall back to one, and one is by agreement. */
export const hasFee = ({ id }: Pick<SheetPlanFragment, 'id'>) => id !== 'PAYG' && id !== 'ENTERPRISE';

/** The first days of the months that a fee can begin with; that of the month that runs while nobody has the plan. */
export function monthsFrom({ period }: Pick<Sheet, 'period'>, { used }: { used: boolean }): string[] {
  const [year = 0, month = 0] = period.split('-').map(Number);
  const first = used ? 1 : 0;
  return Array.from({ length: 18 }, (_, n) =>
    new Date(Date.UTC(year, month - 1 + first + n, 1)).toISOString().slice(0, 10),
  );
}

/** What a plan costs from `from` on, as the sheet has it before the change. */
function costAt(sheet: Sheet, plan: SheetPlanFragment, from: string) {
  const due = sheet.coming.filter((change) => change.planId === plan.id && change.from <= from);
  return due.reduce(
    (cost, { monthlyMinor, includedMicro, graceDays }) => ({
      monthlyMinor: monthlyMinor ?? cost.monthlyMinor,
      includedMicro: includedMicro ?? cost.includedMicro,
      graceDays: graceDays ?? cost.graceDays,
    }),
    { monthlyMinor: plan.monthlyMinor, includedMicro: plan.includedMicro, graceDays: plan.graceDays },
  );
}

/** The form as it opens: the plan as it is. */
export function formOf(plan: SheetPlanFragment, from: string): PlanForm {
  const limits = limitNames.map((name) => [
    name,
    plan.limits[name] === null ? '' : `${plan.limits[name] ?? ''}`,
  ]);
  return {
    ...(Object.fromEntries(limits) as Record<LimitField, string>),
    monthlyMinor: plan.monthlyMinor == null ? '' : typedText(String(plan.monthlyMinor), 'USD'),
    includedMicro: plan.includedMicro == null ? '' : typedText(centsOf(plan.includedMicro), 'USD'),
    graceDays: String(plan.graceDays),
    ...{
      from,
      name: plan.name,
      description: plan.description,
      public: plan.public ? 'yes' : 'no',
      reason: '',
    },
  };
}

interface Read {
  readonly faults: PlanFaults;
  readonly input: Omit<SetPlanInput, 'planId' | 'reason'>;
}

function readFee(plan: SheetPlanFragment, opened: PlanForm, form: PlanForm): Read {
  const changed = (name: Field) => hasFee(plan) && form[name].trim() !== opened[name];
  const monthly = minorOf(form.monthlyMinor, 'USD');
  const included = /^0(?:\.0*)?$/.test(form.includedMicro.trim()) ? '0' : minorOf(form.includedMicro, 'USD');
  const days = /^\d{1,2}$/.test(form.graceDays.trim()) ? Number(form.graceDays) : 99;
  const faults: PlanFaults = {
    ...(changed('monthlyMinor') && monthly === undefined ? { monthlyMinor: 'An amount, such as 59.' } : {}),
    ...(changed('includedMicro') && included === undefined
      ? { includedMicro: 'An amount, such as 55, or 0.' }
      : {}),
    ...(changed('graceDays') && days > 20 ? { graceDays: 'From 0 to 20 days.' } : {}),
  };
  const fee = {
    ...(changed('monthlyMinor') && monthly !== undefined ? { monthlyMinor: monthly } : {}),
    ...(changed('includedMicro') && included !== undefined
      ? { includedMicro: String(BigInt(included) * MICRO_PER_CENT) }
      : {}),
    ...(changed('graceDays') && days <= 20 ? { graceDays: days } : {}),
  };
  return { faults, input: Object.keys(fee).length === 0 ? {} : { ...fee, from: form.from } };
}

function readRest(opened: PlanForm, form: PlanForm): Read {
  const changed = limitNames.filter((name) => form[name].trim() !== opened[name]);
  const read = changed.map((name) => [name, limitOf(form[name])] as const);
  const wrong = read.filter(([, value]) => value === undefined);
  const faults = Object.fromEntries(wrong.map(([name]) => [name, 'A whole number from 1 on, or nothing.']));
  const words = (['name', 'description'] as const).filter((name) => form[name].trim() !== opened[name]);
  const empty = words.filter((name) => form[name].trim() === '');
  return {
    faults: { ...faults, ...Object.fromEntries(empty.map((name) => [name, 'A line of words.'])) },
    input: {
      ...(read.length === 0 ? {} : { limits: Object.fromEntries(read) }),
      ...Object.fromEntries(words.map((name) => [name, form[name].trim()])),
      ...(form.public === opened.public ? {} : { public: form.public === 'yes' }),
    },
  };
}

/** What is wrong with the form, and what it asks for; only what differs from the plan as it is. */
export function planChangeOf(
  plan: SheetPlanFragment,
  form: PlanForm,
): { faults: PlanFaults; input: SetPlanInput | null } {
  const opened = formOf(plan, form.from);
  const [fee, rest] = [readFee(plan, opened, form), readRest(opened, form)];
  const asked = { ...fee.input, ...rest.input };
  const reason = form.reason.trim();
  const faults: PlanFaults = {
    ...{ ...fee.faults, ...rest.faults },
    ...(reason === '' ? { reason: 'Say why, in one line.' } : {}),
  };
  if (Object.keys(faults).length > 0) return { faults, input: null };
  if (Object.keys(asked).length === 0)
    return { faults: { reason: 'Nothing differs from the plan as it is.' }, input: null };
  return { faults, input: { planId: plan.id, reason, ...asked } };
}

/** A sentence for each thing that changes: from what to what, when, and for how many. */
export function effectsOf(sheet: Sheet, plan: SheetPlanFragment, input: SetPlanInput): string[] {
  const count = sheet.onPlans.find(({ planId }) => planId === plan.id)?.orgs ?? 0;
  const orgs = count === 0 ? 'no organization is on it' : `for ${plural(count, 'organization')} on it`;
  const { from, limits } = input;
  const lines: string[] = [];
  const cost = costAt(sheet, plan, from ?? sheet.period);
  const day = dateText(from ?? sheet.period);
  if (input.monthlyMinor != null) {
    const [before, after] = [BigInt(cost.monthlyMinor ?? 0), BigInt(input.monthlyMinor)];
    const words = `Fee of a month: ${moneyText(`${before}`)} → ${moneyText(`${after}`)}, from ${day}`;
    const begins =
      from !== null && from !== undefined && from > sheet.riseBeginsOn ? from : sheet.riseBeginsOn;
    if (after <= before) lines.push(`${words}, ${orgs}. Nobody is written to.`);
    else if (count === 0) lines.push(`${words}; ${orgs}.`);
    else {
      const who = `The ${plural(count, 'organization')} on it`;
      lines.push(
        `${words} for who comes to the plan. ${who}: from ${dateText(begins)}, after a mail to owners and billing address.`,
      );
    }
  }
  if (input.includedMicro != null) {
    const [before, after] = [centsOf(cost.includedMicro ?? 0), centsOf(input.includedMicro)];
    lines.push(
      `Included credit: ${moneyText(before)} → ${moneyText(after)}, with the fee from ${day}, ${orgs}.`,
    );
  }
  if (input.graceDays != null)
    lines.push(`Days of grace: ${cost.graceDays} → ${input.graceDays}, from ${day}, ${orgs}.`);
  const bound = (value: number | null | undefined) => (value == null ? 'no limit' : countText(value));
  for (const name of limitNames)
    if (limits?.[name] !== undefined)
      lines.push(
        `${limitFields[name]}: ${bound(plan.limits[name])} → ${bound(limits[name])}, at once, ${orgs}.`,
      );
  if (input.name != null) lines.push(`Name: ${plan.name} → ${input.name}, at once.`);
  if (input.description != null) lines.push(`Description: ${input.description}`);
  if (input.public != null)
    lines.push(
      input.public
        ? 'Customers can choose it, at once.'
        : `Customers cannot choose it any more, at once; who has it keeps it (${orgs}).`,
    );
  return lines;
}
