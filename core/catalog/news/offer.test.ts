// What leaves the files and comes back: said once it lasted an hour, told once, and never of a release that is rolled out.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { createTestDatabase } from '../../../test/support/database.ts';
import { createPool } from '../../db/index.ts';
import { builtIn } from '../../inference/index.ts';
import { now, nowMs, type ServiceError, shiftClock } from '../../kernel/index.ts';
import {
  type Catalog,
  findWithdrawn,
  getNamedModel,
  loadCatalog,
  noteWithdrawals,
  readChangelog,
} from '../index.ts';

const db = createPool(await createTestDatabase(), { max: 8 });
const dir = await mkdtemp(join(tmpdir(), 'svc-offer-'));
afterAll(async () => {
  shiftClock(0);
  await db.end();
  await rm(dir, { recursive: true });
});
/** Sets the clock to `time` of the day of these tests. */
const at = (time: string) => {
  shiftClock(0);
  shiftClock(Date.parse(`2026-11-20T${time}Z`) - nowMs());
};

let serial = 0;
let id = '';
beforeEach(async () => {
  at('08:00:00');
  id = `acme/offer-${++serial}`;
  // What tests before left is told.
  await load({});
  at('10:00:00');
  await tell();
});

/** Loads a file with `models`: the providers of each, of `acme` and `bolt`, and further lines. */
async function load(models: Record<string, readonly ('acme' | 'bolt')[]>, extra = ''): Promise<Catalog> {
  const path = join(dir, `${++serial}.yaml`);
  const given = { 'acme/other': ['acme'], ...models };
  const texts = Object.entries(given).map(
    ([name, providers]) => `
  - id: ${name}
    name: Offer
    context_length: 128000
${name === id ? extra : ''}
    endpoints:
${providers.map((provider) => `      - { provider: ${provider}, upstream_model: x, region: eu, price: { input: "1", output: "2" } }`).join('\n')}`,
  );
  const provider = (name: string) =>
    `  - { id: ${name}, name: ${name}, kind: openai, base_url: "http://127.0.0.1:9001/v1/" }`;
  await writeFile(
    path,
    `version: 1\nproviders:\n${provider('acme')}\n${provider('bolt')}\nmodels:${texts.join('')}\n`,
  );
  return loadCatalog(db, [path], { formats: builtIn.catalog });
}
const tell = () => db.transaction((tx) => noteWithdrawals(tx, now()));
const BOTH = ['acme', 'bolt'] as const;
/** The changelog at the clock, oldest first, without the first entry. */
async function changes(): Promise<string[][]> {
  const found = await readChangelog(db, { model: id, at: now() });
  return found
    .toReversed()
    .slice(1)
    .map(({ kind, summary, effective_at }) => [kind, summary, effective_at.toISOString().slice(11, 16)]);
}
const heard = async () =>
  (
    await db.query<{ summary: string; is_whole: boolean }>({
      name: '',
      text: `select summary, endpoint_no is null as is_whole from catalog.news join catalog.model using (model_no)
              where model.id = $1 and withdrawal_no is not null order by news_no`,
      values: [id],
    })
  ).rows.map(({ summary, is_whole }) => [summary, is_whole]);
const GONE = 'The model is not offered any more.';
const BOLT_GONE = 'Not offered at bolt any more, in region eu.';

test('an endpoint that left is said and told once it was away for an hour, and said again when it is back for one', async () => {
  await load({ [id]: BOTH });
  await load({ [id]: ['acme'] });
  at('10:59:59');
  expect([await tell(), await changes()]).toEqual([0, []]);
  at('11:00:01');
  expect([await tell(), await tell()]).toEqual([1, 0]);
  expect(await heard()).toEqual([[BOLT_GONE, false]]);
  expect(await changes()).toEqual([['endpoint', BOLT_GONE, '10:00']]);
  at('12:00:00');
  await load({ [id]: BOTH });
  expect(await changes()).toHaveLength(1);
  at('13:00:01');
  expect((await changes())[1]).toEqual(['endpoint', 'Offered at bolt again, in region eu.', '12:00']);
  await load({ [id]: ['acme'] });
  at('14:30:00');
  expect(await tell()).toBe(1);
  expect(await heard()).toHaveLength(2);
  expect((await changes()).map(([, summary]) => summary)).toEqual([
    BOLT_GONE,
    'Offered at bolt again, in region eu.',
    BOLT_GONE,
  ]);
});

test('a model that left is said as a whole, and added again when it is back; an endpoint that stays away is said then', async () => {
  await load({ [id]: BOTH });
  await load({});
  at('11:30:00');
  expect(await tell()).toBe(1);
  expect(await heard()).toEqual([[GONE, true]]);
  expect(await changes()).toEqual([['retired', GONE, '10:00']]);
  await load({ [id]: ['acme'] });
  at('12:30:01');
  expect(await changes()).toEqual(
    expect.arrayContaining([
      ['retired', GONE, '10:00'],
      ['endpoint', BOLT_GONE, '10:00'],
      ['added', 'The model is offered again.', '11:30'],
    ]),
  );
  expect(await changes()).toHaveLength(3);
});

test('a release of which processes with the files before and after load by turns tells nobody until it is done', async () => {
  await load({ [id]: BOTH });
  for (const minute of ['10', '20', '30', '40', '50']) {
    at(`10:${minute}:00`);
    await Promise.all([load({ [id]: ['acme'] }), load({ [id]: BOTH }), load({})]);
    await tell();
  }
  at('10:54:00');
  await load({ [id]: BOTH });
  at('10:55:00');
  await load({ [id]: ['acme'] });
  at('11:54:59');
  expect([await heard(), await tell(), await changes()]).toEqual([[], 0, []]);
  at('11:55:01');
  await Promise.all([tell(), tell(), tell()]);
  expect(await heard()).toEqual([[BOLT_GONE, false]]);
  // A process that was left behind loads its files of before at midnight, say: nothing is said of it, and nothing told twice.
  await load({ [id]: BOTH });
  at('12:10:00');
  await load({ [id]: ['acme'] });
  at('14:00:00');
  expect([await tell(), await heard()]).toEqual([0, [[BOLT_GONE, false]]]);
  expect(await changes()).toEqual([['endpoint', BOLT_GONE, '10:55']]);
});

test('a model whose last day had come, and left the files then, is said to be retired once, and told of once', async () => {
  await load({ [id]: ['acme'] }, '    retires_at: 2026-11-20');
  await load({});
  at('12:00:00');
  expect([await tell(), await heard()]).toEqual([0, []]);
  expect((await changes()).filter(([kind]) => kind === 'retired')).toHaveLength(0);
  const found = await readChangelog(db, { model: id, at: now() });
  expect(found.filter(({ kind }) => kind === 'retired')).toHaveLength(1);
});

test('what was in no file since this is noted, and the stand-ins of the sandbox, are nothing that left', async () => {
  await load({ [id]: BOTH });
  await db.query({ name: '', text: 'delete from catalog.offered' });
  await load({});
  at('12:00:00');
  expect([await tell(), await changes()]).toEqual([0, []]);
  const { rows } = await db.query<{ provider: string }>({
    name: '',
    text: 'select distinct provider from catalog.offered join catalog.endpoint using (endpoint_no)',
  });
  expect(rows).toEqual([{ provider: 'acme' }]);
});

test('who names a model that left is told so and since when, until it is back', async () => {
  const refusal = (catalog: Catalog, name: string) => {
    try {
      return getNamedModel(catalog, { name, environment: 'live', param: 'model' }).id;
    } catch (error) {
      const { code, message, details } = error as ServiceError;
      return [code, message, (details as { left_at?: string }).left_at];
    }
  };
  const tail = id.slice('acme/'.length);
  expect(refusal(await load({ [id]: BOTH }), tail)).toBe(id);
  const gone = await load({});
  expect(findWithdrawn(gone, tail)).toEqual({ id, left_at: expect.any(Date) });
  for (const name of [id, tail]) {
    const [code, message, left_at] = refusal(gone, name);
    expect([code, left_at?.slice(0, 16)]).toEqual(['model_not_found', '2026-11-20T10:00']);
    expect(message).toContain(`${id} left the catalog on 2026-11-20. See GET /v1/models`);
  }
  expect(findWithdrawn(gone, 'acme/never')).toBeNull();
  expect(refusal(gone, 'acme/never')[1]).toContain('There is no model "acme/never".');
  at('12:00:00');
  const back = await load({ [id]: ['bolt'] });
  expect([refusal(back, tail), findWithdrawn(back, id)]).toEqual([id, null]);
});
