import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  allowsHours,
  callsOf,
  queryOf,
  readUsageSearch,
  searchOf,
  type UsageSearch,
  variablesOf,
  within,
} from './wanted.ts';

test('what is valid stays, what is unknown or half is dropped', () => {
  expect(
    readUsageSearch({ range: '7d', group_by: 'user', compare: 'true', session: 42, secret: 'x' }),
  ).toEqual({
    ...{ range: '7d', group_by: 'user', compare: true, session: '42' },
  });
  expect(readUsageSearch({ range: 'custom', from: '2026-11-19T18:30Z' })).toEqual({});
  expect(readUsageSearch({ range: 'custom', from: '2026-11-20T00:00Z', to: '2026-11-19T00:00Z' })).toEqual(
    {},
  );
  expect(readUsageSearch({ group_by: 'tag' })).toEqual({});
  expect(readUsageSearch({ tag_value: 'x', timezone: 'a b', granularity: 'minute' })).toEqual({});
});

test('a saved view asks what was asked, whatever was left open', () => {
  const question = fc.record(
    {
      range: fc.constantFrom('24h', '7d', '30d', '90d', 'custom'),
      from: fc.constant('2026-11-18T18:30Z'),
      to: fc.constant('2026-11-19T18:30Z'),
      granularity: fc.constantFrom('hour', 'day'),
      timezone: fc.constantFrom('UTC', 'Asia/Kolkata'),
      group_by: fc.constantFrom('model', 'tag', 'session'),
      compare: fc.constant(true),
      tag: fc.constantFrom('team', 'a&b=c'),
      tag_value: fc.constantFrom('', 'réd', '1'),
      session: fc.string({ maxLength: 20 }),
      user: fc.constant(''),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(question, (raw) => {
      const search = readUsageSearch(raw);
      expect(variablesOf(searchOf(queryOf(search)))).toEqual(variablesOf(search));
    }),
  );
});

test('bars of hours can be asked for up to a week', () => {
  const week = { range: 'custom', from: '2026-11-18T18:30Z', to: '2026-11-25T18:30Z' } as const;
  const allowed: UsageSearch[] = [{ range: '24h' }, { range: '7d' }, week];
  expect(allowed.map(allowsHours)).toEqual([true, true, true]);
  const refused: UsageSearch[] = [{}, { range: '90d' }, { ...week, to: '2026-11-25T18:31Z' }];
  expect(refused.map(allowsHours)).toEqual([false, false, false]);
});

test('a group is narrowed to by the filter that it is, and several groups by none', () => {
  const by = (group_by: UsageSearch['group_by'], key: string) =>
    within({ group_by, tag: 'team' } as UsageSearch, key);
  expect(by('key', 'key_1')).toMatchObject({ key_id: 'key_1' });
  expect(by('project', 'prj_1')).toMatchObject({ project_id: 'prj_1' });
  expect(by('tag', '')).toMatchObject({ tag: 'team', tag_value: '' });
  expect(by('session', 'run 1')).toMatchObject({ session: 'run 1' });
  expect([by('model', '__other'), by('byok', 'true')]).toEqual([null, null]);
});

test('calls are those of the filters and of the time, and a tag that is grouped by keeps none away', () => {
  const times = { from: '2026-11-18T18:30:00.000Z', to: '2026-11-19T18:30:00.000Z' };
  const whole = { from: '2026-11-18T18:30Z', to: '2026-11-19T18:30Z' };
  expect(callsOf({ model: 'a/b', key_id: 'key_1', session: '' }, times)).toEqual({
    ...{ ...whole, model: 'a/b', key: 'key_1', session: '' },
  });
  expect(callsOf({ group_by: 'tag', tag: 'team' }, { ...times, to: null })).toEqual({ from: whole.from });
  expect(callsOf({ group_by: 'tag', tag: 'team', tag_value: '' }, times)).toEqual({
    ...{ ...whole, tag: 'team', tag_value: '' },
  });
});
