// Each decision about a key, and that following them from any state ends with one active key, the one in the Secret.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decideKey, type KeySeen, type KeyStep, rotatesAt, type SecretSeen } from './decide-key.ts';
import type { KeyView } from './service.ts';
import type { ApiKeyObject, ApiKeySpec } from './types.ts';

const NOW = new Date('2026-11-21T10:00:00.000Z');
const HOUR_MS = 3_600_000;

function object(spec: Partial<ApiKeySpec> = {}, rotate?: string, keyId?: string): ApiKeyObject {
  return {
    ...{ apiVersion: 'svc.dev/v1alpha1', kind: 'ApiKey' },
    metadata: {
      ...{ name: 'ci', namespace: 'team-a', uid: 'u', resourceVersion: '1', generation: 1 },
      creationTimestamp: '2026-11-21T09:00:00Z',
      ...(rotate === undefined ? {} : { annotations: { 'svc.dev/rotate': rotate } }),
    },
    spec: {
      connection: { credentialsSecretRef: { name: 's' } },
      ...{ projectId: 'prj_a', scopes: ['inference'], secretRef: { name: 'ci' } },
      ...spec,
    },
    ...(keyId === undefined ? {} : { status: { keyId } }),
  };
}
function key(id: string, over: Partial<KeyView> = {}): KeyView {
  return {
    ...{
      id,
      project_id: 'prj_a',
      name: 'ci',
      hint: `svc-live-...${id.padStart(4, '0')}`,
      environment: 'live',
    },
    ...{ status: 'active', scopes: ['inference'], limits: { rpm: null, tpm: null, concurrency: null } },
    ...{ budget: { daily_micro: null, hard: true }, expires_at: null },
    created_at: NOW.toISOString(),
    ...over,
  } as KeyView;
}
function secret(id: string, over: Partial<SecretSeen> = {}): SecretSeen {
  return {
    ...{ version: '1', owned: true, key_id: id, value_end: id.padStart(4, '0') },
    ...{ base_url: 'http://svc', request: '' },
    ...over,
  };
}
function seen(over: Partial<KeySeen> = {}): KeySeen {
  return {
    ...{ object: object(), project_id: 'prj_a', base_url: 'http://svc', keys: [], secret: null, now: NOW },
    ...over,
  };
}
const ago = (hours: number) => new Date(NOW.getTime() - hours * HOUR_MS).toISOString();
const spec = (more: Partial<ApiKeySpec>) => ({ object: object(more) });

test.each<[string, KeySeen, Partial<KeyStep> | string]>([
  ['nothing yet: one is made', seen(), { do: 'create', after: 'none' }],
  ['all is well', seen({ keys: [key('1')], secret: secret('1') }), 'done'],
  [
    'a Secret of somebody else',
    seen({ keys: [key('1')], secret: secret('1', { owned: false }) }),
    'SecretConflict',
  ],
  [
    'a key that never came into a Secret has no grace',
    seen({ keys: [key('1')] }),
    { do: 'rotate', id: '1', grace_seconds: 0 },
  ],
  [
    'one whose Secret is gone has',
    seen({ keys: [key('1')], object: object({}, undefined, '1') }),
    { do: 'rotate', id: '1', grace_seconds: 3_600 },
  ],
  [
    'a Secret with another value',
    seen({ keys: [key('1')], secret: secret('1', { value_end: 'zzzz' }) }),
    { do: 'rotate', id: '1', grace_seconds: 3_600 },
  ],
  [
    'a key that was revoked elsewhere is replaced by a new one',
    seen({ keys: [key('1', { status: 'revoked' })], secret: secret('1') }),
    { do: 'create', after: '1' },
  ],
  [
    'a key that waits for its maker is left alone',
    seen({ keys: [key('1', { status: 'blocked' })], secret: secret('1') }),
    'KeyBlocked',
  ],
  [
    'asked for',
    seen({ keys: [key('1')], secret: secret('1'), object: object({}, 'a') }),
    { do: 'rotate', id: '1', why: 'asked for' },
  ],
  [
    'asked for before',
    seen({ keys: [key('1')], secret: secret('1', { request: 'a' }), object: object({}, 'a') }),
    'done',
  ],
  [
    'due by the hour',
    seen({
      ...spec({ rotate: { everyHours: 2, graceSeconds: 60 } }),
      ...{ keys: [key('1', { created_at: ago(2) })], secret: secret('1') },
    }),
    { do: 'rotate', id: '1', grace_seconds: 60 },
  ],
  [
    'due with a third of its life left, before its settings',
    seen({
      ...spec({ expiresIn: '3h', name: 'other' }),
      ...{ keys: [key('1', { created_at: ago(2) })], secret: secret('1') },
    }),
    { do: 'rotate', id: '1' },
  ],
  [
    'other settings',
    seen({ ...spec({ limits: { rpm: 5 }, expiresIn: '3h' }), keys: [key('1')], secret: secret('1') }),
    {
      ...{ do: 'update', id: '1' },
      body: { limits: { rpm: 5, tpm: null, concurrency: null }, expires_at: '2026-11-21T13:00:00.000Z' },
    },
  ],
  [
    'a key beside the one in the Secret',
    seen({ keys: [key('2'), key('1')], secret: secret('1') }),
    { do: 'revoke', id: '2' },
  ],
  [
    'another project: a key there first, and then the old one ends',
    seen({ project_id: 'prj_b', keys: [key('1')], secret: secret('1') }),
    { do: 'create', after: '1' },
  ],
  ['another address', seen({ keys: [key('1')], secret: secret('1'), base_url: 'http://b' }), { do: 'note' }],
])('%s', (_, one, expected) => {
  const decision = decideKey(one);
  const found = decision.kind === 'act' ? decision.step : decision;
  if (typeof expected !== 'string') expect(found).toMatchObject(expected);
  else if (expected === 'done') expect(decision.kind).toBe('done');
  else expect(found).toMatchObject({ reason: expected });
});

test('a key without schedule or end is never rotated by itself', () => {
  expect(rotatesAt(object(), key('1'))).toBeNull();
});

/** What the service and the Secret are after `step`; `lost`: the operator was killed before it wrote the Secret. */
function after(one: KeySeen, step: KeyStep, lost: boolean): KeySeen {
  const id = String(one.keys.length + 10);
  const made = key(id, { project_id: one.project_id });
  const replace = (other: string, over: Partial<KeyView>) =>
    one.keys.map((each) => (each.id === other ? { ...each, ...over } : each));
  const request = one.object.metadata.annotations?.['svc.dev/rotate'] ?? '';
  const written = lost ? one.secret : secret(id, { request, base_url: one.base_url });
  switch (step.do) {
    case 'create':
      return { ...one, keys: [made, ...one.keys], secret: written };
    case 'rotate': {
      const status = step.grace_seconds === 0 ? 'revoked' : 'rotating';
      return { ...one, keys: [made, ...replace(step.id, { status })], secret: written };
    }
    case 'update':
      return { ...one, keys: replace(step.id, step.body as Partial<KeyView>) };
    case 'revoke':
      return { ...one, keys: replace(step.id, { status: 'revoked' }) };
    default:
      return { ...one, secret: { ...(one.secret as SecretSeen), base_url: one.base_url } };
  }
}

test('from any state, with operators killed at any step, one active key is left, the one in the Secret', () => {
  const statuses = fc.constantFrom('active', 'rotating', 'revoked', 'expired');
  const keys = fc.array(fc.tuple(statuses, fc.constantFrom('prj_a', 'prj_b')), { maxLength: 4 });
  const kills = fc.array(fc.boolean(), { minLength: 20, maxLength: 20 });
  const property = fc.property(
    ...([keys, fc.option(fc.integer({ min: 0, max: 4 })), fc.option(fc.constant('ask')), kills] as const),
    (rows, held, asked, lost) => {
      let one = seen({
        object: object({}, asked ?? undefined),
        keys: rows.map(([status, project_id], i) =>
          key(String(i), { status, project_id } as Partial<KeyView>),
        ),
        secret: held === null ? null : secret(String(held)),
      });
      for (let steps = 0; ; steps++) {
        expect(steps).toBeLessThan(40);
        const decision = decideKey(one);
        if (decision.kind !== 'act') {
          expect(decision.kind).toBe('done');
          break;
        }
        one = after(one, decision.step, lost[steps] ?? false);
      }
      const active = one.keys.filter(({ status }) => status === 'active');
      expect(active.map(({ id }) => id)).toEqual([one.secret?.key_id]);
    },
  );
  fc.assert(property, { numRuns: 500 });
});
