// What of a shadow is refused, and where.
import { expect, test } from 'vitest';
import { validatePolicy } from '../index.ts';
import { knownNames } from '../test-kit.ts';

test.each([
  [
    'a shadow of a share that no draw has',
    'defaults: {shadow: {endpoint: ep_a, percent: 0.001}}',
    'defaults.shadow.percent: 0.001; expected at most two decimals',
  ],
  [
    'a shadow that its own policy excludes',
    'defaults: {require: {regions: [eu]}, shadow: {endpoint: ep_a, percent: 1}}',
    "defaults.shadow.endpoint: the policy's own require.regions excludes it; expected an endpoint that may serve",
  ],
  [
    'an endpoint that is the shadow of two rules',
    'rules: [{match: {stream: true}, shadow: {endpoint: ep_a, percent: 5}}, {match: {}, shadow: {endpoint: ep_a, percent: 1}}]',
    'rules[1].shadow.endpoint: "ep_a" is the shadow of another rule; expected one rule for each',
  ],
])('%s is refused where it stands', (_, text, expected) => {
  const verdict = validatePolicy(text, knownNames, null);
  const [first] = verdict.valid ? [] : verdict.faults;
  expect(`${first?.path}: ${first?.message}`).toBe(expected);
});
