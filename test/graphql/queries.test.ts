// Statements per query do not grow with rows: what nodes ask for is read together.
import { beforeAll, expect, test } from 'vitest';
import { rowOf } from '../registry/rows.ts';
import { startWorld } from './world.ts';

const world = await startWorld();
const { harness, gateway, tenant } = world;
const { a } = harness;
let session = '';

beforeAll(async () => {
  session = await harness.signIn(await harness.makePerson(a, 'owner'));
  for (let i = 0; i < 40; i++) {
    const { id } = await harness.makeKey(a);
    harness.request_log.write(rowOf(a, { key_id: id }));
  }
  await harness.request_log.flush();
  await askStaff();
});

/** Statements of what a document reads, without those that find out who asks. */
async function statementsOf(query: string, first: number): Promise<Record<string, string[]>> {
  const counts: Record<string, string[]> = {};
  for (const [name, app, token] of [
    ['gateway', gateway, a.key],
    ['console', tenant, session],
  ] as const) {
    world.statements.length = 0;
    const answer = await world.ask(app, token, query, { first });
    expect(answer.errors).toEqual([]);
    expect(JSON.stringify(answer.data).length).toBeGreaterThan(first * 20);
    counts[name] = world.statements
      .filter((statement) => !/^identity|^keys\.find_maker|^orgs\.find_membership/.test(statement))
      .sort();
  }
  return counts;
}

const lists: readonly (readonly [string, string, readonly string[]])[] = [
  [
    'calls with key, project, route and attempts',
    `query($first: Int!) { requests(first: $first) { nodes { id key { name project { name } } project { name }
      detail { attemptRows { provider } } route { policy } } } }`,
    [
      'analytics.find_rows',
      'analytics.list_attempts_of',
      'analytics.list_copies',
      'analytics.list_rows',
      'keys.find_all',
      'keys.list_chains',
      'ledger.read_key_spend',
      'ledger.read_windows',
      'ledger.read_windows',
      'orgs.list_projects',
    ],
  ],
  [
    'keys with their projects',
    'query($first: Int!) { keys(first: $first) { nodes { id name project { name } } } }',
    [
      'keys.list',
      'keys.list_chains',
      'ledger.read_key_spend',
      'ledger.read_windows',
      'ledger.read_windows',
      'orgs.list_projects',
    ],
  ],
];

test.each(lists)('%s: the same statements for 2 rows and for 30', async (_name, query, statements) => {
  for (const first of [2, 30]) {
    expect(await statementsOf(query, first)).toEqual({ gateway: statements, console: statements });
  }
});

test('models with their endpoints, and plans, are read by as many statements as one model and no plan', async () => {
  const counted = async (query: string) => {
    world.statements.length = 0;
    expect((await world.ask(gateway, a.key, query)).errors).toEqual([]);
    return world.statements.length;
  };
  const nothing = await counted('{ viewer { kind } }');
  // The catalog is in memory, and published figures stay there for some seconds once they were read.
  await counted('{ models { id } }');
  expect(await counted('{ model(name: "gpt-4o") { id endpoints { id } } }')).toBe(nothing);
  expect(await counted('{ models { id endpoints { id } } }')).toBe(nothing);
  expect(await counted('{ plans { id } }')).toBe(nothing + 1);
});

test('nodes of one kind are read together', async () => {
  const { data } = await world.ask(tenant, session, '{ requests(first: 30) { nodes { id keyId } } }');
  const ids = data.requests.nodes.flatMap((node: { id: string; keyId: string }) => [node.id, node.keyId]);
  world.statements.length = 0;
  const answer = await world.ask(
    tenant,
    session,
    'query($ids: [ID!]!) { nodes(ids: $ids) { __typename id } }',
    {
      ids: ids.slice(0, 40),
    },
  );
  expect(answer.data.nodes.map((node: { id: string }) => node.id)).toEqual(ids.slice(0, 40));
  const read = world.statements.filter((name) => /^(?:analytics|keys|ledger)/.test(name)).sort();
  expect(read).toEqual([
    'analytics.find_rows',
    'analytics.list_attempts_of',
    'analytics.list_copies',
    'keys.find_all',
    'ledger.read_windows',
  ]);
});

const staff_lists: readonly (readonly [string, string])[] = [
  [
    'tickets',
    'query($first: Int!) { tickets(first: $first) { nodes { orgSlug ticket { id messages { text } } } } }',
  ],
  [
    'requests for limits',
    'query($first: Int!) { limitRequests(first: $first) { nodes { orgSlug keyName ticket { id } } } }',
  ],
  ['prices', 'query($first: Int!) { priceVersions(first: $first) { nodes { model rates { kind } } } }'],
];

/** Of each twenty that wait for staff: the first three requests of a key are granted at once. */
async function askStaff(): Promise<void> {
  const ask = async (url: string, body: object) => {
    const reply = await harness.call('POST', url, { key: a.key, body });
    expect(reply.statusCode, reply.body).toBe(201);
  };
  for (let i = 0; i < 20; i++)
    await ask('/v1/tickets', { subject: `Question ${i}`, body: 'How does it work?' });
  for (let i = 0; i < 23; i++) await ask('/v1/limits/requests', { key_id: a.key_id, rpm: 100 + i });
}

test.each(staff_lists)('staff read 20 %s by as many statements as one', async (_name, query) => {
  const token = await world.signInStaff(['support', 'finance']);
  const counts: number[] = [];
  for (const first of [1, 20]) {
    world.statements.length = 0;
    const { data, errors } = await world.ask(world.staff, token, query, { first });
    expect(errors).toEqual([]);
    const [list] = Object.values(data) as { nodes: unknown[] }[];
    expect(list?.nodes).toHaveLength(first);
    counts.push(world.statements.length);
  }
  expect(counts[1]).toBe(counts[0]);
});
