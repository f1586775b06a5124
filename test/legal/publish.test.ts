// Publishing: notice, what is refused, sub-processors, and that everybody is told once.
import { shiftClock } from '@svc/core/kernel/index.ts';
import { publishList, publishVersion, takeShipped, tellOfLegal } from '@svc/core/legal/index.ts';
import { afterEach, expect, test } from 'vitest';
import { DAY_MS, startLegalWorld } from './world.ts';

const world = await startLegalWorld();
const { a, call, makePerson, makeTenant, rows, staff } = world;

afterEach(() => shiftClock(0));

const version = (given: Partial<Parameters<typeof publishVersion>[1]> = {}) =>
  publishVersion(staff, {
    ...{ kind: 'privacy' as const, version: '2027-01-01', title: 'Privacy notice', summary: 'Clearer.' },
    ...{ requires_acceptance: true, text: '# Privacy\n\nFor {{org.legal_name}}.', ...given },
  });
const entry = (id: string, given: object = {}) => ({
  ...{ id, name: id.toUpperCase(), category: 'hosting', location: 'Germany', purpose: 'hosting' },
  ...{ trains: false, retention_days: 30, zdr: false, regions: ['eu'], ...given },
});
/** What happened to `topic` of the organization: payloads in order. */
const events = (org_id: string) =>
  rows<{ payload: Record<string, unknown> }>(
    `select payload from outbox where org_id = $1 and topic = 'legal.update' order by outbox_id`,
    [org_id],
  );

test('a change takes effect thirty days from now at the soonest, and is shown beside what is in force', async () => {
  const soon = new Date(Date.now() + 29 * DAY_MS);
  await expect(version({ effective_at: soon })).rejects.toMatchObject({ param: 'effective_at' });
  const made = await version();
  expect(made.effective_at.getTime()).toBeGreaterThan(Date.now() + 29.9 * DAY_MS);
  await expect(version({ version: '2027-02-01', effective_at: made.effective_at })).rejects.toMatchObject({
    param: 'effective_at',
  });
  const shown = async () => {
    const { data } = (await call('GET', '/v1/legal/documents', { key: a.key })).json();
    return data
      .filter(({ kind }: { kind: string }) => kind === 'privacy')
      .map((one: { version: string; outstanding: boolean }) => [one.version, one.outstanding]);
  };
  expect(await shown()).toEqual([
    ['2026-11-01', true],
    ['2027-01-01', false],
  ]);
  shiftClock(31 * DAY_MS);
  expect(await shown()).toEqual([['2027-01-01', true]]);
  const old = await call('GET', '/v1/legal/documents/privacy?version=2026-11-01', { key: a.key });
  expect(old.json()).toMatchObject({ version: '2026-11-01', outstanding: false });
  const now = await call('GET', '/v1/legal/documents/privacy', { key: a.key });
  expect(now.json()).toMatchObject({ version: '2027-01-01', previous_version: '2026-11-01' });
});

test('what cannot be meant is refused with its place, and of two at once one is published', async () => {
  for (const [given, code, param] of [
    [{ version: 'next' }, 'invalid_request', 'version'],
    [{ version: '2027-13-45' }, 'invalid_request', 'version'],
    [{ text: 'For {{org.secret}}.' }, 'invalid_request', 'text'],
  ] as const)
    await expect(version({ kind: 'aup', ...given })).rejects.toMatchObject({ code, param });
  const both = await Promise.allSettled([
    version({ kind: 'aup', version: '2027-03-01' }),
    version({ kind: 'aup', version: '2027-03-01' }),
  ]);
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
});

test('templates of a later release leave alone what staff have published, and nothing comes twice', async () => {
  await version({ kind: 'sccs', version: '2027-05-01' });
  await rows(`delete from legal_version where kind = 'sccs' and published_by = 'release'`);
  expect(await takeShipped(staff)).toEqual([]);
  await rows(`delete from legal_version where kind = 'dpdp_notice'`);
  expect(await takeShipped(staff)).toEqual(['dpdp_notice 2026-11-01']);
});

test('every organization is told once by event and mail, also when telling is interrupted', async () => {
  const tenant = await makeTenant('told');
  const owner = await makePerson(tenant, 'owner');
  const viewer = await makePerson(tenant, 'viewer');
  await tellOfLegal(staff);
  const before = (await events(tenant.org.id)).length;
  await version({ kind: 'tos', version: '2027-06-01', title: 'Terms of service' });
  // As if a process had died after half of them.
  const half = await rows<{ id: string }>('select id from org order by id limit 1');
  await rows(`update legal_version set announced_through = $1 where version = '2027-06-01'`, [half[0]?.id]);
  await Promise.all([tellOfLegal(staff), tellOfLegal(staff)]);
  const payloads = (await events(tenant.org.id)).slice(before);
  expect(payloads.map(({ payload }) => payload)).toEqual([
    {
      ...{ kind: 'tos', version: '2027-06-01', requires_acceptance: true },
      effective_at: expect.stringMatching(/Z$/),
    },
  ]);
  expect(await world.mailsTo('legal_update', owner.email)).toBeGreaterThan(0);
  expect(await world.mailsTo('legal_update', viewer.email)).toBe(0);
  const mails = await world.mailsTo('legal_update', owner.email);
  await tellOfLegal(staff);
  expect(await world.mailsTo('legal_update', owner.email)).toBe(mails);
  expect((await events(tenant.org.id)).length).toBe(before + 1);
});

test('an organization made after a publication is not told of it', async () => {
  await version({ kind: 'dpa', version: '2027-07-01', title: 'Agreement' });
  shiftClock(1_000);
  const late = await makeTenant('late');
  await tellOfLegal(staff);
  expect(await events(late.org.id)).toEqual([]);
});

test('a list of sub-processors waits for its notice, says what it changes, and providers are on it', async () => {
  await publishList(staff, { version: '2027-01-01', entries: [entry('cloud'), entry('mail')] });
  const read = async () => (await call('GET', '/v1/legal/subprocessors', { key: a.key })).json();
  shiftClock(1_000);
  const first = await read();
  expect(first.version).toBe('2027-01-01');
  const ids: string[] = first.entries.map(({ id }: { id: string }) => id);
  expect(ids.slice(0, 2)).toEqual(['cloud', 'mail']);
  expect(ids).toContain('openai');
  expect(ids).not.toContain('sandbox');
  expect(first.pending).toBeNull();
  const early = publishList(staff, { version: '2027-02-01', entries: [], notice_days: 7 });
  await expect(early).rejects.toMatchObject({ param: 'notice_days' });
  const changed = [entry('cloud', { location: 'France' }), entry('pay')];
  await publishList(staff, { version: '2027-02-01', entries: changed });
  await expect(
    publishList(staff, { version: '2027-02-02', entries: [], notice_days: 40 }),
  ).resolves.toBeDefined();
  expect((await read()).pending).toMatchObject({
    version: '2027-02-01',
    change: { added: ['pay'], removed: ['mail'], changed: ['cloud'] },
  });
  expect((await read()).version).toBe('2027-01-01');
  shiftClock(31 * DAY_MS);
  const second = await read();
  expect(second.version).toBe('2027-02-01');
  expect(second.entries.slice(0, 2)).toMatchObject([{ id: 'cloud', location: 'France' }, { id: 'pay' }]);
  await tellOfLegal(staff);
  const payloads = (await events(a.org.id)).map(({ payload }) => payload['kind']);
  expect(payloads).toContain('subprocessors');
});

test('owners and admins are told of each new sub-processor thirty days before, once, and of other changes by one mail', async () => {
  const tenant = await makeTenant('notified');
  const [owner, viewer] = [await makePerson(tenant, 'owner'), await makePerson(tenant, 'viewer')];
  await tellOfLegal(staff);
  const mails = async (template: 'legal_update' | 'subprocessor_added', to = owner.email) =>
    rows<{ data: { name: string; country: string; effective_at: string } }>(
      'select data from mail where template = $1 and recipient = $2 order by id',
      [template, to],
    );
  const mailed = (await mails('legal_update')).length;
  const before = (
    await rows<{ entries: object[] }>(
      'select entries from subprocessor_list order by effective_at desc limit 1',
    )
  )[0]?.entries as ReturnType<typeof entry>[];
  const location = 'x'.repeat(120);
  const added = [entry('voice', { name: 'Voice & Co', location }), entry('vault')];
  const made = await publishList(staff, {
    ...{ version: '2027-08-01', entries: [...before, ...added], notice_days: 60 },
  });
  // As if a process had died before it had told everybody, and two go on.
  await Promise.all([tellOfLegal(staff), tellOfLegal(staff)]);
  await rows(`update subprocessor_list set announced_through = '' where version = '2027-08-01'`);
  await tellOfLegal(staff);
  const sent = await mails('subprocessor_added');
  expect(sent.map(({ data }) => data.name).sort()).toEqual(['VAULT', 'Voice & Co']);
  expect(sent.find(({ data }) => data.name !== 'VAULT')?.data).toMatchObject({
    ...{ country: location, effective_at: made.effective_at.toISOString() },
  });
  expect(made.effective_at.getTime() - Date.now()).toBeGreaterThan(29.9 * DAY_MS);
  expect(await mails('subprocessor_added', viewer.email)).toEqual([]);
  expect((await mails('legal_update')).length).toBe(mailed);

  // What is only taken away or changed is told of by the mail about the list, and a flood by that alone.
  const many = Array.from({ length: 6 }, (_, at) => entry(`more-${at}`));
  await publishList(staff, { version: '2027-09-01', entries: [...before, ...many], notice_days: 70 });
  await tellOfLegal(staff);
  expect((await mails('subprocessor_added')).length).toBe(2);
  expect((await mails('legal_update')).length).toBe(mailed + 1);
});
