// How a setting is declared.
import type { Parse } from '../config-values.ts';

export interface Setting<T> {
  readonly env: string;
  readonly doc: string;
  readonly parse: Parse<T>;
  readonly fallback: T;
  readonly secret?: boolean;
}

/** Declares a setting: its variable, meaning, default and parser. */
export function setting<T>(
  env: string,
  doc: string,
  fallback: T,
  parse: Parse<T>,
  secret = false,
): Setting<T> {
  return { env, doc, parse, fallback, secret };
}
