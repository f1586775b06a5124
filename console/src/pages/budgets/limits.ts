// Limits of keys and projects as they are typed and as they hold. Pure.
import { plural } from '../../ui/format/numbers.ts';

/** The smallest of several limits, such as a key's, its project's and its plan's; null where none of them is set. */
export function holds(...limits: readonly (number | null | undefined)[]): number | null {
  const bounds = limits.filter((limit): limit is number => limit !== null && limit !== undefined);
  return bounds.length === 0 ? null : Math.min(...bounds);
}

const names = ['rpm', 'tpm', 'concurrency'] as const;
type Name = (typeof names)[number];
export type RequestFaults = Partial<Record<Name, string>>;

/** What bounds an organization that somebody made by signing up, and what lifts it; empty: nothing does. */
export function newOrgText({
  rpm,
  keysPerHour,
}: {
  readonly rpm?: number | null;
  readonly keysPerHour?: number | null;
}): string {
  const calls =
    rpm === null || rpm === undefined
      ? []
      : [`Until the first top-up is paid, all live keys together can make ${plural(rpm, 'call')} a minute.`];
  const keys =
    keysPerHour === null || keysPerHour === undefined
      ? []
      : [`${plural(keysPerHour, 'key')} can be created in an hour.`];
  return [...calls, ...keys].join(' ');
}

/** "1,200" as 1200; null when empty, undefined when it is no limit. */
export function limitOf(text: string): number | null | undefined {
  const plain = text.trim().replaceAll(',', '');
  if (plain === '') return null;
  return /^[1-9]\d{0,8}$/.test(plain) ? Number(plain) : undefined;
}

const NO_LIMIT = 'A whole number from 1 on.';

/** What is wrong with the form of a project's limits, and what of `now` it changes; null: there shall be none. */
export function limitChanges(
  now: Readonly<Partial<Record<Name, number | null>>>,
  form: Readonly<Record<Name, string>>,
): { faults: RequestFaults; changes: Partial<Record<Name, number | null>> } {
  const read = names.map((name) => [name, limitOf(form[name])] as const);
  const wrong = read.filter(([, value]) => value === undefined);
  return {
    faults: Object.fromEntries(wrong.map(([name]) => [name, NO_LIMIT])),
    changes: Object.fromEntries(
      read.filter(([name, value]) => value !== undefined && value !== (now[name] ?? null)),
    ),
  };
}

/** What is wrong with the form, and what it asks for. */
export function requestOf(form: Readonly<Record<Name, string>>): {
  faults: RequestFaults;
  asked: Partial<Record<Name, number>>;
} {
  const read = names.map((name) => [name, limitOf(form[name])] as const);
  const wrong = read.filter(([, value]) => value === undefined).map(([name]) => name);
  const asked = Object.fromEntries(read.filter(([, value]) => typeof value === 'number'));
  const none = wrong.length === 0 && Object.keys(asked).length === 0;
  const faults: RequestFaults = {
    ...Object.fromEntries(wrong.map((name) => [name, NO_LIMIT])),
    ...(none ? { rpm: 'Enter at least one of the three.' } : {}),
  };
  return { faults, asked };
}
