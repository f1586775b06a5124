// What a status says of gateways that are still to follow, and which events tell how a canary does.
import { expect, test } from 'vitest';
import type { CanaryStatus, RoutingPolicy } from '../types.ts';
import type { Finding, Findings } from './conditions.ts';
import type { Conclusion } from './decide.ts';
import { canaryChange, propagation } from './status.ts';

const fine: Finding = { status: 'True', reason: 'Fine', message: '' };
const bad = (reason: string): Finding => ({ status: 'False', reason, message: 'why' });

function conclusion(findings: Partial<Findings>, over: Partial<Conclusion> = {}): Conclusion {
  return {
    findings: { Accepted: fine, Synced: fine, Activated: fine, ...findings },
    ...{ version: 2, content_hash: 'h', active_version: 2, gateways: { applied: 3, total: 3 } },
    ...{ canary: null, again: 'resync' },
    ...over,
  };
}

test.each<[string, Conclusion, string]>([
  ['all gateways follow', conclusion({}), 'False Enforced'],
  [
    'one does not yet',
    conclusion({ Activated: bad('Propagating') }, { gateways: { applied: 2, total: 3 } }),
    'True Propagating',
  ],
  [
    'one does not, and a canary was rolled back',
    conclusion({ Activated: bad('CanaryRolledBack') }, { gateways: { applied: 2, total: 3 } }),
    'True Propagating',
  ],
  ['the policy is only stored', conclusion({ Activated: bad('NotRequested') }), 'False NotRequested'],
  ['the text is invalid', conclusion({ Synced: bad('InvalidPolicy') }), 'False NotStored'],
  ['another version rules', conclusion({}, { active_version: 1 }), 'False NotActive'],
  ['the service is silent', conclusion({ Synced: bad('ServiceUnavailable') }), 'Unknown ServiceUnavailable'],
  ['the key is refused', conclusion({ Accepted: bad('CredentialsRejected') }), 'Unknown CredentialsRejected'],
  [
    'nothing was looked at yet',
    conclusion({ Synced: { ...fine, status: 'Unknown', reason: 'Pending' } }),
    'Unknown Pending',
  ],
])('%s', (_, one, expected) => {
  const { status, reason } = propagation(one);
  expect(`${status} ${reason}`).toBe(expected);
});

const canary: CanaryStatus = {
  ...{ endpointId: 'ep_a', state: 'pending', errorRate: '', samples: 0, percent: '5', reason: '' },
};
test.each<[string, CanaryStatus | undefined, CanaryStatus | null, string | null]>([
  ['begins', undefined, canary, 'CanaryStarted'],
  ['goes on', canary, { ...canary, samples: 90 }, null],
  ['does well', canary, { ...canary, state: 'green' }, 'CanaryGreen'],
  ['fails and goes on', canary, { ...canary, state: 'red' }, 'CanaryRed'],
  ['was rolled back, which Activated tells', canary, { ...canary, state: 'red', percent: '0' }, null],
  ['begins a window', { ...canary, state: 'green' }, canary, null],
  ['is another', canary, { ...canary, endpointId: 'ep_b' }, 'CanaryStarted'],
  ['is gone', canary, null, null],
])('a canary that %s', (_, before, after, expected) => {
  const object = { status: before === undefined ? {} : { canary: before } } as unknown as RoutingPolicy;
  expect(canaryChange(object, conclusion({}, { canary: after }))?.reason ?? null).toBe(expected);
});
