import { expect, test } from 'vitest';
import type { FeedRowFragment } from '../../api/gen/graphql.ts';
import type { RequestsSearch } from '../../app/search.ts';
import { readSaidSearch } from './said.ts';
import { arrivalsOf, filterOf, isWanted } from './wanted.ts';

const row = {
  id: '01KACZ3V8S6T5R4Q3P2N1M0K9J',
  ts: '2026-11-20 10:00:00.000',
  keyId: 'key_1',
  model: 'a/b',
  provider: 'acme',
  status: 'OK',
  attempts: 1,
} as FeedRowFragment;

test.each<[RequestsSearch, boolean]>([
  [{}, true],
  [{ status: 'ok', model: 'a/b', provider: 'acme', key: 'key_1', id: '01KACZ' }, true],
  [{ status: 'error' }, false],
  [{ model: 'a/c' }, false],
  [{ provider: 'beta' }, false],
  [{ key: 'key_2' }, false],
  [{ id: '01KACY' }, false],
  [{ moved: true }, false],
  [{ from: '2026-11-20T10:00Z', to: '2026-11-20T10:01Z' }, true],
  [{ from: '2026-11-20T10:01Z' }, false],
  [{ to: '2026-11-20T10:00Z' }, false],
])('a call that arrives is shown where the filters want it: %j', (search, wanted) => {
  expect(isWanted(row, search)).toBe(wanted);
});

test('what a row does not say is asked of the service, the same as for the list', () => {
  const search: RequestsSearch = {
    project: 'prj_2',
    app: '',
    user: 'abc',
    session: 's 1',
    tag: 'team',
    tag_value: '',
  };
  const asked = arrivalsOf({ ...search, key: 'key_2' });
  expect(asked).toEqual({
    ...{
      keyId: 'key_2',
      projectId: 'prj_2',
      app: '',
      user: 'abc',
      session: 's 1',
      tag: 'team',
      tagValue: '',
    },
  });
  expect(filterOf({ ...search, key: 'key_2' }, 0)).toMatchObject(asked);
  expect(arrivalsOf({ tag_value: 'x' })).toMatchObject({ tag: null, tagValue: null, app: null });
});

test('what a caller said is any line, and nothing is a filter too', () => {
  expect(
    readSaidSearch({ session: 'run <1> / ü', user: '', tag: 7, status: 'ok', key: 'two words' }),
  ).toEqual({
    ...{ session: 'run <1> / ü', user: '', tag: '7', status: 'ok' },
  });
  expect(readSaidSearch({ session: 'a\nb', app: 'x'.repeat(513), project: {} })).toEqual({});
});

test('how far back is counted from when the page was opened, and a range is sent as instants', () => {
  const opened = Date.parse('2026-11-20T10:00:00Z');
  expect(filterOf({ since: '24h' }, opened)).toMatchObject({
    since: '2026-11-19T10:00:00.000Z',
    until: null,
  });
  expect(filterOf({ from: '2026-11-18T18:30Z', to: '2026-11-19T18:30Z' }, opened)).toMatchObject({
    since: '2026-11-18T18:30:00.000Z',
    until: '2026-11-19T18:30:00.000Z',
  });
  expect(filterOf({ status: 'rejected', moved: true, id: '01K' }, opened)).toMatchObject({
    status: 'REJECTED',
    fallbacksOnly: true,
    q: '01K',
  });
});
