// Flags that name limits.
import type { Flag, Input } from '../../command.ts';

const names = { rpm: 'requests a minute', tpm: 'tokens a minute', concurrency: 'calls at once' } as const;
const MOST = 2_147_483_647;

/** A flag per limit, each at least `min`; `what` says what it is for. */
export function limitFlags(what: string, min = 1): Record<keyof typeof names, Flag> {
  const flag = (unit: string): Flag => ({ type: 'integer', doc: `${unit}, ${what}`, min, max: MOST });
  return {
    rpm: flag(names.rpm),
    tpm: flag(names.tpm),
    concurrency: flag(names.concurrency),
  };
}

/** The limits that were given. */
export function limitsGiven(input: Input): Partial<Record<keyof typeof names, number>> {
  const given = (['rpm', 'tpm', 'concurrency'] as const).flatMap((name) => {
    const value = input.integer(name);
    return value === null ? [] : [[name, value] as const];
  });
  return Object.fromEntries(given);
}
