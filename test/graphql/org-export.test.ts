// Exports of an organization, and the limits of new ones for staff, over GraphQL: the same answers and refusals as REST.
import { beforeAll, expect, test } from 'vitest';
import { unpack } from '../support/programs/unpack.ts';
import { startWorld } from './world.ts';

const world = await startWorld();
const { harness, tenant } = world;
const { a, b } = harness;
let owner = '';
let admin = '';
beforeAll(async () => {
  owner = await harness.signIn(await harness.makePerson(a, 'owner'));
  admin = await harness.signIn(await harness.makePerson(a, 'admin'));
});

const fields = 'id orgId createdBy createdAt expiresAt path downloads lastDownloadedAt';
const make = async (token: string, id: string = a.org.id) => {
  const text = `mutation($input: CreateOrgExportInput!) { createOrgExport(input: $input) { __typename
    ... on CreateOrgExportPayload { export { ${fields} } } ... on UserError { code message } } }`;
  return (await world.ask(tenant, token, text, { input: { id } })).data.createOrgExport;
};
const list = (token: string, first = 20) =>
  world.ask(
    tenant,
    token,
    `query($id: ID!, $first: Int) { orgExports(id: $id, first: $first) { nodes { ${fields} } pageInfo { hasNextPage } } }`,
    {
      ...{ id: a.org.id, first },
    },
  );

test('an owner makes exports and lists them; REST shows the same, and the path leads to the archive', async () => {
  const one = await make(owner);
  expect(one.__typename, JSON.stringify(one)).toBe('CreateOrgExportPayload');
  const two = await make(owner);
  const shown = (await list(owner)).data.orgExports;
  expect(shown.nodes).toEqual([two.export, one.export]);
  expect((await list(owner, 1)).data.orgExports.pageInfo.hasNextPage).toBe(true);
  const rest = await harness.call('GET', `/v1/orgs/${a.org.id}/exports`, { key: owner });
  expect(rest.json().data.map(({ id }: { id: string }) => id)).toEqual([two.export.id, one.export.id]);
  const archive = await harness.call('GET', one.export.path, { key: owner });
  expect((await unpack(archive.rawPayload)).has('manifest.json')).toBe(true);
  expect((await list(owner)).data.orgExports.nodes[1]).toMatchObject({ id: one.export.id, downloads: 1 });
});

test('an admin and another organization are refused in the words of REST, and a sixth export too', async () => {
  expect(await make(admin)).toMatchObject({ __typename: 'PermissionError', code: 'permission_denied' });
  expect((await list(admin)).data.orgExports).toBeNull();
  expect(await make(owner, b.org.id)).toMatchObject({ __typename: 'NotFoundError', code: 'not_found' });
  for (let n = 0; n < 3; n++) expect((await make(owner)).__typename).toBe('CreateOrgExportPayload');
  expect(await make(owner)).toMatchObject({
    ...{ __typename: 'RateLimitError', code: 'rate_limit_exceeded' },
    message: 'An organization can be exported 5 times in 24 hours.',
  });
});
