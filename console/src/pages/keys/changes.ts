// The form that edits a key, as a merge patch: only what was changed is sent. Pure.
import type { KeyRowFragment, Scope, UpdateKeyInput } from '../../api/gen/graphql.ts';
import { microOf } from './budget.ts';
import { scopes } from './scopes.ts';

/** What stands in the fields. */
interface KeyForm {
  readonly name: string;
  readonly budget: string;
  readonly hard: boolean;
  readonly rpm: string;
  readonly tpm: string;
  readonly concurrency: string;
}

export type KeyFaults = Partial<Record<'name' | 'scopes' | 'budget' | 'rpm' | 'tpm' | 'concurrency', string>>;

const limits = ['rpm', 'tpm', 'concurrency'] as const;

/** "1,200" as 1200; null when empty, undefined when it is no limit. */
function limitOf(text: string): number | null | undefined {
  const plain = text.trim().replaceAll(',', '');
  if (plain === '') return null;
  return /^[1-9]\d{0,8}$/.test(plain) ? Number(plain) : undefined;
}

/** Dollars of a budget, as they are typed: "12.5". */
export function dollarsOf(micro: string | null | undefined): string {
  if (micro === null || micro === undefined) return '';
  const value = BigInt(micro);
  const rest = (value % 1_000_000n).toString().padStart(6, '0').replace(/0+$/, '');
  return `${value / 1_000_000n}${rest === '' ? '' : `.${rest.padEnd(2, '0')}`}`;
}

/** What is wrong with the form, and the members of `row` that it changes. */
export function changesOf(
  row: KeyRowFragment,
  form: KeyForm,
  chosen: ReadonlySet<Scope>,
): { faults: KeyFaults; patch: Omit<UpdateKeyInput, 'id'> } {
  const name = form.name.trim();
  const daily = form.budget.trim() === '' ? null : microOf(form.budget);
  const read = limits.map((limit) => [limit, limitOf(form[limit])] as const);
  const faults: KeyFaults = {
    ...(name === '' ? { name: 'Give it a name, so that you know it again in lists and logs.' } : {}),
    ...(chosen.size === 0 ? { scopes: 'Choose at least one.' } : {}),
    ...(daily === undefined ? { budget: 'An amount in US dollars, like 25 or 0.50.' } : {}),
    ...Object.fromEntries(
      read.flatMap(([limit, value]) => (value === undefined ? [[limit, 'A whole number from 1 on.']] : [])),
    ),
  };
  const wanted = scopes.map(({ value }) => value).filter((value) => chosen.has(value));
  const scopes_changed =
    wanted.length !== row.scopes.length || row.scopes.some((scope) => !chosen.has(scope));
  const budget = {
    ...(daily === (row.budget.dailyMicro ?? null) || daily === undefined ? {} : { dailyMicro: daily }),
    ...(form.hard === row.budget.hard ? {} : { hard: form.hard }),
  };
  const limit_changes = Object.fromEntries(
    read.filter(([limit, value]) => value !== undefined && value !== (row.limits[limit] ?? null)),
  );
  return {
    faults,
    patch: {
      ...(name === row.name ? {} : { name }),
      ...(scopes_changed ? { scopes: wanted } : {}),
      ...(Object.keys(budget).length === 0 ? {} : { budget }),
      ...(Object.keys(limit_changes).length === 0 ? {} : { limits: limit_changes }),
    },
  };
}
