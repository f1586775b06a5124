// The custom resource as TypeScript sees it, and the few other objects of Kubernetes that the operator touches.
import type { PolicyDocument } from '@svc/core/policies/index.ts';

export const GROUP = 'svc.dev';
export const VERSION = 'v1alpha1';
export const KIND = 'RoutingPolicy';
export const PLURAL = 'routingpolicies';
export const FINALIZER = 'svc.dev/policy';
export const annotations = {
  /** "true": nothing is written to the service. */
  suspend: 'svc.dev/suspend',
  /** Any other value than before: reconciled at once. */
  force_sync: 'svc.dev/force-sync',
  /** "true": the object goes whatever the service says. */
  force_delete: 'svc.dev/force-delete',
} as const;

export interface ObjectMeta {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number;
  readonly creationTimestamp: string;
  readonly deletionTimestamp?: string;
  readonly finalizers?: readonly string[];
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Conditions that are True when all is well. */
export const conditionTypes = ['Accepted', 'Synced', 'Activated', 'Ready'] as const;
/** True while gateways do not enforce what the object says yet: nothing is wrong then, and nothing is finished. */
export const PROPAGATING = 'Propagating';
export type ConditionType = (typeof conditionTypes)[number] | typeof PROPAGATING;

export interface Condition {
  readonly type: ConditionType;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration: number;
  readonly lastTransitionTime: string;
}

/** The service that an object is kept in, and the Secret with the key for it. */
export interface ConnectionSpec {
  readonly baseUrl?: string;
  readonly credentialsSecretRef: { readonly name: string; readonly key?: string };
}

/** What all objects of the operator have in common. */
export interface Resource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly spec: { readonly connection: ConnectionSpec };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly conditions?: readonly Condition[];
  };
}

export interface RoutingPolicySpec {
  readonly connection: ConnectionSpec;
  readonly policyName?: string;
  readonly scope: {
    readonly kind: 'Org' | 'Project';
    readonly projectId?: string;
    /** A Project object of the namespace. */
    readonly projectRef?: { readonly name: string };
  };
  readonly activate?: boolean;
  readonly driftPolicy?: 'Correct' | 'Report';
  readonly deletionPolicy?: 'Deactivate' | 'Retain';
  readonly policy: Omit<PolicyDocument, 'version' | 'policy'>;
}

/** An endpoint on trial; rates are text in a status. */
export interface CanaryStatus {
  readonly endpointId: string;
  readonly state: string;
  /** Empty without calls. */
  readonly errorRate: string;
  readonly samples: number;
  /** Of the calls that could go there; 0 once it was rolled back. */
  readonly percent: string;
  /** Why the state is what it is. */
  readonly reason: string;
}

export interface RoutingPolicyStatus {
  readonly observedGeneration?: number;
  readonly policyName?: string;
  /** Of scope Project; noted before anything is written to the service. */
  readonly projectId?: string;
  readonly version?: number;
  readonly activeVersion?: number;
  readonly contentHash?: string;
  readonly url?: string;
  readonly lastSyncedAt?: string;
  readonly gateways?: { readonly applied: number; readonly total: number };
  readonly canary?: CanaryStatus;
  readonly conditions?: readonly Condition[];
}

export interface RoutingPolicy {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: ObjectMeta;
  readonly spec: RoutingPolicySpec;
  readonly status?: RoutingPolicyStatus;
}

/** `namespace/name`: the key of an object in queue, cache and logs. */
export function keyOf({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${namespace}/${name}`;
}

/** Namespace and name of a key. */
export function splitKey(key: string): { namespace: string; name: string } {
  const at = key.indexOf('/');
  return { namespace: key.slice(0, at), name: key.slice(at + 1) };
}

/** The condition of `type`, where the object has one. */
export function conditionOf(object: Pick<Resource, 'status'>, type: ConditionType): Condition | undefined {
  return object.status?.conditions?.find((condition) => condition.type === type);
}

/** Whether an annotation says "true". */
export function isAnnotated(object: Resource, annotation: string): boolean {
  return object.metadata.annotations?.[annotation] === 'true';
}
