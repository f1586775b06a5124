// Text of queries and bodies, whatever the field: what PostgreSQL cannot keep is refused by name, not a fault of ours.
import { gzipSync } from 'node:zlib';
import { operations, shapeOf } from '@svc/core/operations/index.ts';
import { setOrgKindOperation } from '@svc/core/resellers/index.ts';
import { expect, test } from 'vitest';
import { startHarness } from '../test/registry/harness.ts';

const harness = await startHarness();
const { a } = harness;

test('U+0000 in any text of a query is refused by its name, on every route', async () => {
  // Of a reseller, whose routes are open to nobody else.
  await setOrgKindOperation.run(harness.context, { id: a.org.id, kind: 'reseller', reason: 'a contract' });
  const session = await harness.signIn(await harness.makePerson(a, 'owner'));
  const asked: string[] = [];
  for (const operation of operations) {
    const { audience, method, path } = operation;
    if (audience.kind === 'staff' || audience.kind === 'signed') continue;
    const url = path.replace('/v1/orgs/:id', `/v1/orgs/${a.org.id}`).replaceAll(/:[a-z_]+/g, 'x');
    for (const [name, schema] of Object.entries(shapeOf(operation).query)) {
      const { type, enum: words, format } = schema as { type?: string; enum?: unknown; format?: string };
      if (type !== 'string' || words !== undefined || format !== undefined) continue;
      const answer = await harness.call(method, `${url}?${name}=a%00b`, { key: session });
      expect([url, name, answer.statusCode, answer.json().error.param]).toEqual([url, name, 400, name]);
      asked.push(name);
    }
  }
  expect(asked).toEqual(expect.arrayContaining(['q', 'model', 'key_id', 'event', 'tag']));
  expect(harness.defects).toEqual([]);
});

const options = { project_id: a.live.id, name: 'a key', scopes: ['inference'] };

test.each([
  ['U+0000 as an id', { ...options, project_id: 'a\u0000' }, 'project_id'],
  ['U+0000 in a list', { ...options, data_policy: { regions: ['eu', 'a\u0000'] } }, 'data_policy.regions[1]'],
  [
    'half of a surrogate pair',
    { ...options, data_policy: { regions: ['\ud800'] } },
    'data_policy.regions[0]',
  ],
])('%s in a body is refused by its path', async (_, body, param) => {
  const answer = await harness.call('POST', '/v1/keys', { key: a.key, body });
  expect([answer.statusCode, answer.json().error]).toMatchObject([400, { code: 'invalid_request', param }]);
  expect(answer.json().error.details.faults).toMatchObject([{ param, reason: 'format' }]);
  expect(harness.defects).toEqual([]);
});

test.each(['{"name": ^True}', '{"name": ^undefined, "url": 1}', '{"a":[1, ^NaN]}', '{"a":1^'])(
  'the error for a body that is not JSON says where: %s',
  async (marked) => {
    const answer = await harness.call('POST', '/v1/webhooks', { key: a.key, body: marked.replace('^', '') });
    const offset = marked.indexOf('^');
    expect([answer.statusCode, answer.json().error]).toMatchObject([
      400,
      {
        code: 'invalid_json',
        message: `The body is not JSON: fault at offset ${offset}.`,
        details: { offset },
      },
    ]);
  },
);

test('the error for a body that is null is a sentence that says so', async () => {
  const answer = await harness.call('POST', '/v1/webhooks', { key: a.key, body: 'null' });
  expect([answer.statusCode, answer.json().error.message]).toEqual([400, 'The body must not be null.']);
});

test('the error for a compressed body says that it is compressed, not that it is no JSON', async () => {
  const answer = await harness.app.inject({
    method: 'POST',
    url: '/v1/webhooks',
    headers: {
      authorization: `Bearer ${a.key}`,
      'content-type': 'application/json',
      'content-encoding': 'gzip',
    },
    payload: gzipSync('{}'),
  });
  expect([answer.statusCode, answer.json().error.code]).toEqual([415, 'unsupported_media_type']);
  expect(answer.json().error.message).toContain('Content-Encoding');
});

test('an amount beyond 2^53 is refused by its name', async () => {
  const answer = await harness.call('POST', '/v1/credits/topups', {
    key: a.key,
    body: { amount_minor: 1e308 },
  });
  expect([answer.statusCode, answer.json().error.param]).toEqual([400, 'amount_minor']);
  expect(harness.defects).toEqual([]);
});
