// The status of an object after a reconcile. Pure.

import { sameData } from '../text.ts';
import type { RoutingPolicy, RoutingPolicyStatus } from '../types.ts';
import { conditionsOf, type Finding } from './conditions.ts';
import { type Conclusion, projectOf, wantsActive } from './decide.ts';

interface StatusParts {
  readonly conclusion: Conclusion;
  /** Name in the service; null where the reconcile did not get as far. */
  readonly policy_name: string | null;
  readonly console_url: string | null;
  readonly now: Date;
}

/** Whether gateways are still to enforce what the object says; False also where there is nothing to enforce. */
export function propagation({ findings, version, active_version, gateways }: Conclusion): Finding {
  const idle = (reason: string, message: string): Finding => ({ status: 'False', reason, message });
  const { Accepted, Synced, Activated } = findings;
  if (Activated.reason === 'NotRequested') return idle('NotRequested', Activated.message);
  const unknown = [Accepted, Synced].find(({ status }) => status === 'Unknown');
  const is_silent = Synced.reason === 'ServiceUnavailable' || /^Credentials/.test(Accepted.reason);
  if (is_silent || unknown !== undefined) {
    const { reason, message } = unknown ?? (Accepted.status === 'True' ? Synced : Accepted);
    return { status: 'Unknown', reason, message };
  }
  if (Synced.status !== 'True') return idle('NotStored', 'this generation is not what gateways are given');
  if (version === null || active_version !== version || gateways === null) {
    return idle('NotActive', 'no version of this object is active');
  }
  const { applied, total } = gateways;
  const message = `${applied} of ${total} gateways enforce version ${version}`;
  return applied < total ? { status: 'True', reason: 'Propagating', message } : idle('Enforced', message);
}

function statusOf(object: RoutingPolicy, parts: StatusParts): RoutingPolicyStatus {
  const { conclusion, policy_name, console_url, now } = parts;
  const { version, content_hash, active_version, gateways, canary, findings } = conclusion;
  const before = object.status ?? {};
  const policyName = policy_name ?? before.policyName;
  const project_id = projectOf(object);
  const { generation } = object.metadata;
  return {
    observedGeneration: generation,
    ...(policyName === undefined ? {} : { policyName }),
    ...(project_id === null ? {} : { projectId: project_id }),
    ...(version === null ? {} : { version }),
    ...(active_version === null ? {} : { activeVersion: active_version }),
    ...(content_hash === null ? {} : { contentHash: content_hash }),
    ...(console_url === null || policyName === undefined
      ? {}
      : { url: `${console_url}/policies/${policyName}` }),
    ...(gateways === null ? {} : { gateways }),
    ...(canary === null ? {} : { canary }),
    ...(before.lastSyncedAt === undefined ? {} : { lastSyncedAt: before.lastSyncedAt }),
    conditions: conditionsOf(findings, {
      before: before.conditions ?? [],
      wants_active: wantsActive(object),
      propagating: propagation(conclusion),
      ...{ generation, now },
    }),
  };
}

/** The merge patch that brings the object's status to what a reconcile concluded; null where nothing changes. */
export function statusPatch(
  object: RoutingPolicy,
  parts: StatusParts,
): { readonly [name: string]: unknown } | null {
  const before = object.status ?? {};
  const after = statusOf(object, parts);
  if (sameData(before, after)) return null;
  const is_synced = parts.conclusion.findings.Synced.status === 'True';
  const removed = Object.keys(before).filter((name) => !Object.hasOwn(after, name));
  return {
    ...after,
    // Of the last sync that changed something: a time that changes by itself would be a write each resync.
    ...(is_synced ? { lastSyncedAt: `${parts.now.toISOString().slice(0, 19)}Z` } : {}),
    ...Object.fromEntries(removed.map((name) => [name, null])),
  };
}

/** That there are more or fewer gateways than the status said, for people; null where there are as many. */
export function gatewaysChange(object: RoutingPolicy, { gateways }: Conclusion): string | null {
  const before = object.status?.gateways;
  if (before === undefined || gateways === null || before.total === gateways.total) return null;
  return `${gateways.total} gateways, of which ${gateways.applied} follow; before: ${before.total}`;
}

/** What became of the canary since the status was written, for people; a roll-back is told by condition Activated. */
export function canaryChange(
  object: RoutingPolicy,
  { canary }: Conclusion,
): { readonly reason: 'CanaryStarted' | 'CanaryGreen' | 'CanaryRed'; readonly message: string } | null {
  if (canary === null) return null;
  const before = object.status?.canary;
  const { endpointId, state, percent, reason } = canary;
  if (before?.endpointId === endpointId && before.state === state) return null;
  if (state === 'green')
    return {
      reason: 'CanaryGreen',
      message: `canary ${endpointId} fails no more often than the calls beside it`,
    };
  if (state === 'red') {
    if (percent === '0') return null;
    return { reason: 'CanaryRed', message: `canary ${endpointId} fails, and goes on: ${reason}` };
  }
  if (before?.endpointId === endpointId) return null;
  return { reason: 'CanaryStarted', message: `canary ${endpointId} gets ${percent} % of the calls` };
}
