import { expect, test } from 'vitest';
import { batchOf } from './form.ts';

const form = {
  ...{ name: 'devcon-2026', amount: '5', codes: '500', creditDays: '90', validUntil: '2026-12-31' },
  ...{ maxPerOrg: '', country: 'in', newOrgOnly: true },
};
const today = '2026-11-23';

test('dollars become micro-dollars, a day its end, and what is left empty the default', () => {
  expect(batchOf(form, today)).toEqual({
    faults: {},
    input: {
      ...{ name: 'devcon-2026', codes: 500, creditDays: 90, maxPerOrg: 1, newOrgOnly: true },
      ...{ amountMicro: '5000000', validUntil: '2026-12-31T23:59:59.999Z', country: 'IN' },
    },
  });
});

test.each([
  ['name', 'Dev Con'],
  ['amount', '5.001'],
  ['codes', '10001'],
  ['creditDays', '0'],
  ['validUntil', '2026-11-22'],
  ['maxPerOrg', '-1'],
  ['country', 'IND'],
])('%s refuses %s at its field, and nothing is sent', (field, value) => {
  const { faults, input } = batchOf({ ...form, [field]: value }, today);
  expect([Object.keys(faults), input]).toEqual([[field], null]);
});
