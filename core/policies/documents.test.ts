// The examples of the documentation are policies, and its tables know every key.
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { validatePolicy } from './index.ts';
import { knownNames } from './test-kit.ts';
import { actionKeys, Match, reservedKeys } from './types.ts';

const text = await readFile(new URL('../../docs/policies.md', import.meta.url), 'utf8');
const examples = [...text.matchAll(/```yaml policy\n([^`]*)```/g)].map((match) => match[1] as string);

test('there are examples, and each is a policy without faults and notices', () => {
  expect(examples.length).toBeGreaterThanOrEqual(3);
  for (const example of examples) {
    const verdict = validatePolicy(example, knownNames, null);
    expect([example, verdict]).toMatchObject([example, { valid: true, notices: [] }]);
  }
});

test('every key of actions and match is named', () => {
  const keys = [...actionKeys, ...Object.keys(Match.properties), ...reservedKeys];
  for (const key of keys.filter((name) => name !== 'affinity_ttl_s')) {
    expect([key, new RegExp(`\`(?:match\\.)?${key}\``).test(text)]).toEqual([key, true]);
  }
});
