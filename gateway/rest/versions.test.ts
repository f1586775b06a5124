// ETag and If-Match (docs/api.md#versions): who changes what another has changed meanwhile can be told so.
import { operations } from '@svc/core/operations/index.ts';
import { expect, test } from 'vitest';
import { codeOf, type Method, startHarness } from '../../test/registry/harness.ts';

const harness = await startHarness();
const { a, call } = harness;
const key = a.key;

let last_project: string | null = null;

/** A new object of each kind that has versions: its address, and a change to it. */
const kinds = {
  evals: async () => {
    const input = { messages: [{ role: 'user', content: 'Say yes.' }] };
    const graded = { id: 'yes', input, grader: { kind: 'exact', expected: 'yes' } };
    const body = { name: 'Suite', cases: [graded] };
    const { id } = (await call('POST', '/v1/evals/suites', { key, body })).json();
    return { path: `/v1/evals/suites/${id}`, change: { name: 'changed' } };
  },
  keys: async () => ({ path: `/v1/keys/${(await harness.makeKey(a)).id}`, change: { name: 'changed' } }),
  orgs: async () => ({ path: `/v1/orgs/${a.org.id}`, change: { data_policy: { zdr: true } } }),
  projects: async () => {
    // A plan has few projects: the one before goes.
    if (last_project !== null) await call('DELETE', last_project, { key });
    const body = { name: 'Project', slug: 'versions' };
    const { id } = (await call('POST', '/v1/projects', { key, body })).json();
    last_project = `/v1/projects/${id}`;
    return { path: `/v1/projects/${id}`, change: { name: 'changed' } };
  },
  webhooks: async () => {
    const body = { url: 'https://93.184.215.14/hook', events: ['*'] };
    const { id } = (await call('POST', '/v1/webhooks', { key, body })).json();
    return { path: `/v1/webhooks/${id}`, change: { description: 'changed' } };
  },
} satisfies Record<string, () => Promise<{ path: string; change: object }>>;
const versioned = operations.filter(({ versioned }) => versioned === true);
const writes = versioned.filter(({ method }) => method !== 'GET');

async function tagOf(path: string): Promise<string> {
  const { headers } = await call('GET', path, { key });
  expect(headers['etag']).toMatch(/^W\/"\w+"$/);
  return String(headers['etag']);
}

test('every kind of object with versions is tried here', () => {
  const found = new Set(versioned.map(({ name }) => name.split('.')[0]));
  expect([...found].sort()).toEqual(Object.keys(kinds).sort());
});

test.each(writes.map(({ name, method }) => [name, method] as [string, Method]))(
  '%s is refused for another version, and done for the present one, for any, and without a condition',
  async (name, method) => {
    const kind = name.split('.')[0] as keyof typeof kinds;
    const send = async (condition: (tag: string) => Record<string, string>) => {
      const { path, change } = await kinds[kind]();
      const headers = condition(await tagOf(path));
      return call(method, path, { key, headers, ...(method === 'DELETE' ? {} : { body: change }) });
    };
    const other = await send(() => ({ 'if-match': 'W/"another"' }));
    expect([other.statusCode, codeOf(other)]).toEqual([412, 'precondition_failed']);
    expect(other.json().error).toMatchObject({ param: 'If-Match', details: { etag: expect.any(String) } });
    for (const condition of [
      (tag: string) => ({ 'if-match': tag }),
      (tag: string) => ({ 'if-match': `"a", ${tag.slice(2)}` }),
      () => ({ 'if-match': '*' }),
      () => ({}),
    ]) {
      expect((await send(condition)).statusCode).toBeLessThan(300);
    }
  },
);

test('of two who change the same version at once one is refused', async () => {
  const path = `/v1/keys/${(await harness.makeKey(a)).id}`;
  const headers = { 'if-match': await tagOf(path) };
  const change = (name: string) => call('PATCH', path, { key, headers, body: { name } });
  const statuses = (await Promise.all([change('one'), change('two')])).map(({ statusCode }) => statusCode);
  expect(statuses.sort()).toEqual([200, 412]);
});
