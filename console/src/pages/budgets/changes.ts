// The form that edits a project's budget, as a merge patch: only what was changed is sent. Pure.
import type { BudgetRowFragment, UpdateProjectInput } from '../../api/gen/graphql.ts';
import { microOf } from '../keys/budget.ts';

/** What stands in the fields. */
interface BudgetForm {
  readonly budget: string;
  readonly hard: boolean;
  readonly alerts: string;
}

export type BudgetFaults = Partial<Record<'budget' | 'alerts', string>>;

const ALERTS_MAX = 10;

/** "50, 80, 100 %" as numbers; undefined where they are no list of different percentages. */
export function alertsOf(text: string): number[] | undefined {
  const parts = text
    .replaceAll('%', ' ')
    .split(/[\s,;]+/)
    .filter(Boolean);
  const numbers = parts.map((part) => (/^\d{1,3}$/.test(part) ? Number(part) : 0));
  const is_list = numbers.every((n) => n >= 1 && n <= 100) && new Set(numbers).size === numbers.length;
  return is_list && numbers.length <= ALERTS_MAX ? numbers.toSorted((a, b) => a - b) : undefined;
}

/** What is wrong with the form, and the members of `row` that it changes. */
export function changesOf(
  row: BudgetRowFragment,
  form: BudgetForm,
): { faults: BudgetFaults; patch: Omit<UpdateProjectInput, 'id'> } {
  const monthly = form.budget.trim() === '' ? null : microOf(form.budget);
  const alerts = alertsOf(form.alerts);
  const faults: BudgetFaults = {
    ...(monthly === undefined ? { budget: 'An amount in US dollars, like 500 or 12.50.' } : {}),
    ...(alerts === undefined ? { alerts: 'Up to ten different percentages, like 50, 80, 100.' } : {}),
  };
  const budget = {
    ...(monthly === undefined || monthly === (row.budget.monthlyMicro ?? null)
      ? {}
      : { monthlyMicro: monthly }),
    ...(form.hard === row.budget.hard ? {} : { hard: form.hard }),
  };
  const is_same = alerts?.length === row.alerts.length && alerts.every((n, at) => n === row.alerts[at]);
  return {
    faults,
    patch: {
      ...(Object.keys(budget).length === 0 ? {} : { budget }),
      ...(alerts === undefined || is_same ? {} : { alerts }),
    },
  };
}
