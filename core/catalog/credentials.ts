// Where a provider's keys are. The snapshot holds names only; values are read when a call needs them.
import { readFileSync } from 'node:fs';
import { readSecretVariable } from '../kernel/index.ts';
import type { Provider } from './types.ts';

/** Trimmed lines of the file at `path`; none when it cannot be read, which `missingOf` tells by name. */
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

/**
 * The provider's keys as they are now, its pool; [] where none is there or none is needed. A key file holds one key
 * per line.
 */
export function credentialOf(provider: Pick<Provider, 'api_key_env' | 'api_key_file'>): string[] {
  const keys: string[] = [];
  for (const name of provider.api_key_env) {
    const value = readSecretVariable(name);
    if (value !== null) keys.push(value);
  }
  for (const path of provider.api_key_file) keys.push(...linesOf(path));
  return keys;
}

/** Name of the variable or file to fill in, when a provider that needs a key has none; else null. */
export function missingOf(provider: Pick<Provider, 'api_key_env' | 'api_key_file'>): string | null {
  const first = provider.api_key_env[0] ?? provider.api_key_file[0];
  if (first === undefined || credentialOf(provider).length > 0) return null;
  return first;
}
