// Whether a provider's own usage object may reach the caller as it came: only when it says what was charged, in counts.
import { isObject } from '../../kernel/index.ts';
import type { ReplyEnd, Usage } from './types.ts';

const CHARGED = ['input_tokens', 'output_tokens', 'cache_read_tokens', 'cache_write_tokens'] as const;

/** Whether `reported` is what was charged: nothing was estimated, and nothing was cut to a bound or to the hold. */
export function isCharged(reported: Usage | null, { usage }: ReplyEnd): boolean {
  return (
    reported !== null &&
    usage.source !== 'estimate' &&
    CHARGED.every((name) => reported[name] === usage[name])
  );
}

/** Whether `value` is an object whose members `names` are all counts: none is absent, negative, a fraction or a text. */
export function hasCounts(value: unknown, names: readonly string[]): boolean {
  return isObject(value) && names.every((name) => isCount(value[name]));
}

/** As `hasCounts`, of members that may be absent. */
export function hasNoOthers(value: unknown, names: readonly string[]): boolean {
  return isObject(value) && names.every((name) => value[name] === undefined || isCount(value[name]));
}

function isCount(value: unknown): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
