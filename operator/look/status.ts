// The status of an object after a reconcile. Pure.

import { sameData } from '../text.ts';
import type { RoutingPolicy, RoutingPolicyStatus } from '../types.ts';
import { conditionsOf } from './conditions.ts';
import { type Conclusion, wantsActive } from './decide.ts';

interface StatusParts {
  readonly conclusion: Conclusion;
  /** Name in the service; null where the reconcile did not get as far. */
  readonly policy_name: string | null;
  readonly console_url: string | null;
  readonly now: Date;
}

function statusOf(object: RoutingPolicy, parts: StatusParts): RoutingPolicyStatus {
  const { conclusion, policy_name, console_url, now } = parts;
  const { version, content_hash, active_version, gateways, canary, findings } = conclusion;
  const before = object.status ?? {};
  const policyName = policy_name ?? before.policyName;
  const { generation } = object.metadata;
  return {
    observedGeneration: generation,
    ...(policyName === undefined ? {} : { policyName }),
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
