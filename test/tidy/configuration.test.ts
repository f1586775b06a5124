// docs/configuration.md and the settings of the kernel say the same, both ways.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Setting, settings } from '@svc/core/kernel/index.ts';
import { expect, test } from 'vitest';
import { root } from './sources.ts';

const text = readFileSync(join(root, 'docs/configuration.md'), 'utf8');
const rows = [...text.matchAll(/^\| `(SVC_[A-Z0-9_]+)` \| ([^|]*) \| ([^|]*) \|$/gm)].map(
  ([, env, fallback]) => ({
    env: env as string,
    fallback: (fallback as string).trim(),
  }),
);

/** A default as the table shows it. */
function shownDefault({ fallback }: Setting<unknown>): string {
  if (fallback === null) return 'unset';
  return `\`${typeof fallback === 'boolean' ? Number(fallback) : fallback}\``;
}

test('every setting stands in docs/configuration.md with its default, and nothing else does', () => {
  const documented = Object.fromEntries(rows.map(({ env, fallback }) => [env, fallback]));
  const known = Object.values(settings).map((setting: Setting<unknown>) => [
    setting.env,
    shownDefault(setting),
  ]);
  expect(documented).toEqual(Object.fromEntries(known));
});

test('no setting is documented twice', () => {
  expect(new Set(rows.map(({ env }) => env)).size).toBe(rows.length);
});
