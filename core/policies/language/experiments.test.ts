// What of an experiment is refused, and where.
import { expect, test } from 'vitest';
import { validatePolicy } from '../index.ts';
import { knownNames } from '../test-kit.ts';

const both =
  'experiment: {name: x, arms: [{name: control, percent: 90}, {name: candidate, percent: 10, model: acme/small}]}';

function faults(text: string): string[] {
  const verdict = validatePolicy(text, knownNames, null);
  return verdict.valid ? [] : verdict.faults.map(({ path, message }) => `${path}: ${message}`);
}

test('an experiment of two arms is a policy', () => {
  expect(faults(`defaults: {${both}}`)).toEqual([]);
  expect(faults(`rules: [{match: {}, ${both}}]`)).toEqual([]);
});

test.each([
  [
    'an arm alone',
    'defaults: {experiment: {name: x, arms: [{name: candidate, percent: 100}]}}',
    'defaults.experiment.arms: candidate alone; expected control and candidate',
  ],
  [
    'a control of a name that is taken',
    'defaults: {experiment: {name: x, arms: [{name: control, percent: 50}, {name: control, percent: 50}]}}',
    'defaults.experiment.arms[1].name: control names two arms; expected control and candidate',
  ],
  [
    'a share that no split has',
    'defaults: {experiment: {name: x, arms: [{name: control, percent: 66.667}, {name: candidate, percent: 33.333}]}}',
    'defaults.experiment.arms[0].percent: 66.667; expected at most two decimals',
  ],
  [
    'an experiment of two rules',
    `rules: [{match: {stream: true}, ${both}}, {match: {}, ${both}}]`,
    'rules[1].experiment.name: "x" is the experiment of another rule; expected a name of its own',
  ],
  [
    'a model that does not exist',
    `defaults: {${both.replace('acme/small', 'acme/none')}}`,
    'defaults.experiment.arms[1].model: no model "acme/none"; expected a model of the catalog',
  ],
])('%s is refused where it stands', (_, text, expected) => {
  expect(faults(text)[0]).toBe(expected);
});
