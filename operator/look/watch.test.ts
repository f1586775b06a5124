// When the watch has an object looked at again, and what is said of gateways that come and go.
import { expect, test } from 'vitest';
import type { RoutingPolicy } from '../types.ts';
import { gatewaysChange } from './status.ts';
import { changedFigures, groupOf } from './watch.ts';

function object(gateways: { applied: number; total: number } | undefined, projectId?: string): RoutingPolicy {
  const scope = projectId === undefined ? { kind: 'Org' } : { kind: 'Project', projectId };
  return {
    metadata: { namespace: 'team-a', name: 'agents' },
    spec: { connection: { credentialsSecretRef: { name: 's' } }, scope, policy: {} },
    status: { policyName: 'team-a-agents', ...(gateways === undefined ? {} : { gateways }) },
  } as unknown as RoutingPolicy;
}

const scope = (project_id: string | null, applied: number, total: number) => ({
  ...{ project_id, version: 2, gateways: { applied, total } },
});
const followed = [
  { name: 'other', scopes: [scope(null, 1, 9)] },
  { name: 'team-a-agents', scopes: [scope(null, 3, 3), scope('prj_a', 2, 3)] },
];

test.each([
  ['as the status says', object({ applied: 3, total: 3 }), null],
  ['one gateway less', object({ applied: 4, total: 4 }), '3/3'],
  ['one that does not follow yet', object({ applied: 2, total: 3 }), '3/3'],
  ['a status without figures', object(undefined), '3/3'],
  ['a project of its own', object({ applied: 2, total: 3 }, 'prj_a'), null],
  ['a project whose gateways lag', object({ applied: 3, total: 3 }, 'prj_a'), '2/3'],
  [
    'a scope that nothing rules: drift, which the resync sees',
    object({ applied: 3, total: 3 }, 'prj_b'),
    null,
  ],
])('%s', (_, one, expected) => {
  expect(changedFigures(one, followed)).toBe(expected);
});

test('objects of one namespace and Secret are asked about together', () => {
  const other = object(undefined);
  const elsewhere = { ...other, metadata: { ...other.metadata, namespace: 'team-b' } };
  expect(groupOf(object(undefined, 'prj_a'))).toBe(groupOf(other));
  expect(groupOf(elsewhere)).not.toBe(groupOf(other));
});

test('an event tells that gateways came or went, and not that they follow', () => {
  const conclusion = (applied: number, total: number) =>
    ({ gateways: { applied, total } }) as Parameters<typeof gatewaysChange>[1];
  expect(gatewaysChange(object({ applied: 3, total: 3 }), conclusion(2, 2))).toBe(
    '2 gateways, of which 2 follow; before: 3',
  );
  expect(gatewaysChange(object({ applied: 2, total: 3 }), conclusion(3, 3))).toBeNull();
  expect(gatewaysChange(object(undefined), conclusion(3, 3))).toBeNull();
});
