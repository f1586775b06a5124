// One corpus on three surfaces: the same rows and the same refusals on REST, on mercurius (keys) and on yoga (people).

import { microUsd } from '@svc/core/kernel/index.ts';
import { credit } from '@svc/core/ledger/index.ts';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Json } from '../calls/caller.ts';
import { rowOf } from '../registry/rows.ts';
import { asGraphql, type Value } from './as-graphql.ts';
import { startWorld } from './world.ts';

const world = await startWorld();
const { harness, gateway, tenant } = world;
const { a, b } = harness;
let session = '';
let viewer = '';
const ids: string[] = [];
let foreign = '';

beforeAll(async () => {
  session = await harness.signIn(await harness.makePerson(a, 'owner'));
  viewer = await harness.signIn(await harness.makePerson(a, 'viewer'));
  for (const ref_id of ['one', 'two']) {
    await credit(harness.pool, {
      book_id: a.org.live_book_id,
      amount_micro_usd: microUsd(5_000_000),
      ...{ kind: 'grant', granted: true, expires_at: null, ref_type: 'staff', ref_id },
    });
  }
  for (let i = 0; i < 5; i++) {
    const row = rowOf(a, { status: i === 2 ? 'error' : 'ok', error_code: i === 2 ? 'upstream_error' : '' });
    ids.push(row.request_id);
    harness.request_log.write(row);
  }
  const other = rowOf(b);
  foreign = other.request_id;
  harness.request_log.write(other);
  await harness.request_log.flush();
  ids.reverse();
});

const rowFields =
  'id ts projectId keyId model provider endpointId region status httpStatus errorCode stopReason attempts inputTokens ' +
  'outputTokens cacheReadTokens usageSource costMicro ttftMs durationMs stream byok zdr logged appId userHash';
const keyFields =
  'id projectId name hint environment scopes status limits { rpm tpm concurrency } budget { dailyMicro hard } alerts ' +
  'svcVersion createdBy managedBy rotatedFrom createdAt expiresAt revokedAt';

interface Case {
  readonly name: string;
  readonly rest: () => string;
  /** Path to the rows in the answer of REST. */
  readonly rows: (body: Json) => unknown;
  readonly query: string;
  readonly found: (data: Value) => unknown;
  readonly variables?: () => object;
}

const list = (body: Json) => (body as Value)['data'];
const whole = (body: Json) => body;
// biome-ignore lint/suspicious/noExplicitAny: a document's answer
const nodes = (field: string) => (data: any) => data[field].nodes;

const corpus: readonly Case[] = [
  {
    name: 'calls',
    rest: () => '/v1/requests?limit=3',
    rows: list,
    query: `{ requests(first: 3) { nodes { ${rowFields} } } }`,
    found: nodes('requests'),
  },
  {
    name: 'calls that failed',
    rest: () => '/v1/requests?errors_only=1&limit=20',
    rows: list,
    query: `{ requests(errorsOnly: true) { nodes { ${rowFields} } } }`,
    found: nodes('requests'),
  },
  {
    name: 'keys',
    rest: () => '/v1/keys?environment=live&limit=20',
    rows: list,
    query: `{ keys(environment: LIVE) { nodes { ${keyFields} } } }`,
    found: nodes('keys'),
  },
  {
    name: 'projects',
    rest: () => '/v1/projects',
    rows: list,
    query:
      '{ projects { id orgId slug name environment status budget { monthlyMicro hard } alerts createdAt } }',
    found: (data) => data['projects'],
  },
  {
    name: 'balance',
    rest: () => '/v1/credits',
    rows: whole,
    query:
      '{ credits { balance { availableMicroUsd heldMicroUsd grantedMicroUsd currency fxRate display { currency amount } } } }',
    found: (data) => (data['credits'] as Value)['balance'],
  },
  {
    name: 'ledger',
    rest: () => '/v1/credits/ledger?limit=20',
    rows: list,
    query:
      '{ credits { ledger { nodes { seq kind amountMicroUsd balanceAfterMicroUsd requestId refType refId createdAt } } } }',
    // biome-ignore lint/suspicious/noExplicitAny: a document's answer
    found: (data: any) => data.credits.ledger.nodes,
  },
  {
    name: 'usage',
    rest: () => '/v1/usage?range=7d&granularity=day&group_by=model',
    rows: (body) => ({ totals: (body as Value)['totals'], groups: (body as Value)['groups'] }),
    query: `{ usage(range: D7, granularity: DAY, groupBy: MODEL) {
      totals { requests ok errors inputTokens outputTokens costMicro } groups { key requests costMicro } } }`,
    found: (data) => data['usage'],
  },
  {
    name: 'one call with everything measured',
    rest: () => `/v1/requests/${ids[0]}`,
    rows: whole,
    query: `query($id: ID!) { request(id: $id) { ${rowFields} } }`,
    variables: () => ({ id: ids[0] }),
    found: (data) => data['request'],
  },
  {
    name: 'models by their price',
    rest: () => '/v1/models?sort=price&capability=tools',
    rows: list,
    query: `{ models(sort: PRICE, capability: [TOOLS]) { id created vendor name contextLength maxOutput status
      pricingFrom { input output } modalities { in out } capabilities { tools zdr } } }`,
    found: (data) => data['models'],
  },
  {
    name: 'endpoints of a model',
    rest: () => '/v1/models/openai/gpt-4o/endpoints',
    rows: list,
    query: `{ model(name: "gpt-4o") { endpoints { id provider providerName upstreamModel region status contextLength
      capabilities { tools { function parallel } parameters } price { input output } markupBps
      dataPolicy { trains retentionDays zdr } latency { ttftP50Ms } } } }`,
    found: (data) => (data['model'] as Value)['endpoints'],
  },
  {
    name: 'plans',
    rest: () => '/v1/plans',
    rows: list,
    query: `{ plans { id name monthlyMinor currency includedMicro graceDays limits { rpm tpm keys projects }
      features { sso scim } description public sort } }`,
    found: (data) => data['plans'],
  },
  {
    name: 'one organization',
    rest: () => `/v1/orgs/${a.org.id}`,
    rows: whole,
    query: '{ org { id slug name kind status planId billingCountry billingCurrency createdAt } }',
    found: (data) => data['org'],
  },
];

describe.each(corpus.map((item) => [item.name, item] as const))('%s', (_name, item) => {
  test.each(['key', 'session'] as const)('are the same rows as REST for a %s', async (who) => {
    const token = who === 'key' ? a.key : session;
    const rest = await gateway.inject({ url: item.rest(), headers: { authorization: `Bearer ${token}` } });
    expect(rest.statusCode).toBe(200);
    const surface = who === 'key' ? gateway : tenant;
    const answer = await world.ask(surface, token, item.query, item.variables?.() ?? {});
    expect(answer.errors).toEqual([]);
    const found = item.found(answer.data as Value);
    expect(JSON.stringify(found).length).toBeGreaterThan(10);
    expect(found).toEqual(asGraphql(item.rows(rest.json() as Json), found));
  });
});

describe('refusals', () => {
  const query = '{ keys { nodes { id } } requests { nodes { id } } }';

  test('a key without the scope is refused the field with the code of REST, and gets the rest', async () => {
    const { secret } = await harness.makeKey(a, { scopes: ['read:usage'] });
    const rest = await gateway.inject({ url: '/v1/keys', headers: { authorization: `Bearer ${secret}` } });
    const answer = await world.ask(gateway, secret, query);
    expect([rest.statusCode, answer.status]).toEqual([403, 200]);
    expect(answer.errors).toHaveLength(1);
    const { error } = rest.json() as { error: Record<string, unknown> };
    expect(answer.errors[0]).toMatchObject({
      message: error['message'],
      path: ['keys'],
      extensions: { code: error['code'], details: error['details'] },
    });
    expect(answer.data.keys).toBeNull();
    expect(answer.data.requests.nodes).toHaveLength(5);
  });

  test('a role without the right gets the refusal of REST in the union of a mutation', async () => {
    const rest = await gateway.inject({
      method: 'POST',
      url: '/v1/keys',
      headers: { authorization: `Bearer ${viewer}`, 'content-type': 'application/json' },
      payload: JSON.stringify({ project_id: a.live.id, name: 'x', scopes: ['inference'] }),
    });
    const create = `mutation($project: ID!) { createKey(input: { projectId: $project, name: "x", scopes: [INFERENCE] }) {
      __typename ... on UserError { code message requestId } } }`;
    const answer = await world.ask(tenant, viewer, create, { project: a.live.id });
    expect(rest.statusCode).toBe(403);
    expect(answer.data.createKey).toMatchObject({
      __typename: 'PermissionError',
      code: 'permission_denied',
      message: (rest.json() as { error: { message: string } }).error.message,
    });
  });

  test.each(['key', 'session'] as const)('a fault of an input names the field, for a %s', async (who) => {
    const create = `mutation($project: ID!) { createKey(input: { projectId: $project, name: "", scopes: [INFERENCE] }) {
      __typename ... on UserError { code path } } }`;
    const [surface, token] = who === 'key' ? [gateway, a.key] : [tenant, session];
    const answer = await world.ask(surface, token, create, { project: a.live.id });
    expect(answer.data.createKey).toEqual({
      __typename: 'ValidationError',
      code: 'invalid_request',
      path: ['input', 'name'],
    });
  });

  test("another organization's objects are null in queries and not found in mutations, like those that never were", async () => {
    for (const [surface, token] of [
      [gateway, a.key],
      [tenant, session],
    ] as const) {
      for (const [call, key, project] of [
        [foreign, b.key_id, b.live.id],
        ['01KACZ3V8S6T5R4Q3P2N1M0K9J', 'key_01KACZ3V8S6T5R4Q3P2N1M0K9J', 'nonsense'],
      ]) {
        const read = `query($call: ID!, $key: ID!, $project: ID!) {
          request(id: $call) { id } generation(id: $call) { id } key(id: $key) { id } project(id: $project) { id }
          node(id: $key) { id } nodes(ids: [$call, $key, $project]) { id } }`;
        const answer = await world.ask(surface, token, read, { call, key, project });
        expect(answer).toMatchObject({
          status: 200,
          errors: [],
          data: {
            request: null,
            generation: null,
            key: null,
            project: null,
            node: null,
            nodes: [null, null, null],
          },
        });
        const revoke = `mutation($key: ID!) { revokeKey(input: { id: $key }) { __typename ... on UserError { code } } }`;
        const refused = await world.ask(surface, token, revoke, { key });
        expect(refused.data.revokeKey).toEqual({ __typename: 'NotFoundError', code: 'not_found' });
      }
    }
    expect((await harness.call('GET', `/v1/keys/${b.key_id}`, { key: b.key })).statusCode).toBe(200);
  });

  test('a test key reads its own environment and no live row', async () => {
    const answer = await world.ask(
      gateway,
      a.test_key,
      '{ requests(environment: LIVE) { nodes { id } } credits { environment } }',
    );
    expect(answer.data).toEqual({ requests: { nodes: [] }, credits: { environment: 'TEST' } });
    const other = await world.ask(gateway, a.test_key, '{ credits(environment: LIVE) { environment } }');
    expect(other.errors[0]?.extensions['code']).toBe('permission_denied');
  });

  test('a model that there is none of is null, and a test key sees the stand-ins of the sandbox', async () => {
    const read =
      '{ none: model(name: "acme/none") { id } model(name: "gpt-4o") { id endpoints { provider } } }';
    const live = await world.ask(gateway, a.key, read);
    expect(live).toMatchObject({ errors: [], data: { none: null, model: { id: 'openai/gpt-4o' } } });
    const play = await world.ask(gateway, a.test_key, read);
    expect(play.data.model.endpoints).not.toEqual(live.data.model.endpoints);
    const person = `{ model(name: "gpt-4o", environment: TEST) { endpoints { provider } } }`;
    const seen = await world.ask(tenant, session, person);
    expect(seen.data.model.endpoints).toEqual(play.data.model.endpoints);
  });

  test('without a caller the answer is 401 on every surface, and a key does not enter the console address', async () => {
    for (const [app, url] of [
      [gateway, '/v1/graphql'],
      [tenant, '/graphql'],
      [world.staff, '/graphql'],
    ] as const) {
      const response = await app.inject({
        method: 'POST',
        url,
        headers: { 'content-type': 'application/json' },
        payload: '{"query":"{__typename}"}',
      });
      expect([url, response.statusCode]).toEqual([url, 401]);
      expect(response.json()).toMatchObject({
        errors: [{ extensions: { code: 'authentication_required' } }],
      });
    }
    const key = await world.ask(tenant, a.key, '{ __typename }');
    expect([key.status, key.errors[0]?.extensions['code']]).toEqual([403, 'session_required']);
  });
});

describe('keys and money', () => {
  test('a key made with an idempotency key is made once over GraphQL and REST, and its secret works', async () => {
    const create = `mutation($input: CreateKeyInput!) { createKey(input: $input) {
      __typename ... on CreateKeyPayload { secret key { id name status } } ... on UserError { code } } }`;
    const input = { projectId: a.live.id, name: 'once', scopes: ['READ_USAGE'], idempotencyKey: 'same-1' };
    const first = await world.ask(tenant, session, create, { input });
    const second = await world.ask(tenant, session, create, { input });
    expect(first.data.createKey.__typename).toBe('CreateKeyPayload');
    expect(second.data).toEqual(first.data);
    const rest = await gateway.inject({
      method: 'POST',
      url: '/v1/keys',
      headers: {
        authorization: `Bearer ${session}`,
        'content-type': 'application/json',
        'idempotency-key': 'same-1',
      },
      payload: JSON.stringify({ project_id: a.live.id, name: 'once', scopes: ['read:usage'] }),
    });
    expect([rest.headers['x-svc-idempotent-replay'], (rest.json() as Value)['id']]).toEqual([
      'true',
      first.data.createKey.key.id,
    ]);
    const other = await world.ask(tenant, session, create, { input: { ...input, name: 'other' } });
    expect(other.data.createKey).toEqual({ __typename: 'ConflictError', code: 'idempotency_conflict' });
    const { secret } = first.data.createKey;
    expect((await world.ask(gateway, secret, '{ requests { nodes { id } } }')).errors).toEqual([]);
    const revoke =
      'mutation($id: ID!) { revokeKey(input: { id: $id }) { ... on RevokeKeyPayload { key { status } } } }';
    const revoked = await world.ask(tenant, session, revoke, { id: first.data.createKey.key.id });
    expect(revoked.data.revokeKey.key.status).toBe('REVOKED');
    expect((await world.ask(gateway, secret, '{ __typename }')).status).toBe(401);
  });

  test('pages walk every row once, forwards, by the cursor of any edge', async () => {
    const page = `query($after: String) { requests(first: 2, after: $after) {
      edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage endCursor } } }`;
    const seen: string[] = [];
    let after: string | null = null;
    for (let pages = 0; pages < 4; pages++) {
      const { data } = await world.ask(tenant, session, page, { after });
      // biome-ignore lint/suspicious/noExplicitAny: a document's answer
      seen.push(...data.requests.edges.map((edge: any) => edge.node.id));
      expect(data.requests.pageInfo.hasPreviousPage).toBe(pages > 0);
      after = data.requests.pageInfo.endCursor;
      if (!data.requests.pageInfo.hasNextPage) break;
    }
    expect(seen).toEqual(ids);
    const { data } = await world.ask(tenant, session, page, {});
    const second = await world.ask(tenant, session, page, { after: data.requests.edges[0].cursor });
    expect(second.data.requests.edges[0].node.id).toBe(ids[1]);
  });

  test('a quote and the absence of a rail read the same as over REST', async () => {
    const quote = await world.ask(
      tenant,
      session,
      '{ credits { quote(amountMinor: "2500") { totalMinor creditsMicro currency } } }',
    );
    const rest = await gateway.inject({
      url: '/v1/credits/topups/quote?amount_minor=2500',
      headers: { authorization: `Bearer ${session}` },
    });
    const body = rest.json() as Value;
    expect(quote.data.credits.quote).toEqual({
      totalMinor: String(body['total_minor']),
      creditsMicro: String(body['credits_micro']),
      currency: body['currency'],
    });
    const start =
      'mutation { startTopup(input: { amountMinor: "2500" }) { __typename ... on StartTopupPayload { checkoutUrl } } }';
    const refused = await world.ask(tenant, session, start);
    expect(refused.errors[0]?.extensions['code']).toBe('rail_unavailable');
  });
});

test('no surface met a defect', () => {
  expect(world.defects).toEqual([]);
});
