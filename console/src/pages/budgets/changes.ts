// The form that edits a budget, as a merge patch: only what was changed is sent. Pure.
import { microOf } from '../keys/budget.ts';

/** A budget as it is: of a project a month, of a key a day. */
export interface Budget {
  readonly micro: string | null;
  readonly hard: boolean;
  readonly alerts: readonly number[];
}

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

/** What is wrong with the form, and what of `budget` it changes. */
export function changesOf(
  budget: Budget,
  form: BudgetForm,
): { faults: BudgetFaults; patch: { micro?: string | null; hard?: boolean; alerts?: number[] } } {
  const micro = form.budget.trim() === '' ? null : microOf(form.budget);
  const alerts = alertsOf(form.alerts);
  const faults: BudgetFaults = {
    ...(micro === undefined ? { budget: 'An amount in US dollars, like 500 or 12.50.' } : {}),
    ...(alerts === undefined ? { alerts: 'Up to ten different percentages, like 50, 80, 100.' } : {}),
  };
  const is_same = alerts?.length === budget.alerts.length && alerts.every((n, at) => n === budget.alerts[at]);
  return {
    faults,
    patch: {
      ...(micro === undefined || micro === budget.micro ? {} : { micro }),
      ...(form.hard === budget.hard ? {} : { hard: form.hard }),
      ...(alerts === undefined || is_same ? {} : { alerts }),
    },
  };
}
