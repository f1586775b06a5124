// What a person does with a key that is there already.
import { beforeAll, expect, test } from 'vitest';
import { startWorld } from './world.ts';

const world = await startWorld();
const { harness, gateway, tenant } = world;
const { a } = harness;
let session = '';

beforeAll(async () => {
  session = await harness.signIn(await harness.makePerson(a, 'owner'));
});

test('a key is changed, rotated and not resumed without a pause, as over REST', async () => {
  const refusal = '... on UserError { code }';
  const create = `mutation($input: CreateKeyInput!) { createKey(input: $input) { ${refusal}
    ... on CreateKeyPayload { key { id } } } }`;
  const wanted = {
    projectId: a.live.id,
    name: 'old',
    scopes: ['INFERENCE'],
    limits: { rpm: 60, tpm: 900 },
  };
  const made = await world.ask(tenant, session, create, { input: wanted });
  const { id } = made.data.createKey.key;
  const update = `mutation($input: UpdateKeyInput!) { updateKey(input: $input) { ${refusal}
    ... on UpdateKeyPayload { key { name scopes limits { rpm tpm } budget { dailyMicro hard } } } } }`;
  const input = { id, name: 'new', limits: { rpm: null }, budget: { dailyMicro: '5000000', hard: false } };
  const updated = await world.ask(tenant, session, update, { input });
  // null takes a bound away, and what is not given stays.
  expect(updated.data.updateKey.key).toEqual({
    ...{ name: 'new', scopes: ['INFERENCE'], limits: { rpm: null, tpm: 900 } },
    budget: { dailyMicro: '5000000', hard: false },
  });
  const resume = `mutation($id: ID!) { resumeKey(input: { id: $id }) { __typename ${refusal} } }`;
  const resumed = await world.ask(tenant, session, resume, { id });
  expect(resumed.data.resumeKey).toEqual({ __typename: 'ConflictError', code: 'state_conflict' });
  const rotate = `mutation($input: RotateKeyInput!) { rotateKey(input: $input) { ${refusal}
    ... on RotateKeyPayload { secret key { id name rotatedFrom limits { tpm } } } } }`;
  const grace = { id, graceSeconds: 3600, idempotencyKey: 'rotate-1' };
  const rotated = await world.ask(tenant, session, rotate, { input: grace });
  expect(rotated.data.rotateKey.key).toMatchObject({ name: 'new', rotatedFrom: id, limits: { tpm: 900 } });
  expect((await world.ask(tenant, session, rotate, { input: grace })).data).toEqual(rotated.data);
  expect((await world.ask(gateway, rotated.data.rotateKey.secret, '{ __typename }')).status).toBe(200);
  const old = await world.ask(tenant, session, 'query($id: ID!) { key(id: $id) { status } }', { id });
  expect(old.data.key.status).toBe('ROTATING');
});
