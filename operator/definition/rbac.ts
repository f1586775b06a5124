// What the operator may do, least first: its tests run it with a service account of exactly these rules, and the chart's
// roles are compared with them.
import { type AccessKind, plurals } from '../access/types.ts';
import { GROUP, PLURAL } from '../types.ts';

export interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** On what is watched: a ClusterRole, or with `--watch-namespace` a Role in each of these namespaces. */
export const watchRules: readonly Rule[] = [
  { apiGroups: [GROUP], resources: [PLURAL], verbs: ['get', 'list', 'watch', 'patch'] },
  { apiGroups: [GROUP], resources: [`${PLURAL}/status`], verbs: ['patch'] },
  { apiGroups: [''], resources: ['events'], verbs: ['create'] },
  // Whether the namespace is being deleted.
  { apiGroups: [''], resources: ['namespaces'], verbs: ['get'] },
];

/** Besides `watchRules`, where `--manage` names `kind`. */
export function accessRules(kind: AccessKind): readonly Rule[] {
  const plural = plurals[kind];
  return [
    { apiGroups: [GROUP], resources: [plural], verbs: ['get', 'list', 'watch', 'patch'] },
    { apiGroups: [GROUP], resources: [`${plural}/status`], verbs: ['patch'] },
  ];
}

/** The Secrets that ApiKey objects write: each by its name, but for `create`, which cannot be bound to one. */
export function issuedSecretRules(names: readonly string[]): readonly Rule[] {
  return [
    { apiGroups: [''], resources: ['secrets'], verbs: ['create'] },
    { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'patch'], resourceNames: names },
  ];
}

/** The name of the cluster: a Role in kube-system, unless `--cluster-id` is set or `watchRules` are the cluster's. */
export const clusterNameRules: readonly Rule[] = [
  { apiGroups: [''], resources: ['namespaces'], verbs: ['get'], resourceNames: ['kube-system'] },
];

/** A Role in each namespace with policies: its Secrets by name, no others. */
export function secretRules(names: readonly string[]): readonly Rule[] {
  return [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'], resourceNames: names }];
}

/** A Role in the namespace of the lease. `create` cannot be bound to a name. */
export function leaseRules(name: string): readonly Rule[] {
  const apiGroups = ['coordination.k8s.io'];
  return [
    { apiGroups, resources: ['leases'], verbs: ['create'] },
    { apiGroups, resources: ['leases'], verbs: ['get', 'update'], resourceNames: [name] },
  ];
}
