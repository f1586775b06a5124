// Routing policies over GraphQL, from the first text to a deletion: the same objects and refusals as REST.
import { beforeAll, expect, test } from 'vitest';
import { startWorld } from './world.ts';

const world = await startWorld();
const { harness, gateway, tenant } = world;
const { a, b } = harness;
let session = '';
let viewer = '';
beforeAll(async () => {
  session = await harness.signIn(await harness.makePerson(a, 'owner'));
  viewer = await harness.signIn(await harness.makePerson(a, 'viewer'));
});

const version =
  'version { name version status createdBy managedBy scopes { projectId } notices { path } gateways { total } }';
const change = (name: string) => `mutation($input: ${name.charAt(0).toUpperCase()}${name.slice(1)}Input!) {
  ${name}(input: $input) { __typename
    ... on ${name.charAt(0).toUpperCase()}${name.slice(1)}Payload { ${name === 'deletePolicy' ? 'ok' : version} }
    ... on UserError { code message path } } }`;
const send = async (name: string, input: object, token = session) =>
  (await world.ask(tenant, token, change(name), { input })).data[name];

test('a policy is made, tried, activated, rolled back, ended and deleted, and REST sees each step', async () => {
  const yaml = 'sort: price\n';
  const input = { name: 'agents', yaml, idempotencyKey: 'agents-1' };
  const made = await send('createPolicy', input);
  expect(made.version).toMatchObject({ name: 'agents', version: 1, status: 'DRAFT', gateways: null });
  expect(made.version.createdBy).toMatch(/^usr_/);
  expect(await send('createPolicy', input)).toEqual(made);
  await send('createPolicyVersion', { name: 'agents', yaml: 'sort: latency\n' });
  await send('activatePolicy', { name: 'agents', version: 1 });
  await send('activatePolicy', { name: 'agents', version: 2 });
  await send('activatePolicy', { name: 'agents', version: 1, scope: { projectId: a.live.id } });

  const read = `{ policies { name version newestVersion status managedBy scopes { projectId version } }
    policy(name: "agents") { name } gone: policy(name: "nobody") { name }
    policyVersions(name: "agents") { version status } none: policyVersions(name: "nobody") { version }
    policyVersion(name: "agents", version: 2) { yaml gateways { applied total } }
    canaries: policyCanaries(name: "agents") { version state samples onBreach }
    canariesOfNone: policyCanaries(name: "nobody") { version }
    shadows: policyShadows(name: "agents", hours: 2) { shadowEndpoint runs costDeltaMicro bill }
    shadowsOfNone: policyShadows(name: "nobody") { runs }
    missing: policyVersion(name: "agents", version: 9) { yaml } }`;
  const seen = await world.ask(tenant, session, read);
  expect(seen.errors).toEqual([]);
  expect(seen.data).toEqual({
    policies: [
      {
        ...{ name: 'agents', version: 2, newestVersion: 2, status: 'ACTIVE', managedBy: null },
        scopes: [
          { projectId: null, version: 2 },
          { projectId: a.live.id, version: 1 },
        ],
      },
    ],
    ...{ policy: { name: 'agents' }, gone: null, none: null, missing: null },
    ...{ canaries: [], canariesOfNone: null, shadows: [], shadowsOfNone: null },
    policyVersions: [
      { version: 2, status: 'ACTIVE' },
      { version: 1, status: 'ACTIVE' },
    ],
    policyVersion: { yaml: 'sort: latency\n', gateways: { applied: 0, total: 0 } },
  });
  expect((await world.ask(gateway, a.key, read)).data).toEqual(seen.data);
  const rest = (await harness.call('GET', '/v1/policies', { key: a.key })).json();
  expect(rest.data[0].scopes.map((scope: { version: number }) => scope.version)).toEqual([2, 1]);

  const back = await send('rollbackPolicy', { name: 'agents' });
  expect(back.version).toMatchObject({ version: 1, status: 'ACTIVE' });
  expect(await send('deletePolicy', { name: 'agents' })).toMatchObject({ code: 'in_use' });
  await send('deactivatePolicy', { name: 'agents' });
  await send('deactivatePolicy', { name: 'agents', scope: { projectId: a.live.id } });
  expect((await send('deletePolicy', { name: 'agents' })).ok).toBe(true);
  expect((await harness.call('GET', '/v1/policies', { key: a.key })).json().data).toEqual([]);
});

test('a text is judged and tried before it is stored; a faulty one is refused at its place', async () => {
  const tryIt = `query($yaml: String!) {
    policyValidation(yaml: $yaml, name: "draft") { valid faults { path line column code message } notices { path } }
    policyDiff(name: "draft", yaml: $yaml, environment: TEST) { calls moved differenceMicroUsd moves { calls } }
    policyDryRun(name: "draft", yaml: $yaml, model: "sandbox/echo", environment: TEST) {
      policy version decision { rule sort denied } plan { attempt estCostMicro } reserveMicro trace } }`;
  const good = await world.ask(tenant, session, tryIt, { yaml: 'sort: price' });
  expect(good.errors).toEqual([]);
  expect(good.data.policyValidation).toEqual({ valid: true, faults: [], notices: [] });
  expect(good.data.policyDiff).toEqual({ calls: 0, moved: 0, differenceMicroUsd: '0', moves: [] });
  expect(good.data.policyDryRun).toMatchObject({
    ...{ policy: 'draft', version: 0 },
    decision: { sort: 'price', denied: false },
  });
  expect(good.data.policyDryRun.trace).toContain('policy=draft/0');
  const bad = await world.ask(tenant, session, tryIt, { yaml: 'defaults:\n  sort: cheap' });
  expect(bad.data.policyDryRun).toBeNull();
  expect(bad.errors[0]?.extensions['code']).toBe('invalid_policy');
  expect(bad.data.policyValidation.faults).toMatchObject([
    { path: 'defaults.sort', line: 2, code: 'INVALID' },
  ]);
  expect(await send('createPolicy', { name: 'draft', yaml: 'sort: cheap' })).toMatchObject({
    ...{ __typename: 'ValidationError', code: 'invalid_policy' },
    path: ['input', 'yaml'],
  });
});

test('who reads may not write, and another organization finds nothing', async () => {
  await send('createPolicy', { name: 'mine', yaml: 'sort: price' });
  const refused = await send('activatePolicy', { name: 'mine', version: 1 }, viewer);
  expect(refused).toMatchObject({ __typename: 'PermissionError', code: 'permission_denied' });
  const seen = await world.ask(tenant, viewer, '{ policies { name } policyVersions(name: "mine") { yaml } }');
  expect(seen.data).toEqual({ policies: [{ name: 'mine' }], policyVersions: [{ yaml: 'sort: price' }] });
  const other = await world.ask(
    ...([gateway, b.key] as const),
    '{ policies { name } policy(name: "mine") { name } policyVersions(name: "mine") { yaml } }',
  );
  expect(other.data).toEqual({ policies: [], policy: null, policyVersions: null });
});

test('no caller met a defect', () => {
  expect(world.defects).toEqual([]);
});
