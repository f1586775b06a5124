// Each decision of a reconcile, and that following them always ends with the service as the manifest says.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { VersionView } from '../rest.ts';
import type { Condition, RoutingPolicy, RoutingPolicySpec, RoutingPolicyStatus } from '../types.ts';
import { conditionsOf } from './conditions.ts';
import {
  type Conclusion,
  type Decision,
  decide,
  decideSilence,
  manifestPath,
  type PolicyState,
  type Seen,
  type Step,
} from './decide.ts';
import { decideRelease, decideStuck, decideUnasked, PATIENCE_MS } from './release.ts';
import { statusPatch } from './status.ts';

const ME = 'k8s/c1/team-a/agents';
const OTHER = 'k8s/c1/team-b/agents';
const NOW = new Date('2026-11-21T10:00:00.000Z');

function object(
  spec: Partial<RoutingPolicySpec> = {},
  status?: RoutingPolicyStatus,
  annotations: Record<string, string> = {},
): RoutingPolicy {
  return {
    ...{ apiVersion: 'svc.dev/v1alpha1', kind: 'RoutingPolicy' },
    metadata: {
      ...{ name: 'agents', namespace: 'team-a', uid: 'u', resourceVersion: '1', generation: 2 },
      ...{ creationTimestamp: '2026-11-21T09:00:00Z', annotations },
    },
    spec: {
      connection: { credentialsSecretRef: { name: 's' } },
      scope: { kind: 'Org' },
      policy: {},
      ...spec,
    },
    ...(status === undefined ? {} : { status }),
  };
}
function version(n: number, over: Partial<VersionView> = {}): VersionView {
  return { version: n, content_hash: `h${n}`, managed_by: ME, policy_managed_by: ME, scopes: [], ...over };
}
const RULES = [{ project_id: null }];
function state(versions: readonly VersionView[], managed_by: string | null = ME): PolicyState {
  return { managed_by, versions, gateways: { applied: 1, total: 1 }, canaries: [] };
}
function seen(over: Partial<Seen> = {}): Seen {
  return {
    ...{ object: object(), manifest: ME, policy_name: 'agents', content_hash: 'h2' },
    verdict: { valid: true, path: '', message: '', faults: [], notices: [] },
    ...{ policy: null, holder: null, refused: null },
    ...over,
  };
}
function condition(type: Condition['type'], status: Condition['status'], generation = 2): Condition {
  const lastTransitionTime = '2026-11-21T09:30:00Z';
  return { type, status, reason: 'R', message: 'm', observedGeneration: generation, lastTransitionTime };
}
const settled: RoutingPolicyStatus = {
  ...{ observedGeneration: 2, version: 2, activeVersion: 2, policyName: 'agents' },
  conditions: (['Accepted', 'Synced', 'Activated', 'Ready'] as const).map((type) => condition(type, 'True')),
};
const stepOf = (decision: Decision): Step | null => (decision.kind === 'act' ? decision.step : null);
function concluded(decision: Decision): Conclusion {
  if (decision.kind === 'act') throw new Error(`a step: ${JSON.stringify(decision.step)}`);
  return decision.conclusion;
}
const reasons = ({ findings }: Conclusion) =>
  [findings.Accepted, findings.Synced, findings.Activated].map((one) => `${one.status} ${one.reason}`);

describe('steps', () => {
  test('a policy that is not there is made, one with another text gets a version, a draft is activated', () => {
    expect(stepOf(decide(seen()))).toEqual({ do: 'write', first: true, take_over: false });
    const older = state([version(1, { scopes: RULES })]);
    expect(stepOf(decide(seen({ policy: older })))).toEqual({ do: 'write', first: false, take_over: false });
    const draft = state([version(2), version(1, { scopes: RULES })]);
    expect(stepOf(decide(seen({ policy: draft })))).toEqual({ do: 'activate', version: 2, take_over: false });
    const done = concluded(decide(seen({ policy: state([version(2, { scopes: RULES })]) })));
    expect(reasons(done)).toEqual(['True Valid', 'True Stored', 'True Active']);
  });

  test('the scope of another project is not the own one', () => {
    const scopes = [{ project_id: 'prj_x' }];
    expect(stepOf(decide(seen({ policy: state([version(2, { scopes })]) })))?.do).toBe('activate');
  });

  test('activation waits for all gateways', () => {
    const policy = { ...state([version(2, { scopes: RULES })]), gateways: { applied: 1, total: 2 } };
    const conclusion = concluded(decide(seen({ policy })));
    expect([conclusion.findings.Activated.reason, conclusion.again]).toEqual(['Propagating', 'soon']);
  });

  test('a canary is shown, the worst of several; one that was rolled back keeps the object from being ready', () => {
    const canary = { version: 2, percent: 5, error_rate: 0.0125, samples: 240, reason: '' };
    const shows = (...canaries: PolicyState['canaries']) =>
      concluded(decide(seen({ policy: { ...state([version(2, { scopes: RULES })]), canaries } })));
    const green = { ...canary, endpoint_id: 'ep_a', state: 'green' };
    const untried = { ...canary, endpoint_id: 'ep_b', state: 'pending', error_rate: null, samples: 0 };
    expect(shows(green).canary).toEqual({
      ...{ endpointId: 'ep_a', state: 'green', errorRate: '0.0125', samples: 240, percent: '5', reason: '' },
    });
    expect(shows(green).again).toBe('canary');
    const both = shows(green, untried);
    expect(both.canary).toMatchObject({ endpointId: 'ep_b', state: 'pending', errorRate: '', samples: 0 });
    expect(reasons(both)[2]).toBe('True Active');
    const red = { ...green, state: 'red', reason: '9 of 40 calls failed at the canary, 1 of 760 elsewhere' };
    expect(reasons(shows(green, red))[2]).toBe('True Active');
    const halted = shows(untried, { ...red, percent: 0 });
    expect(halted.findings.Activated).toEqual({
      ...{ status: 'False', reason: 'CanaryRolledBack' },
      message: `version 2 of policy agents goes on without canary ep_a: ${red.reason}`,
    });
    expect(halted.canary).toMatchObject({ state: 'red', percent: '0', reason: red.reason });
    expect(shows({ ...red, percent: 0 }).again).toBe('resync');
  });

  test('what is not to be active is taken down', () => {
    const policy = state([version(2, { scopes: RULES })]);
    const idle = object({ activate: false });
    expect(stepOf(decide(seen({ object: idle, policy })))).toEqual({ do: 'deactivate', take_over: false });
    const done = concluded(decide(seen({ object: idle, policy: state([version(2)]) })));
    expect(reasons(done)).toEqual(['True Valid', 'True Stored', 'False NotRequested']);
  });

  test('an invalid text is reported at its place, and the active version stays active', () => {
    const verdict = {
      ...{ valid: false, path: 'rules[2].match', message: 'x; expected y' },
      ...{ faults: [{ code: 'invalid' }], notices: [] },
    };
    const policy = state([version(1, { scopes: RULES })]);
    const conclusion = concluded(decide(seen({ verdict, policy })));
    expect(conclusion.findings.Accepted.message).toBe('spec.policy.rules[2].match: x; expected y');
    expect([conclusion.version, conclusion.active_version]).toEqual([1, 1]);
    expect([manifestPath('$'), manifestPath('sort')]).toEqual(['spec.policy', 'spec.policy.sort']);
  });

  test('an older or foreign holder keeps the policy, from a younger or gone one it is taken', () => {
    for (const age of ['older', 'unknown'] as const) {
      const conclusion = concluded(decide(seen({ holder: { manifest: OTHER, age } })));
      expect(conclusion.findings.Accepted.reason).toBe('ScopeConflict');
      expect(conclusion.findings.Accepted.message).toContain('RoutingPolicy team-b/agents');
    }
    for (const age of ['younger', 'gone'] as const) {
      const policy = state([version(5, { managed_by: OTHER })], OTHER);
      const decision = decide(seen({ holder: { manifest: OTHER, age }, policy }));
      expect(stepOf(decision)).toEqual({ do: 'write', first: false, take_over: true });
    }
  });

  test('a refused step is reported in the condition it belongs to', () => {
    const fault = { status: 404, code: 'not_found', message: 'no', managed_by: null, retry_after_ms: null };
    const step = { do: 'activate', version: 2, take_over: false } as const;
    const there = object({ scope: { kind: 'Project', projectId: 'prj_x' } });
    const refused = { step, fault };
    const conclusion = concluded(decide(seen({ object: there, policy: state([version(2)]), refused })));
    expect(reasons(conclusion)).toEqual(['True Valid', 'True Stored', 'False ActivationFailed']);
    expect(conclusion.findings.Activated.message).toContain('spec.scope.projectId');
  });
});

describe('drift', () => {
  const taken = state([version(3, { managed_by: null, scopes: RULES }), version(2)], null);

  test('is corrected by the look that sees it, which says what it takes back', () => {
    const decision = decide(seen({ object: object({}, settled), policy: taken }));
    expect(decision).toEqual({
      kind: 'act',
      step: { do: 'activate', version: 2, take_over: false },
      drift: 'policy agents was taken over elsewhere',
    });
    const edited = object({}, { ...settled, observedGeneration: 1 });
    expect(stepOf(decide(seen({ object: edited, policy: taken })))?.do).toBe('activate');
  });

  test('is only reported with Report, or while suspended', () => {
    const edited = { ...settled, observedGeneration: 1 };
    const reported = decide(seen({ object: object({ driftPolicy: 'Report' }, edited), policy: taken }));
    expect(concluded(reported).findings.Synced.reason).toBe('Drifted');
    const still = object({}, edited, { 'svc.dev/suspend': 'true' });
    expect(concluded(decide(seen({ object: still, policy: taken }))).findings.Synced.reason).toBe('Drifted');
  });

  test('a suspended object writes nothing, and is done where nothing is to be written', () => {
    const still = object({}, undefined, { 'svc.dev/suspend': 'true' });
    expect(reasons(concluded(decide(seen({ object: still }))))[1]).toBe('False Suspended');
    const policy = state([version(2, { scopes: RULES })]);
    expect(reasons(concluded(decide(seen({ object: still, policy }))))[1]).toBe('True Stored');
  });
});

test('followed step by step, any state of the service ends as the manifest says, in at most three steps', () => {
  const owners = fc.constantFrom(ME, null, OTHER);
  const anyVersion = fc.record({
    owner: owners,
    hash: fc.constantFrom('h1', 'h2', 'h3'),
    rules: fc.boolean(),
  });
  const input = fc.record({
    versions: fc.array(anyVersion, { maxLength: 4 }),
    owner: owners,
    activate: fc.boolean(),
  });
  fc.assert(
    fc.property(input, ({ versions, owner, activate }) => {
      const ruling = versions.findIndex(({ rules }) => rules);
      let policy: PolicyState | null =
        versions.length === 0
          ? null
          : state(
              versions.map(({ owner: managed_by, hash }, i) =>
                version(versions.length - i, {
                  managed_by,
                  content_hash: hash,
                  scopes: i === ruling ? RULES : [],
                }),
              ),
              owner,
            );
      const holder = policy?.managed_by === OTHER ? ({ manifest: OTHER, age: 'younger' } as const) : null;
      let now = seen({ object: object({ activate }), policy, holder });
      let steps = 0;
      for (let step = stepOf(decide(now)); step !== null; step = stepOf(decide(now))) {
        expect(++steps).toBeLessThanOrEqual(3);
        policy = applied(policy, step);
        now = { ...now, policy, holder: null };
      }
      const { findings, active_version, version: own } = concluded(decide(now));
      expect(findings.Synced.status).toBe('True');
      expect(active_version).toBe(activate ? own : null);
      expect(policy?.versions.find((one) => one.version === own)).toMatchObject({
        content_hash: 'h2',
        managed_by: ME,
      });
    }),
    { numRuns: 500 },
  );
});

/** What the service makes of a step. */
function applied(policy: PolicyState | null, step: Step): PolicyState {
  const versions = policy?.versions ?? [];
  if (step.do === 'write')
    return state([version((versions[0]?.version ?? 0) + 1, { content_hash: 'h2' }), ...versions]);
  const ruled = step.do === 'activate' ? step.version : null;
  return state(versions.map((one) => ({ ...one, scopes: one.version === ruled ? RULES : [] })));
}

describe('a silent service', () => {
  const patience_ms = 600_000;
  test('leaves a Ready object its word for two resyncs, and no longer', () => {
    const ready = object({}, settled);
    expect(decideSilence(ready, { message: 'm', since_ms: patience_ms - 1, patience_ms })).toBeNull();
    const late = decideSilence(ready, { message: 'm', since_ms: patience_ms, patience_ms });
    expect(late && reasons(late)).toEqual(['True R', 'False ServiceUnavailable', 'True R']);
  });

  test('is reported at once for a generation that was not synced, which is not called Ready', () => {
    const edited = object(
      {},
      {
        ...settled,
        conditions: (settled.conditions ?? []).map((one) => ({ ...one, observedGeneration: 1 })),
      },
    );
    const decision = decideSilence(edited, { message: 'm', since_ms: 0, patience_ms });
    expect(decision && reasons(decision)).toEqual([
      'Unknown Pending',
      'False ServiceUnavailable',
      'Unknown Pending',
    ]);
  });
});

describe('conditions', () => {
  const fine = { status: 'True', reason: 'Fine', message: 'm' } as const;
  const bad = { status: 'False', reason: 'Bad', message: 'why' } as const;
  const propagating = { status: 'False', reason: 'Enforced', message: '' } as const;
  const options = {
    before: settled.conditions ?? [],
    wants_active: true,
    propagating,
    generation: 3,
    now: NOW,
  };

  test('Ready is the first that is in the way, and Activated is not where it is not wanted', () => {
    const all = conditionsOf({ Accepted: fine, Synced: fine, Activated: bad }, options);
    expect(all.at(-1)).toMatchObject({ type: 'Ready', status: 'False', reason: 'Bad', message: 'why' });
    const stored = conditionsOf(
      { Accepted: fine, Synced: fine, Activated: bad },
      { ...options, wants_active: false },
    );
    expect(stored.at(-1)).toMatchObject({ status: 'True' });
  });

  test('a time changes with the status alone, the generation always', () => {
    const all = conditionsOf({ Accepted: fine, Synced: bad, Activated: fine }, options);
    expect(all.map((one) => one.lastTransitionTime.slice(11, 16))).toEqual([
      '09:30',
      '10:00',
      '09:30',
      '10:00',
      '10:00',
    ]);
    expect(all.map((one) => one.observedGeneration)).toEqual([3, 3, 3, 3, 3]);
  });
});

describe('status', () => {
  const rules = state([version(2, { scopes: RULES })]);
  const parts = (one: RoutingPolicy, now = NOW) => ({
    conclusion: concluded(decide(seen({ object: one, policy: rules }))),
    ...{ policy_name: 'agents', console_url: null, now },
  });
  test('once written it is not written again, however late; what no longer holds is taken out', () => {
    const first = statusPatch(object(), parts(object())) as RoutingPolicyStatus;
    expect(first).toMatchObject({
      observedGeneration: 2,
      version: 2,
      activeVersion: 2,
      lastSyncedAt: '2026-11-21T10:00:00Z',
    });
    const written = object({}, first);
    expect(statusPatch(written, parts(written, new Date('2027-01-01T00:00:00Z')))).toBeNull();
    const idle = object({ activate: false }, first);
    const conclusion = concluded(decide(seen({ object: idle, policy: state([version(2)]) })));
    expect(statusPatch(idle, { ...parts(written), conclusion })).toMatchObject({ activeVersion: null });
  });
});

describe('release', () => {
  const policy = state([version(2, { scopes: RULES })]);
  test('ends the rule, or keeps it with Retain, and leaves what is not its own', () => {
    expect(decideRelease(object(), ME, policy)).toEqual({ kind: 'deactivate', project_id: null });
    const retain = object({ deletionPolicy: 'Retain' });
    expect(decideRelease(retain, ME, policy)).toEqual({ kind: 'retain', project_id: null, version: 2 });
    expect(decideRelease(retain, ME, state([version(2)]))).toEqual({ kind: 'deactivate', project_id: null });
    for (const not_ours of [null, state([version(2)], null), state([version(2)], OTHER)]) {
      expect(decideRelease(object(), ME, not_ours)).toEqual({ kind: 'free', orphaned: null });
    }
  });

  test('goes unasked by annotation, and when stuck only in a namespace that ends', () => {
    expect(decideUnasked(object())).toBeNull();
    for (const name of ['svc.dev/force-delete', 'svc.dev/suspend']) {
      expect(decideUnasked(object({}, undefined, { [name]: 'true' }))?.kind).toBe('free');
      expect(decideUnasked(object({}, undefined, { [name]: 'false' }))).toBeNull();
    }
    const stuck = (namespace_ends: boolean, waited_ms: number) =>
      decideStuck({ namespace_ends, waited_ms }, 'm');
    expect(stuck(false, 1e9)).toBeNull();
    expect(stuck(true, PATIENCE_MS - 1)).toBeNull();
    expect(stuck(true, PATIENCE_MS)?.kind).toBe('free');
  });
});
