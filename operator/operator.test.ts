// What a person sees who keeps policies in a cluster: one operator with the roles of the chart in its namespaced mode,
// on a real API server, two real gateways and their database.
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { eventually } from '../test/calls/world.ts';
import { openPolicyWorld, traced } from '../test/policies/world.ts';
import {
  createNamespace,
  type KubernetesAccess,
  runKubectl,
  sharedKubernetes,
} from '../test/support/kubernetes.ts';
import type { Provisioned } from '../test/support/provision.ts';
import {
  apply,
  findPolicy,
  type Home,
  installDefinition,
  kubectl,
  makeHome,
  manifest,
  type OperatorProcess,
  putToken,
  SECRET,
  servicePolicies,
  startOperatorProcess,
  untilReason,
  waitReady,
} from './test-kit.ts';
import { conditionOf } from './types.ts';

vi.setConfig({ testTimeout: 90_000, hookTimeout: 120_000 });

const world = await openPolicyWorld();
const { one, two } = world;
let access: KubernetesAccess;
let home: Home;
let operator: OperatorProcess;
const namespaces: string[] = [];

beforeAll(async () => {
  access = await sharedKubernetes();
  await installDefinition(access);
  for (const prefix of ['team-a', 'team-b']) namespaces.push(await createNamespace(access, prefix));
  home = await makeHome(access, { namespaces, watched: namespaces });
  const args = ['--allowed-base-url', two.base_url, '--console-url', 'https://console.example'];
  operator = await startOperatorProcess(home, { base_url: one.base_url, args });
  await eventually('the operator is ready', () => operator.isReady(), 30_000);
});

/** An organization of its own whose key lies in the namespace. */
async function tenant(namespace: string): Promise<Provisioned> {
  const org = await world.org();
  await putToken(access, namespace, org.live_key);
  return org;
}
const team = (i: 0 | 1) => namespaces[i] as string;
const routed = async (org: Provisioned, model = 'acme/cheap') => {
  const reply = await world.chat(one, org.live_key, model).reply;
  return {
    policy: traced(reply, 'policy'),
    rule: traced(reply, 'rule'),
    provider: reply.headers['x-svc-provider'],
  };
};
const QUIET = { policy: { rules: [{ name: 'privacy', match: {}, providers: { only: ['quiet'] } }] } };
const LOUD = { policy: { rules: [{ name: 'noise', match: {}, providers: { only: ['loud'] } }] } };

let syncs = 0;
/** Has the operator look at once, and waits until it has: its count of reconciles rises. */
async function sync(namespace: string, name: string): Promise<void> {
  const looked = () => operator.metric('svc_operator_reconcile_seconds_count');
  const before = await looked();
  const args = ['annotate', 'rp', name, '-n', namespace, '--overwrite', `svc.dev/force-sync=${++syncs}`];
  await kubectl(access, args);
  await eventually('the operator looked', async () => (await looked()) > before, 20_000);
}

/** kubectl's words without what differs from run to run; columns of events are as wide as their ages. */
function normalised(text: string, org: Provisioned): string {
  const [object = '', events = ''] = text.split(/^(?=Events:)/m);
  // Those of one second come in any order.
  const events_text = events
    .replace(/(?<=\S) +|-{2,}/g, (gap) => gap.slice(0, 1))
    .split('\n')
    .map((line, i) => (i < 3 ? `${i} ${line}` : `3 ${line}`))
    .sort()
    .map((line) => line.slice(2))
    .join('\n');
  return (object + events_text)
    .replaceAll(namespaces[0] as string, 'team-a')
    .replaceAll(org.project_id, 'prj_PROJECT')
    .replace(/\b[0-9a-f]{64}\b/g, 'HASH')
    .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}\b/g, 'UID')
    .replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, 'TIME')
    .replace(/(Resource Version: +)\d+/g, '$1N')
    .replace(/\S+(?= svc-operator)/g, 'AGE')
    .replace(/ +$/gm, '');
}

describe('apply', () => {
  test('makes a policy Ready, the next call is routed by it, and its trace names policy, version and rule', async () => {
    const org = await tenant(team(0));
    expect((await routed(org)).policy).toBe('default');
    await apply(access, manifest({ namespace: team(0), name: 'agents' }, { ...QUIET, policyName: 'agents' }));
    await waitReady(access, team(0), 'agents');
    expect(await routed(org)).toEqual({ policy: 'agents/1', rule: 'privacy', provider: 'quiet' });
    await apply(access, manifest({ namespace: team(0), name: 'agents' }, { ...LOUD, policyName: 'agents' }));
    await untilReason(access, { namespace: team(0), name: 'agents' }, { type: 'Ready', reason: 'Ready' });
    expect(await routed(org)).toEqual({ policy: 'agents/2', rule: 'noise', provider: 'loud' });
  });

  test('get, describe and delete show what a person expects', async () => {
    const org = await tenant(team(0));
    const scope = { kind: 'Project', projectId: org.project_id };
    await apply(access, manifest({ namespace: team(0), name: 'shown' }, { ...QUIET, scope }));
    await waitReady(access, team(0), 'shown');
    const said = async (...args: string[]) =>
      normalised(await kubectl(access, [...args, 'rp', 'shown', '-n', team(0)]), org);
    const strip = (text: string) => text.replace(/ +/g, ' ').replace(/\b\d+(?:m\d*)?s$/gm, 'AGE');
    expect(strip(await said('get'))).toBe(
      'NAME READY VERSION ACTIVE SCOPE AGE\nshown True 1 1 Project AGE\n',
    );
    const wide = await kubectl(access, ['get', 'rp', 'shown', '-n', team(0), '-o', 'wide']);
    expect(strip(normalised(wide, org))).toBe(
      'NAME READY VERSION ACTIVE SCOPE REASON POLICY PROJECT AGE\n' +
        'shown True 1 1 Project Ready team-a-shown prj_PROJECT AGE\n',
    );
    await expect(await said('describe')).toMatchFileSnapshot('golden/describe.txt');
    expect(await said('delete')).toMatch(/^routingpolicy\.svc\.dev "shown" deleted/);
    expect(await findPolicy(access, team(0), 'shown')).toBeNull();
    expect((await routed(org)).policy).toBe('default');
    const left = (await servicePolicies(one, org.live_key)).get(`${team(0)}-shown`);
    expect(left).toMatchObject({ status: 'draft', newest_version: 1, managed_by: null });
  });

  test('a policy that the service refuses says where, the version before goes on, and a good one mends it', async () => {
    const org = await tenant(team(0));
    const at = { namespace: team(0), name: 'mended' };
    await apply(access, manifest(at, QUIET));
    await waitReady(access, team(0), 'mended');
    const rules = [
      { match: {}, continue: true },
      { match: {}, continue: true },
      { match: { models: ['acme/none'] } },
    ];
    await apply(access, manifest(at, { policy: { rules } }));
    const broken = await untilReason(access, at, { type: 'Accepted', reason: 'InvalidPolicy' });
    expect(conditionOf(broken, 'Accepted')?.message).toBe(
      'spec.policy.rules[2].match.models[0]: no model "acme/none"; expected a model of the catalog',
    );
    expect([conditionOf(broken, 'Ready')?.status, broken.status?.activeVersion]).toEqual(['False', 1]);
    expect((await routed(org)).policy).toBe(`${team(0)}-mended/1`);
    const events = await kubectl(access, ['events', '-n', team(0), '--for', 'rp/mended']);
    expect(events).toMatch(/Warning\s+InvalidPolicy.*spec\.policy\.rules\[2\]/);
    await apply(access, manifest(at, LOUD));
    await waitReady(access, team(0), 'mended');
    expect((await routed(org)).rule).toBe('noise');
    await kubectl(access, ['delete', 'rp', 'mended', '-n', team(0)]);
  });

  test('activate: false stores without ruling, and follows when it changes', async () => {
    const org = await tenant(team(0));
    const at = { namespace: team(0), name: 'stored' };
    await apply(access, manifest(at, { ...QUIET, activate: false }));
    await waitReady(access, team(0), 'stored');
    expect((await routed(org)).policy).toBe('default');
    const stored = await findPolicy(access, team(0), 'stored');
    expect(stored && conditionOf(stored, 'Activated')).toMatchObject({
      status: 'False',
      reason: 'NotRequested',
    });
    for (const [activate, policy] of [
      [true, `${team(0)}-stored/1`],
      [false, 'default'],
    ] as const) {
      await apply(access, manifest(at, { ...QUIET, activate }));
      await untilReason(access, at, { type: 'Ready', reason: 'Ready' });
      expect((await routed(org)).policy).toBe(policy);
    }
    await kubectl(access, ['delete', 'rp', 'stored', '-n', team(0)]);
  });
});

describe('ownership', () => {
  test('an edit elsewhere is refused with a pointer to the manifest', async () => {
    const org = await tenant(team(0));
    await apply(access, manifest({ namespace: team(0), name: 'owned' }, { ...QUIET, policyName: 'owned' }));
    await waitReady(access, team(0), 'owned');
    const refused = await world.ask(one, org.live_key, 'POST', '/owned/versions', { yaml: 'sort: price' });
    expect([refused.status, refused.json.error?.['code']]).toEqual([403, 'managed_elsewhere']);
    expect(refused.json.error?.['message']).toContain(`RoutingPolicy ${team(0)}/owned`);
    expect(refused.json.error?.['details']).toMatchObject({ namespace: team(0), name: 'owned' });
    await kubectl(access, ['delete', 'rp', 'owned', '-n', team(0)]);
  });

  async function takeOver(org: Provisioned, name: string, path: string, body: object): Promise<void> {
    const reply = await fetch(`${one.base_url}/v1/policies/${name}${path}`, {
      method: 'POST',
      headers: {
        ...{ authorization: `Bearer ${org.live_key}`, 'content-type': 'application/json' },
        'x-svc-take-over': '1',
      },
      body: JSON.stringify(body),
    });
    expect(reply.ok).toBe(true);
  }

  test('a take-over is taken back by the next look, unless suspended or only reported', async () => {
    const org = await tenant(team(0));
    const at = { namespace: team(0), name: 'drifts' };
    const spec = { ...QUIET, policyName: 'drifts' };
    await apply(access, manifest(at, spec));
    await waitReady(access, team(0), 'drifts');
    await takeOver(org, 'drifts', '/versions', { yaml: 'sort: latency' });
    await takeOver(org, 'drifts', '/activate', { version: 2 });
    expect((await routed(org)).policy).toBe('drifts/2');
    await sync(team(0), 'drifts');
    expect((await routed(org)).policy).toBe('drifts/1');
    expect(
      await kubectl(access, [
        'get',
        'events',
        '-n',
        team(0),
        '-o',
        'name',
        '--field-selector',
        'reason=Drifted',
      ]),
    ).not.toBe('');
    await takeOver(org, 'drifts', '/activate', { version: 2 });
    // Suspended or Report: reported, not changed.
    await kubectl(access, ['annotate', 'rp', 'drifts', '-n', team(0), 'svc.dev/suspend=true']);
    await sync(team(0), 'drifts');
    expect((await routed(org)).policy).toBe('drifts/2');
    await apply(access, manifest(at, { ...spec, driftPolicy: 'Report' }));
    await kubectl(access, ['annotate', 'rp', 'drifts', '-n', team(0), 'svc.dev/suspend-']);
    await sync(team(0), 'drifts');
    const reported = await untilReason(access, at, { type: 'Synced', reason: 'Drifted' });
    expect(conditionOf(reported, 'Synced')?.message).toContain('reported only');
    expect((await routed(org)).policy).toBe('drifts/2');
    // Corrected: its own version again, and no new one.
    await apply(access, manifest(at, { ...spec, driftPolicy: 'Correct' }));
    await untilReason(access, at, { type: 'Ready', reason: 'Ready' });
    expect((await routed(org)).policy).toBe('drifts/1');
    expect((await servicePolicies(one, org.live_key)).get('drifts')?.managed_by).toContain('/drifts');
    await kubectl(access, ['delete', 'rp', 'drifts', '-n', team(0)]);
  });

  test('of two objects for one policy the older wins, even if it comes later, and what it leaves the younger takes', async () => {
    const org = await tenant(team(0));
    await putToken(access, team(1), org.live_key);
    const older = { namespace: team(0), name: 'older', annotations: { 'svc.dev/suspend': 'true' } };
    const younger = { namespace: team(1), name: 'younger' };
    await apply(access, manifest(older, { ...QUIET, policyName: 'shared' }));
    await untilReason(access, older, { type: 'Synced', reason: 'Suspended' });
    await apply(access, manifest(younger, { ...LOUD, policyName: 'shared' }));
    await waitReady(access, team(1), 'younger');
    expect((await routed(org)).rule).toBe('noise');
    await kubectl(access, ['annotate', 'rp', 'older', '-n', team(0), 'svc.dev/suspend-']);
    await waitReady(access, team(0), 'older');
    expect((await routed(org)).rule).toBe('privacy');
    const lost = await untilReason(access, younger, { type: 'Accepted', reason: 'ScopeConflict' });
    expect(conditionOf(lost, 'Accepted')?.message).toContain(`RoutingPolicy ${team(0)}/older`);
    await kubectl(access, ['delete', 'rp', 'older', '-n', team(0)]);
    await waitReady(access, team(1), 'younger');
    expect((await routed(org)).rule).toBe('noise');
    await kubectl(access, ['delete', 'rp', 'younger', '-n', team(1)]);
  });

  test('of two policies for one scope the older rules it', async () => {
    const org = await tenant(team(0));
    const first = { namespace: team(0), name: 'a-first' };
    const second = { namespace: team(0), name: 'b-second' };
    await apply(access, manifest(first, QUIET));
    await waitReady(access, team(0), 'a-first');
    await apply(access, manifest(second, LOUD));
    await untilReason(access, second, { type: 'Accepted', reason: 'ScopeConflict' });
    expect((await routed(org)).rule).toBe('privacy');
    await kubectl(access, ['delete', 'rp', 'a-first', '-n', team(0)]);
    await waitReady(access, team(0), 'b-second');
    expect((await routed(org)).rule).toBe('noise');
    await kubectl(access, ['delete', 'rp', 'b-second', '-n', team(0)]);
  });
});

describe('credentials', () => {
  test('a missing and a refused key are reported, corrected at the next look, and never shown', async () => {
    const org = await world.org();
    await kubectl(access, ['delete', 'secret', SECRET, '-n', team(1), '--ignore-not-found']);
    const at = { namespace: team(1), name: 'locked' };
    await apply(access, manifest(at, QUIET));
    const missing = await untilReason(access, at, { type: 'Ready', reason: 'CredentialsMissing' });
    expect(conditionOf(missing, 'Ready')?.message).toContain(`there is no Secret ${team(1)}/${SECRET}`);
    expect(missing.metadata.finalizers ?? []).toEqual([]);
    const wrong = `${org.live_key.slice(0, -1)}${org.live_key.endsWith('0') ? '1' : '0'}`;
    for (const [token, reason] of [
      [wrong, 'CredentialsRejected'],
      ['two\nlines', 'CredentialsMissing'],
    ] as const) {
      await putToken(access, team(1), token);
      await sync(team(1), 'locked');
      await untilReason(access, at, { type: 'Accepted', reason });
    }
    await putToken(access, team(1), `${org.live_key}\n`);
    await sync(team(1), 'locked');
    await waitReady(access, team(1), 'locked');
    const events = await kubectl(access, ['get', 'events', '-n', team(1), '-o', 'json']);
    const objects = await kubectl(access, ['get', 'rp', '-n', team(1), '-o', 'json']);
    for (const secret of [org.live_key, wrong, 'two\\nlines']) {
      for (const text of [events, objects, operator.engine.output()]) expect(text).not.toContain(secret);
    }
    await kubectl(access, ['delete', 'rp', 'locked', '-n', team(1)]);
  });

  test('the token goes to no address but the operator knows it', async () => {
    const org = await tenant(team(0));
    const connection = (baseUrl: string) => ({
      connection: { baseUrl, credentialsSecretRef: { name: SECRET } },
    });
    const at = { namespace: team(0), name: 'elsewhere' };
    await apply(access, manifest(at, { ...QUIET, ...connection('http://127.0.0.1:9') }));
    const refused = await untilReason(access, at, { type: 'Accepted', reason: 'InvalidPolicy' });
    expect(conditionOf(refused, 'Accepted')?.message).toContain("not among the operator's allowed addresses");
    await apply(access, manifest(at, { ...QUIET, ...connection(`${two.base_url}/`) }));
    await waitReady(access, team(0), 'elsewhere');
    expect((await routed(org)).rule).toBe('privacy');
    await kubectl(access, ['delete', 'rp', 'elsewhere', '-n', team(0)]);
  });

  test('the operator may read the named Secrets of its namespaces and no others', async () => {
    const account = `--as=system:serviceaccount:${home.namespace}:svc-operator`;
    const may = async (...args: string[]) =>
      (await runKubectl(access, ['auth', 'can-i', account, ...args])).stdout.trim();
    expect(await may('get', `secret/${SECRET}`, '-n', team(0))).toBe('yes');
    expect(await may('list', 'secrets', '-n', team(0))).toBe('no');
    expect(await may('get', 'secret/other', '-n', team(0))).toBe('no');
    expect(await may('get', `secret/${SECRET}`, '-n', home.namespace)).toBe('no');
    expect(await may('delete', 'rp', '-n', team(0))).toBe('no');
  });
});

describe('delete', () => {
  test('Retain leaves the policy ruling and lets go of it', async () => {
    const org = await tenant(team(0));
    const spec = { ...QUIET, policyName: 'kept', deletionPolicy: 'Retain' };
    await apply(access, manifest({ namespace: team(0), name: 'kept' }, spec));
    await waitReady(access, team(0), 'kept');
    await kubectl(access, ['delete', 'rp', 'kept', '-n', team(0)]);
    expect((await routed(org)).policy).toBe('kept/1');
    expect((await servicePolicies(one, org.live_key)).get('kept')?.managed_by).toBeNull();
    const edited = await world.ask(one, org.live_key, 'POST', '/kept/versions', { yaml: 'sort: price' });
    expect(edited.status).toBe(201);
  });

  test('force-delete lets an object go whose key is refused', async () => {
    const org = await tenant(team(1));
    const at = { namespace: team(1), name: 'forced' };
    await apply(access, manifest(at, QUIET));
    await waitReady(access, team(1), 'forced');
    await putToken(access, team(1), 'svc-live-gone');
    await kubectl(access, ['delete', 'rp', 'forced', '-n', team(1), '--wait=false']);
    await untilReason(access, at, { type: 'Synced', reason: 'CredentialsRejected' });
    await kubectl(access, ['annotate', 'rp', 'forced', '-n', team(1), 'svc.dev/force-delete=true']);
    await kubectl(access, ['wait', '--for=delete', 'rp/forced', '-n', team(1), '--timeout=30s']);
    expect((await routed(org)).rule).toBe('privacy');
    expect(await kubectl(access, ['get', 'events', '-n', team(1)])).toMatch(/Warning\s+Orphaned/);
  });
});

test('a look that finds nothing new writes no status', async () => {
  await tenant(team(0));
  await apply(access, manifest({ namespace: team(0), name: 'calm' }, QUIET));
  await waitReady(access, team(0), 'calm');
  await sync(team(0), 'calm');
  const before = await findPolicy(access, team(0), 'calm');
  const writes = await operator.metric('svc_operator_status_writes_total');
  await sync(team(0), 'calm');
  await sync(team(0), 'calm');
  expect(await operator.metric('svc_operator_status_writes_total')).toBe(writes);
  expect((await findPolicy(access, team(0), 'calm'))?.status).toEqual(before?.status);
  await kubectl(access, ['delete', 'rp', 'calm', '-n', team(0)]);
});
