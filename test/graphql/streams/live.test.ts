// What pages follow while they are open: the balance and the canaries of a policy, over streams of the console's
// listener, each change once and nothing of another organization.
import { microUsd } from '@svc/core/kernel/index.ts';
import { credit } from '@svc/core/ledger/index.ts';
import { judgeCanaries } from '@svc/core/rollouts/index.ts';
import { beforeAll, expect, test } from 'vitest';
import { canaryRow } from '../../registry/rows.ts';
import { startWorld } from '../world.ts';
import { openStreams } from './stream.ts';

const world = await startWorld();
const { harness, tenant } = world;
const { a, b } = harness;
const follow = await openStreams(tenant);
let owner = '';
let stranger = '';
beforeAll(async () => {
  owner = await harness.signIn(await harness.makePerson(a, 'owner'));
  stranger = await harness.signIn(await harness.makePerson(b, 'owner'));
});

const balance =
  'subscription($env: Environment) { balanceChanged(environment: $env) { availableMicroUsd heldMicroUsd } }';
const canary =
  'subscription($name: String!) { policyCanary(name: $name) { version endpointId state samples percent } }';

let credits = 0;
const give = (book_id: number, micro_usd: number) =>
  credit(harness.pool, {
    ...{ book_id, amount_micro_usd: microUsd(micro_usd), kind: 'grant', granted: true },
    ...{ expires_at: null, ref_type: 'staff', ref_id: `live-${++credits}` },
  });

test('a balance comes at once and then with each change, once, and never with a change of another book', async () => {
  const stream = await follow(owner, balance, { env: 'LIVE' });
  const theirs = await follow(stranger, balance, { env: 'LIVE' });
  const play = await follow(owner, balance, { env: 'TEST' });
  const next = async (of = stream) => (await of.next())?.data.balanceChanged.availableMicroUsd;
  expect(await next()).toBe('0');
  expect(await next(theirs)).toBe('0');
  const sandbox = await next(play);
  // What comes next is what happens next: the same balance is not said again, nor that of another organization.
  for (const [given, seen] of [
    [5_000_000, '5000000'],
    [1, '5000001'],
    [2, '5000003'],
  ] as const) {
    await give(a.org.live_book_id, given);
    expect(await next()).toBe(seen);
  }
  await give(b.org.live_book_id, 7);
  expect(await next(theirs)).toBe('7');
  await give(a.org.sandbox_book_id, 9);
  expect(await next(play)).toBe(String(Number(sandbox) + 9));
  for (const one of [stream, theirs, play]) one.close();
});

test('nothing in the ledger notifies: a notification would make every hold and settle wait for the others', async () => {
  const { rows } = await harness.pool.query<{ name: string }>({
    name: '',
    text: `
      select p.proname as name from pg_proc p join pg_namespace n on n.oid = p.pronamespace
       where n.nspname = 'ledger' and p.prosrc ~* 'notify'
      union all
      select t.tgname from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_namespace n on n.oid = c.relnamespace
        join pg_proc p on p.oid = t.tgfoid
       where n.nspname = 'ledger' and p.prosrc ~* 'notify'`,
  });
  expect(rows).toEqual([]);
});

test('the canary of a policy is followed from its first calls until it is rolled back', async () => {
  const send = async (path: string, body: object) => {
    const answer = await harness.call('POST', path, { key: a.key, body });
    expect(answer.statusCode, answer.body).toBeLessThan(300);
  };
  const sandbox = { key: a.test_key, body: { model: 'openai/gpt-4o', yaml: 'sort: price' } };
  const dry = await harness.call('POST', '/v1/policies/x/dry-run', sandbox);
  const endpoint_id: string = dry.json().plan[0].endpoint_id;
  const yaml = `defaults: {canary: {endpoint: ${endpoint_id}, percent: 10, min_samples: 20}}`;
  await send('/v1/policies', { name: 'trial', yaml });
  await send('/v1/policies/trial/activate', { version: 1 });
  const stream = await follow(owner, canary, { name: 'trial' });
  const next = async () => (await stream.next())?.data.policyCanary;
  expect(await next()).toEqual([
    { version: 1, endpointId: endpoint_id, state: 'PENDING', samples: 0, percent: 10 },
  ]);
  const called = async (outcome: 'ok' | 'error') => {
    const call = { policy: 'trial', version: 1, endpoint_id } as const;
    for (let i = 0; i < 20; i++) harness.request_log.write(canaryRow(a, { ...call, arm: 'canary', outcome }));
    for (let i = 0; i < 200; i++)
      harness.request_log.write(canaryRow(a, { ...call, arm: 'control', outcome: 'ok' }));
    await harness.request_log.flush();
    await judgeCanaries(harness.context);
  };
  await called('ok');
  expect(await next()).toMatchObject([{ state: 'GREEN', samples: 20 }]);
  await called('error');
  expect(await next()).toMatchObject([{ state: 'RED', percent: 0, samples: 40 }]);
  stream.close();
});

test('another organization’s policy, one that is not there, and a key are refused before a stream opens', async () => {
  for (const [token, name] of [
    [stranger, 'trial'],
    [owner, 'nobody'],
  ] as const) {
    const refused = await follow(token, canary, { name });
    expect((await refused.next())?.errors[0]?.extensions['code']).toBe('not_found');
  }
  const answer = await world.ask(world.gateway, a.key, 'subscription { balanceChanged { heldMicroUsd } }');
  expect(answer.errors[0]?.extensions['code']).toBe('session_required');
});

test('no surface met a defect', () => {
  expect(world.defects).toEqual([]);
});
