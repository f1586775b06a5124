// Prices that one member of staff proposes and another one confirms: seen before they are sent, set once, overtaken by files, and
// charged from their day on as a price of a file is.
import { catalogAt, findPriceVersion, openCatalog, readChangelog } from '@svc/core/catalog/index.ts';
import { builtIn } from '@svc/core/inference/index.ts';
import { now, nowMs, shiftClock, silentLog } from '@svc/core/kernel/index.ts';
import { afterEach, expect, test } from 'vitest';
import { withClient } from '../support/books.ts';
import { type Change, cheaper, NOTHING, raised, startPrices } from './world.ts';

const prices = await startPrices();
const { world, harness, people, files, writeFile, endpointOf, send, preview, propose } = prices;
const { inDays, waiting, approve, ask, load } = prices;
const setDays = (id: string) => prices.setDays(endpointOf(id).endpoint_no);
const inputOf = async (id: string) => (await load()).models.get(id)?.endpoints[0]?.price.rates.input;
const setClock = (text: string) => {
  shiftClock(0);
  shiftClock(Date.parse(text) - nowMs());
};
afterEach(() => shiftClock(0));

test('a look says each amount before and after, what callers pay with the markup, and the first day', async () => {
  const { plan } = await preview('acme/m0', inDays(7), [
    ...raised,
    { kind: 'output', usdPerMillion: '18', fromPromptTokens: 1000 },
    { kind: 'input', usdPerMillion: '1.5', tier: 'flex' },
  ]);
  expect(plan).toMatchObject({ model: 'acme/m0', markupBps: 1000, earliest: inDays(7), until: null });
  const changed = plan.rates.filter(
    ({ before, after }: { before: string; after: string }) => before !== after,
  );
  expect(changed).toEqual([
    {
      ...{ tier: null, fromPromptTokens: null, kind: 'input', before: '2.50', after: '3' },
      ...{ chargedBefore: 2.75, chargedAfter: 3.3, changeBps: 2000 },
    },
    {
      ...{ tier: null, fromPromptTokens: 1000, kind: 'output', before: '20', after: '18' },
      ...{ chargedBefore: 22, chargedAfter: 19.8, changeBps: -1000 },
    },
    {
      ...{ tier: 'flex', fromPromptTokens: null, kind: 'input', before: '1', after: '1.5' },
      ...{ chargedBefore: 1.1, chargedAfter: 1.65, changeBps: 5000 },
    },
  ]);
  expect(plan.rates).toHaveLength(8);
  expect((await preview('acme/m0', inDays(1), cheaper)).plan.earliest).toBe(inDays(1));
});

test('what does not fit is refused with its field, whoever sends it', async () => {
  const of = async (from: string, changes: Change[], more: object = {}) => {
    const made = await propose('acme/m0', from, changes, { input: more });
    return [made.code, made.path?.join('.')];
  };
  const later = inDays(8);
  expect(await of(inDays(6), raised)).toEqual(['invalid_request', 'input.from']);
  expect(await of(inDays(0), cheaper)).toEqual(['invalid_request', 'input.from']);
  expect(await of(inDays(-3), cheaper)).toEqual(['invalid_request', 'input.from']);
  expect(await of(inDays(500), cheaper)).toEqual(['invalid_request', 'input.from']);
  expect(await of(later, [{ kind: 'search_unit', usdPerMillion: '1' }])).toEqual([
    'invalid_request',
    'input.changes.0.kind',
  ]);
  expect(await of(later, [...cheaper, { kind: 'output', usdPerMillion: '10.0' }])).toEqual([
    'invalid_request',
    'input.changes.1.usdPerMillion',
  ]);
  expect(await of(later, [{ kind: 'input', usdPerMillion: '-1' }])).toEqual([
    'invalid_request',
    'input.changes.0.usdPerMillion',
  ]);
  expect(await of(later, [])).toEqual(['invalid_request', 'input.changes']);
  expect(await of(later, cheaper, { replaces: NOTHING })).toEqual(['version_mismatch', 'input.replaces']);
  expect(await of(later, cheaper, { endpointId: 'ep_nothing' })).toEqual(['not_found', 'input.endpointId']);
  // The sandbox answers at prices of its own.
  const sandbox = world.catalog.current().sandbox.get('acme/m0')?.endpoints[0]?.id;
  expect(await of(later, cheaper, { endpointId: sandbox })).toEqual(['not_found', 'input.endpointId']);
  for (const who of ['support', 'compliance'] as const)
    expect(await propose('acme/m0', later, cheaper, { who })).toMatchObject({ code: 'permission_denied' });
});

test('a price is not set for a day on which its model is retired', async () => {
  setClock('2099-01-20T00:00:00Z');
  const who = await world.signInStaff(['catalog']);
  expect((await preview('acme/retiring', '2099-01-30', cheaper, who)).error).toBeUndefined();
  expect((await preview('acme/retiring', '2099-02-01', cheaper, who)).error).toMatchObject({
    code: 'invalid_request',
    param: 'from',
  });
});

test('who proposed does not confirm, nor who lacks the role; then it is set once and audited with both', async () => {
  const id = await waiting('acme/m1', inDays(3), cheaper);
  expect((await propose('acme/m1', inDays(3), cheaper, { who: 'finance' })).approvalId).toBe(id);
  expect(await approve(id, people.catalog)).toMatchObject({ code: 'permission_denied' });
  expect(await approve(id, people.support)).toMatchObject({ code: 'permission_denied' });
  expect(await setDays('acme/m1')).toEqual([]);
  expect(await approve(id)).toEqual({ approval: { status: 'APPROVED' } });
  expect(await approve(id, people.finance)).toMatchObject({ code: 'state_conflict' });
  expect(await setDays('acme/m1')).toEqual([inDays(3)]);
  const { rows } = await withClient(harness.url, (client) =>
    client.query<{ action: string; actor_display: string; reason: string; after: object }>(
      `select action, actor_display, reason, after from audit_entry where action in
         ('staff.approvals.ask', 'staff.prices.set', 'staff.approvals.approve') order by id desc limit 3`,
    ),
  );
  expect(rows.map(({ action, actor_display }) => [action, actor_display])).toEqual([
    ['staff.approvals.approve', 'staff2@svc.example'],
    ['staff.prices.set', 'staff2@svc.example'],
    ['staff.approvals.ask', 'staff1@svc.example'],
  ]);
  expect(rows[1]).toMatchObject({
    reason: 'new contract',
    after: { from: inDays(3), changes: [{ kind: 'input', before: '2.50', after: '2' }] },
  });
});

test('a grant of credit is not decided by who has the role for prices alone', async () => {
  const asked = { orgId: harness.a.org.id, amountMicro: '500000000', reason: 'r', reference: 'prices-1' };
  expect(await send(people.finance, 'grant', asked)).toMatchObject({ code: 'pending_approval' });
  const list = await ask(
    '{ approvals(waiting: true, first: 1) { nodes { id action decidedByRoles amountMicroUsd } } }',
    'catalog',
  );
  const [{ id, ...act }] = list.data.approvals.nodes;
  expect(act).toMatchObject({ action: 'staff.credits.grant', decidedByRoles: ['FINANCE'] });
  expect(await approve(id, people.catalog)).toMatchObject({ code: 'permission_denied' });
  expect(await send(people.catalog, 'refuse', { id, reason: 'no' })).toMatchObject({
    code: 'permission_denied',
  });
});

test('a confirmed price is shown as one to come, reported once, charged from midnight, and a call keeps the price of its admission', async () => {
  const id = 'acme/m2';
  const day = inDays(9);
  const held = endpointOf(id).price;
  const etag = world.catalog.current().version;
  await approve(await waiting(id, day, raised));
  const processes = await Promise.all(Array.from({ length: 5 }, load));
  const shown = processes[0]?.models.get(id)?.endpoints[0];
  expect(shown?.price.id).toBe(held.id);
  expect(shown?.coming).toMatchObject([{ from: day, rates: { input: 3_300, output: 11_000 } }]);
  expect(new Set(processes.map(({ version }) => version)).size).toBe(1);
  expect(processes[0]?.version).not.toBe(etag);
  const reported = async () =>
    (await readChangelog(harness.pool, { model: id, at: now() }))
      .filter(({ kind }) => kind === 'price')
      .map((one) => one.summary);
  expect(await reported()).toEqual([`From ${day} on, USD per million units: input 2.75 → 3.3.`]);
  setClock(`${inDays(8)}T23:59:59.900Z`);
  expect((await load()).models.get(id)?.endpoints[0]?.price.id).toBe(held.id);
  setClock(`${day}T00:00:00.100Z`);
  const [there] = await Promise.all(Array.from({ length: 5 }, load));
  const now_priced = there?.models.get(id)?.endpoints[0];
  expect(now_priced?.price.rates).toMatchObject({ input: 3_300, output: 11_000 });
  expect(now_priced?.price.bands).toMatchObject([{ from_prompt_tokens: 1000, rates: { input: 5_500 } }]);
  expect(now_priced?.byok?.price.list?.rates.input).toBe(3_000);
  expect(there?.sandbox.get(id)?.endpoints[0]?.price.rates.input).toBe(3_300);
  expect(await reported()).toHaveLength(2);
  // Tiers of resellers are made of the file's exact amounts; the price of before is found by its number for ever.
  const tier = there === undefined ? null : await catalogAt(there, 1_250);
  expect(tier?.models.get(id)?.endpoints[0]?.price.rates.input).toBe(3_713);
  expect((await findPriceVersion(harness.pool, held.price_no))?.rates).toEqual(held.rates);
});

test('of two proposals for one endpoint the one confirmed first is set, the other is overtaken and says so', async () => {
  const first = await waiting('acme/m3', inDays(4), cheaper);
  const other = await waiting('acme/m3', inDays(4), [{ kind: 'output', usdPerMillion: '8' }]);
  const answers = await Promise.all([approve(first), approve(other, people.finance)]);
  expect(answers.filter(({ approval }) => approval !== undefined)).toHaveLength(1);
  const lost = answers.find(({ code }) => code !== undefined);
  expect(lost).toMatchObject({ code: 'state_conflict', path: ['input', 'replaces'] });
  expect(await setDays('acme/m3')).toHaveLength(1);
  const still = answers[0].approval === undefined ? first : other;
  const { errors } = await ask(`{ proposedPrice(approvalId: "${still}") { from } }`, 'second');
  expect(errors[0]?.extensions).toMatchObject({ code: 'state_conflict' });
  expect(await send(people.second, 'refuse', { id: still, reason: 'overtaken' })).toMatchObject({
    approval: { status: 'REFUSED', note: 'overtaken' },
  });
});

test('of many who confirm and decline at once one is heard, and the price is set once or not at all', async () => {
  const id = await waiting('acme/m4', inDays(4), cheaper);
  const answers = await Promise.all([
    ...[people.second, people.finance, people.second, people.finance].map((who) => approve(id, who)),
    ...[people.second, people.finance].map((who) => send(who, 'refuse', { id, reason: 'no' })),
    ...[1, 2, 3].map(() => load().then(() => ({}))),
  ]);
  const done = answers.filter((answer) => 'approval' in answer);
  expect(done).toHaveLength(1);
  const approved = done[0].approval.status === 'APPROVED';
  expect(await setDays('acme/m4')).toHaveLength(approved ? 1 : 0);
});

test('a price before one that is set is refused, on its day and after it is made on top of it', async () => {
  await approve(await waiting('acme/m5', inDays(20), raised));
  expect(await propose('acme/m5', inDays(10), cheaper)).toMatchObject({
    ...{ code: 'invalid_request', path: ['input', 'from'] },
  });
  const { plan } = await preview('acme/m5', inDays(20), [{ kind: 'input', usdPerMillion: '2.50' }]);
  expect(plan.rates[0]).toMatchObject({ before: '3', after: '2.50' });
  await approve(await waiting('acme/m5', inDays(20), [{ kind: 'input', usdPerMillion: '2.50' }]));
  const loaded = (await load()).models.get('acme/m5')?.endpoints[0];
  expect(loaded?.coming).toMatchObject([{ rates: { input: 2_750 } }]);
  const { data } = await ask('{ setPrices { model from state } }');
  const own = data.setPrices.filter((one: { model: string }) => one.model === 'acme/m5');
  expect(own.map((one: { state: string }) => one.state)).toEqual(['COMING', 'FOLLOWED']);
});

test('a lower price is taken back before its day without notice, but nothing above what is paid today is set so', async () => {
  const id = 'acme/m12';
  await approve(await waiting(id, inDays(2), cheaper));
  expect(await propose(id, inDays(2), [{ kind: 'input', usdPerMillion: '2.51' }])).toMatchObject({
    ...{ code: 'invalid_request', path: ['input', 'from'] },
  });
  await approve(await waiting(id, inDays(2), [{ kind: 'input', usdPerMillion: '2.50' }]));
  setClock(`${inDays(2)}T00:00:01Z`);
  expect(await inputOf(id)).toBe(2_750);
});

test('a file that changes the price overtakes a proposal, and a price that is set; an endpoint that left cannot be priced', async () => {
  const day = inDays(5);
  await approve(await waiting('acme/m6', day, cheaper));
  const changed = await waiting('acme/m7', day, cheaper);
  const left = await waiting('acme/m8', day, cheaper);
  const { endpoint_no } = endpointOf('acme/m8');
  writeFile({ raised: ['acme/m6', 'acme/m7'], without: ['acme/m8'] });
  await world.catalog.reload();
  expect(await approve(changed)).toMatchObject({ code: 'state_conflict', path: ['input', 'replaces'] });
  expect(await approve(left)).toMatchObject({ code: 'state_conflict', path: ['input', 'endpointId'] });
  expect(await prices.setDays(endpoint_no)).toEqual([]);
  const { data } = await ask('{ setPrices { model state } }');
  expect(data.setPrices.find((one: { model: string }) => one.model === 'acme/m6').state).toBe('OVERTAKEN');
  setClock(`${day}T10:00:00Z`);
  expect(await inputOf('acme/m6')).toBe(4_400);
  // Taken back, the file gives again what the price stood in the place of.
  writeFile();
  expect(await inputOf('acme/m6')).toBe(2_200);
  shiftClock(0);
  await world.catalog.reload();
});

test('a proposal whose day has come, or whose notice is over, is not confirmed', async () => {
  const lower = await waiting('acme/m9', inDays(1), cheaper);
  const higher = await waiting('acme/m10', inDays(7), raised);
  setClock(`${inDays(1)}T00:00:01Z`);
  const fresh = await world.signInStaff(['catalog']);
  for (const id of [lower, higher])
    expect(await approve(id, fresh)).toMatchObject({ code: 'state_conflict', path: ['input', 'from'] });
  expect([await setDays('acme/m9'), await setDays('acme/m10')]).toEqual([[], []]);
});

test('a process that runs takes up a price that was set elsewhere, without a change of its files', async () => {
  const running = await openCatalog({
    ...{ db: harness.pool, files, log: silentLog, formats: builtIn.catalog, poll_ms: 20 },
  });
  const before = running.current().version;
  await approve(await waiting('acme/m11', inDays(3), cheaper));
  await expect.poll(() => running.current().version, { timeout: 10_000 }).not.toBe(before);
  expect(running.current().models.get('acme/m11')?.endpoints[0]?.coming).toMatchObject([
    { from: inDays(3), rates: { input: 2_200 } },
  ]);
  running.close();
});

test('no caller met a defect', () => {
  expect(world.defects).toEqual([]);
});
