// The tables of the documents and those of the code say the same.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { rateKinds } from '@svc/core/catalog/index.ts';
import { codeOf } from '@svc/core/inference/call/attempt/outcome.ts';
import { builtInPlans } from '@svc/core/orgs/index.ts';
import { exclusionReasons } from '@svc/core/routing/index.ts';
import { currencies, MINIMUMS_MINOR } from '@svc/core/topups/currency.ts';
import { expect, test } from 'vitest';
import { root } from './sources.ts';

const read = (page: string) => readFileSync(join(root, page), 'utf8');

/** The part of `page` below `heading`, to the next heading. */
function below(page: string, heading: string): string {
  const [, part] = read(page).split(`\n${heading}\n`);
  return (part as string).split(/\n#/)[0] as string;
}

/** Words in code type in `text`, in their order. */
const named = (text: string) => [...text.matchAll(/`([a-z_0-9]+)`/g)].map((match) => match[1] as string);

test('each class of fault is in docs/outcomes.md, with the code that it comes to', () => {
  const rows = below('docs/outcomes.md', '## Faults of a provider').matchAll(
    /^\| `(\w+)` \|[^|]*\|[^|]*\|(.*)\|$/gm,
  );
  const documented = [...rows].map(([, name, last]) => [name, named(last as string)[0] ?? last]);
  expect(Object.fromEntries(documented)).toEqual(codeOf);
});

test('docs/money/pricing.md has a line for each rate, and the fee of own keys', () => {
  const rows = below('docs/money/pricing.md', '## Lines').matchAll(/^\| (`[^|]*)\|/gm);
  const lines = [...rows].flatMap(([, cell]) => named(cell as string));
  expect(lines.sort()).toEqual([...rateKinds, 'byok_fee'].sort());
});

test('docs/policies.md names the reasons why an endpoint is left out, in the order in which they are asked', () => {
  const text = below('docs/policies.md', '### Why an endpoint is left out');
  const listed = named(text).filter((name) => (exclusionReasons as readonly string[]).includes(name));
  expect(listed).toEqual([...exclusionReasons]);
});

test('docs/limits.md has the limits of each plan', () => {
  for (const { id: plan, limits } of builtInPlans) {
    const { rpm, tpm, concurrency, keys, projects } = limits;
    const cells = [rpm, tpm, concurrency, keys, projects].map((n) => n?.toLocaleString('en-US'));
    const row = rpm === null ? `| ${plan} | by contract` : `| ${[plan, ...cells].join(' | ')} |`;
    expect(read('docs/limits.md')).toContain(row);
  }
});

test('docs/money/topups.md has the least amount of each currency', () => {
  const text = below('docs/money/topups.md', '## What credits cost');
  for (const currency of currencies) {
    const least = MINIMUMS_MINOR[currency] / (currency === 'JPY' ? 1 : 100);
    expect(text).toMatch(new RegExp(`\\b${currency} ${least}\\b`));
  }
});
