// Scopes as the API's documentation spells them, with what each one lets a key do.
import type { Scope } from '../../api/gen/graphql.ts';

export const scopes: readonly { value: Scope; name: string; what: string }[] = [
  { value: 'INFERENCE', name: 'inference', what: 'calls models' },
  { value: 'READ_USAGE', name: 'read:usage', what: 'reads calls and usage' },
  { value: 'READ_CREDITS', name: 'read:credits', what: 'reads balance and ledger' },
  { value: 'MANAGE_CREDITS', name: 'manage:credits', what: 'adds credits' },
  { value: 'MANAGE_KEYS', name: 'manage:keys', what: 'makes and revokes keys' },
  { value: 'MANAGE_POLICIES', name: 'manage:policies', what: 'edits routing policies' },
];

/** `read:usage` of READ_USAGE; an unknown one of a newer server as it came. */
export function scopeWord(scope: Scope): string {
  return scopes.find(({ value }) => value === scope)?.name ?? scope;
}
