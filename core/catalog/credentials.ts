// Where a provider's keys are. The snapshot holds names only; values are read when a call needs them.
import { readFileSync } from 'node:fs';
import { readSecretVariable } from '../kernel/index.ts';
import type { Provider } from './types.ts';

/** Trimmed lines of the file at `path`; none when it cannot be read, which `missingOf` reports by name. */
function linesOf(path: string): string[] {
  try {
    return readFileSync(path, 'utf8')
      .split('\n')
      .map((text) => text.trim())
      .filter((text) => text !== '');
  } catch {
    return [];
  }
}

type Named = Pick<Provider, 'api_key_env' | 'api_key_file'>;

/** What no value of a header may have in it: a line's end and other controls, typographic quotes. */
const UNSENDABLE = /[^\t\x20-\x7e\x80-\xff]/;

function keysOf(provider: Named): string[] {
  const keys: string[] = [];
  for (const name of provider.api_key_env) {
    // Secrets are often made from files, and keep the end of their line.
    const value = readSecretVariable(name)?.trim() ?? '';
    if (value !== '') keys.push(value);
  }
  for (const path of provider.api_key_file) keys.push(...linesOf(path));
  return keys;
}

/**
 * The provider's keys as they are now, its pool; [] where none is there or none is needed. A key file holds one key
 * per line. What cannot be sent as a key is none.
 */
export function credentialOf(provider: Named): string[] {
  return keysOf(provider).filter((key) => !UNSENDABLE.test(key));
}

/** Whether something stands where a key of the provider should that no header can carry. */
export function hasSpoiltKey(provider: Named): boolean {
  return keysOf(provider).some((key) => UNSENDABLE.test(key));
}

/** Name of the variable or file to fill in, when a provider that needs a key has none; else null. */
export function missingOf(provider: Named): string | null {
  const first = provider.api_key_env[0] ?? provider.api_key_file[0];
  if (first === undefined || credentialOf(provider).length > 0) return null;
  return first;
}
