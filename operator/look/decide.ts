// What to do about one RoutingPolicy, from what was seen of it and of the service. Pure: a reconcile gathers, asks
// `decide`, acts on the one step it names, gathers again, until no step is left.

import type { CanaryView, Gateways, ServiceFault, VerdictView, VersionView } from '../rest.ts';
import { annotations, type CanaryStatus, conditionOf, isAnnotated, type RoutingPolicy } from '../types.ts';
import type { Finding, Findings } from './conditions.ts';

/** Another manifest that holds the policy or its scope. Unknown: it cannot be read, or is of another cluster. */
export interface Holder {
  readonly manifest: string;
  readonly age: 'older' | 'younger' | 'gone' | 'unknown';
}

/** The policy in the service; null where there is none. */
export interface PolicyState {
  readonly managed_by: string | null;
  /** Newest first. */
  readonly versions: readonly VersionView[];
  /** Of the version that rules the object's scope; null where none of the policy does. */
  readonly gateways: Gateways | null;
  /** Of that version; empty where it has none. */
  readonly canaries: readonly CanaryView[];
}

/** Something that keeps the service from being asked; reported in condition Accepted. */
export interface Obstacle {
  readonly reason:
    | 'InvalidPolicy'
    | 'InvalidSpec'
    | 'ProjectNotReady'
    | 'CredentialsMissing'
    | 'CredentialsRejected';
  readonly message: string;
}

export interface Seen {
  readonly object: RoutingPolicy;
  /** `k8s/<cluster>/<namespace>/<name>` of the object. */
  readonly manifest: string;
  readonly policy_name: string;
  readonly content_hash: string;
  readonly verdict: VerdictView;
  readonly policy: PolicyState | null;
  /** Who holds what this object wants, where somebody does. */
  readonly holder: Holder | null;
  /** The last step, where the service refused it. */
  readonly refused: { readonly step: Step; readonly fault: ServiceFault } | null;
}

export type Step =
  | { readonly do: 'write'; readonly first: boolean; readonly take_over: boolean }
  | { readonly do: 'activate'; readonly version: number; readonly take_over: boolean }
  | { readonly do: 'deactivate'; readonly take_over: boolean };

export interface Conclusion {
  readonly findings: Findings;
  readonly version: number | null;
  /** SHA-256 of that version's text. */
  readonly content_hash: string | null;
  readonly active_version: number | null;
  readonly gateways: Gateways | null;
  readonly canary: CanaryStatus | null;
  /** When to look again: by the resync, soon because gateways are about to follow, while a canary runs, or later and later. */
  readonly again: 'resync' | 'soon' | 'canary' | 'backoff';
}

export type Decision =
  /** `drift`: what of the service the step takes back; null where it takes back nothing. */
  | { readonly kind: 'act'; readonly step: Step; readonly drift: string | null }
  | { readonly kind: 'conclude'; readonly conclusion: Conclusion };

/** Id of the object's project; null for the organization. */
export function projectOf({ spec, status }: RoutingPolicy): string | null {
  return spec.scope.kind === 'Org' ? null : (spec.scope.projectId ?? status?.projectId ?? null);
}

export function wantsActive({ spec }: RoutingPolicy): boolean {
  return spec.activate !== false;
}

/** `path` of the policy's text as a path of the manifest. */
export function manifestPath(path: string): string {
  if (path === '$' || path === '') return 'spec.policy';
  return path.startsWith('[') ? `spec.policy${path}` : `spec.policy.${path}`;
}

/** Namespace and name out of `k8s/<cluster>/<namespace>/<name>`. */
function shownManifest(manifest: string): string {
  const [, cluster, namespace, name] = manifest.split('/');
  return name === undefined ? manifest : `RoutingPolicy ${namespace}/${name} of cluster ${cluster}`;
}

const ok = (reason: string, message: string): Finding => ({ status: 'True', reason, message });
const no = (reason: string, message: string): Finding => ({ status: 'False', reason, message });
const pending: Finding = { status: 'Unknown', reason: 'Pending', message: 'not looked at yet' };

/** A valid policy, with what the service remarks about it. */
function accepted({ verdict }: Seen): Finding {
  const notices = verdict.notices.map(({ path, message }) => `; notice: ${manifestPath(path)}: ${message}`);
  return ok('Valid', `the policy is valid${notices.join('')}`);
}

/** A condition as the object has it now: what a reconcile that got no further can still report. */
function currentFinding(object: RoutingPolicy, type: 'Accepted' | 'Synced' | 'Activated'): Finding {
  const known = conditionOf(object, type);
  if (known === undefined) return pending;
  // About an older generation only bad news may be repeated: good news about another text would be wrong.
  if (known.observedGeneration !== object.metadata.generation && known.status === 'True') return pending;
  return known;
}

/** The version of `state` that rules the object's scope. */
export function rulingVersion(object: RoutingPolicy, state: PolicyState | null): VersionView | null {
  const project_id = projectOf(object);
  const rules = ({ scopes }: VersionView) => scopes.some((scope) => scope.project_id === project_id);
  return state?.versions.find(rules) ?? null;
}

/** The policy after a step that the service answered with `answer`, without listing its versions again. */
export function stateAfter(seen: Seen, step: Step, answer: VersionView): PolicyState {
  const project_id = projectOf(seen.object);
  const others = (seen.policy?.versions ?? []).filter(({ version }) => version !== answer.version);
  const left =
    step.do === 'write'
      ? others
      : others.map((one) => ({
          ...one,
          scopes: one.scopes.filter((scope) => scope.project_id !== project_id),
        }));
  const versions = [answer, ...left].sort((a, b) => b.version - a.version);
  return { managed_by: answer.policy_managed_by, versions, gateways: null, canaries: [] };
}

/** The newest version that the object wrote. */
function ownVersion({ policy, manifest }: Seen): VersionView | null {
  return policy?.versions.find(({ managed_by }) => managed_by === manifest) ?? null;
}

function remembered(object: RoutingPolicy): Omit<Conclusion, 'findings' | 'again'> {
  const { version, contentHash, activeVersion, gateways, canary } = object.status ?? {};
  const content_hash = contentHash ?? null;
  return {
    version: version ?? null,
    content_hash,
    active_version: activeVersion ?? null,
    gateways: gateways ?? null,
    canary: canary ?? null,
  };
}

/** The service cannot be asked. Retried: the Secret or the Project may be created, the key may be renewed. */
export function decideObstacle(object: RoutingPolicy, { reason, message }: Obstacle): Conclusion {
  return {
    findings: {
      Accepted: no(reason, message),
      Synced: currentFinding(object, 'Synced'),
      Activated: currentFinding(object, 'Activated'),
    },
    ...remembered(object),
    // A project is made within a second of its object.
    again: reason === 'ProjectNotReady' ? 'soon' : 'backoff',
  };
}

/**
 * The service does not answer, or answers with a fault of its own. Null while the object may stay Ready: it was ready,
 * it has not changed, and the silence is shorter than `patience_ms`, two resyncs.
 */
export function decideSilence(
  object: RoutingPolicy,
  silence: { readonly message: string; readonly since_ms: number; readonly patience_ms: number },
): Conclusion | null {
  const { generation } = object.metadata;
  const ready = conditionOf(object, 'Ready');
  const keeps_word = ready?.status === 'True' && ready.observedGeneration === generation;
  if (keeps_word && silence.since_ms < silence.patience_ms) return null;
  return {
    findings: {
      Accepted: currentFinding(object, 'Accepted'),
      Synced: no('ServiceUnavailable', silence.message),
      Activated: currentFinding(object, 'Activated'),
    },
    ...remembered(object),
    again: 'backoff',
  };
}

/** The canary that a status shows: of several the worst. */
function canaryOf(canaries: readonly CanaryView[]): CanaryStatus | null {
  const order = ['red', 'pending', 'green'];
  const [worst] = canaries.toSorted((a, b) => order.indexOf(a.state) - order.indexOf(b.state));
  if (worst === undefined) return null;
  const { endpoint_id, state, error_rate, samples, percent, reason } = worst;
  const errorRate = error_rate?.toFixed(4) ?? '';
  return {
    endpointId: endpoint_id,
    state,
    errorRate,
    samples,
    percent: String(Number(percent.toFixed(2))),
    reason,
  };
}

/** How the gateways follow the version that rules, and how its canaries do. */
function following({ policy }: Seen): Pick<Conclusion, 'gateways' | 'canary'> {
  return { gateways: policy?.gateways ?? null, canary: canaryOf(policy?.canaries ?? []) };
}

/** How the service differs from what the object last made of it; null where it does not. */
function driftOf(seen: Seen): string | null {
  const { object, policy, manifest, policy_name } = seen;
  const { version, activeVersion, observedGeneration } = object.status ?? {};
  if (version === undefined) return null;
  if (policy === null) return `policy ${policy_name} was deleted elsewhere`;
  if (policy.managed_by !== manifest) return `policy ${policy_name} was taken over elsewhere`;
  if (activeVersion === undefined || observedGeneration !== object.metadata.generation) return null;
  const ruling = rulingVersion(object, policy);
  if (ruling?.version === activeVersion) return null;
  return ruling === null
    ? `policy ${policy_name} was deactivated or replaced elsewhere`
    : `version ${ruling.version} of policy ${policy_name} was activated elsewhere`;
}

function decideConflict(seen: Seen, { manifest, age }: Holder): Decision {
  const relation = age === 'older' ? 'which is older' : 'which cannot be compared';
  const message = `the policy or its scope is managed by ${shownManifest(manifest)}, ${relation}`;
  const finding = no('ScopeConflict', message);
  const findings = { Accepted: finding, Synced: finding, Activated: finding };
  return {
    kind: 'conclude',
    conclusion: {
      ...remembered(seen.object),
      findings,
      active_version: null,
      gateways: null,
      canary: null,
      again: 'resync',
    },
  };
}

function decideInvalid(seen: Seen, { path, message, faults }: VerdictView): Decision {
  const is_unsupported = faults.length > 0 && faults.every(({ code }) => code === 'not_supported');
  const reason = is_unsupported ? 'NotSupported' : 'InvalidPolicy';
  const own = ownVersion(seen);
  const ruling = rulingVersion(seen.object, seen.policy);
  const kept = own === null ? 'nothing is stored' : `version ${own.version} stays`;
  const conclusion: Conclusion = {
    findings: {
      Accepted: no(reason, `${manifestPath(path)}: ${message}`),
      Synced: no(reason, `not stored; ${kept}`),
      Activated: currentFinding(seen.object, 'Activated'),
    },
    version: own?.version ?? null,
    content_hash: own?.content_hash ?? null,
    active_version: ruling?.version ?? null,
    ...following(seen),
    again: 'resync',
  };
  return { kind: 'conclude', conclusion };
}

/** A step that the service refused for good, in the condition that it belongs to. */
function decideRefused(seen: Seen, step: Step, fault: ServiceFault): Decision {
  const own = ownVersion(seen);
  const is_write = step.do === 'write';
  const message =
    fault.code === 'not_found' && !is_write
      ? `spec.scope.${seen.object.spec.scope.projectRef ? 'projectRef' : 'projectId'}: the organization of the key has no project ${projectOf(seen.object)}`
      : fault.message;
  const conclusion: Conclusion = {
    findings: {
      Accepted: accepted(seen),
      Synced: is_write ? no('Refused', message) : storedAs(own),
      Activated: is_write ? currentFinding(seen.object, 'Activated') : no('ActivationFailed', message),
    },
    version: own?.version ?? null,
    content_hash: own?.content_hash ?? null,
    active_version: rulingVersion(seen.object, seen.policy)?.version ?? null,
    ...following(seen),
    again: 'backoff',
  };
  return { kind: 'conclude', conclusion };
}

function storedAs(own: VersionView | null): Finding {
  return own === null ? pending : ok('Stored', `stored as version ${own.version}`);
}

/** What is left to do; null where the service is as the object wants it. */
function nextStep(seen: Seen): Step | null {
  const { object, policy, content_hash, manifest, holder } = seen;
  const take_over = holder !== null;
  const own = ownVersion(seen);
  if (policy === null) return { do: 'write', first: true, take_over };
  if (own === null || own.content_hash !== content_hash) return { do: 'write', first: false, take_over };
  const ruling = rulingVersion(object, policy);
  if (wantsActive(object)) {
    const rules = ruling?.version === own.version && policy.managed_by === manifest;
    return rules ? null : { do: 'activate', version: own.version, take_over };
  }
  return ruling !== null || policy.managed_by !== manifest ? { do: 'deactivate', take_over } : null;
}

function activation(seen: Seen, ruling: VersionView | null): Finding {
  if (!wantsActive(seen.object)) return no('NotRequested', 'spec.activate is false');
  const name = `version ${ruling?.version} of policy ${seen.policy_name}`;
  const halted = seen.policy?.canaries.find(({ state, percent }) => state === 'red' && percent === 0);
  if (halted !== undefined) {
    return no('CanaryRolledBack', `${name} goes on without canary ${halted.endpoint_id}: ${halted.reason}`);
  }
  const { applied, total } = seen.policy?.gateways ?? { applied: 0, total: 0 };
  if (applied >= total) return ok('Active', `${name} is active`);
  return no('Propagating', `${name} is active; ${applied} of ${total} gateways follow it`);
}

/** A canary is watched while it can still turn red. */
function againAfter({ policy }: Seen, activated: Finding): Conclusion['again'] {
  if (activated.reason === 'Propagating') return 'soon';
  return policy?.canaries.some(({ percent }) => percent > 0) === true ? 'canary' : 'resync';
}

function decideDone(seen: Seen): Decision {
  const ruling = rulingVersion(seen.object, seen.policy);
  const own = ownVersion(seen);
  const activated = activation(seen, ruling);
  const conclusion: Conclusion = {
    findings: { Accepted: accepted(seen), Synced: storedAs(own), Activated: activated },
    version: own?.version ?? null,
    content_hash: own?.content_hash ?? null,
    active_version: ruling?.version ?? null,
    ...following(seen),
    again: againAfter(seen, activated),
  };
  return { kind: 'conclude', conclusion };
}

/** The object is not to be enforced now: its status says so, and the resync looks at it again. */
function decideHeld(seen: Seen, reason: 'Drifted' | 'Suspended', message: string): Decision {
  const ruling = rulingVersion(seen.object, seen.policy);
  const own = ownVersion(seen);
  const conclusion: Conclusion = {
    findings: {
      Accepted: accepted(seen),
      Synced: no(reason, message),
      Activated:
        ruling === null
          ? no(reason, 'the policy does not rule its scope')
          : ok('Active', `version ${ruling.version} of policy ${seen.policy_name} is active`),
    },
    version: own?.version ?? null,
    content_hash: own?.content_hash ?? null,
    active_version: ruling?.version ?? null,
    ...following(seen),
    again: 'resync',
  };
  return { kind: 'conclude', conclusion };
}

/** The next step for `seen`, or what its status must say. Drift is corrected by the look that finds it. */
export function decide(seen: Seen): Decision {
  const { object, verdict, holder, refused } = seen;
  if (!verdict.valid) return decideInvalid(seen, verdict);
  if (holder !== null && (holder.age === 'older' || holder.age === 'unknown')) {
    return decideConflict(seen, holder);
  }
  if (refused !== null) return decideRefused(seen, refused.step, refused.fault);
  const step = nextStep(seen);
  const drift = holder === null ? driftOf(seen) : null;
  const suspended = isAnnotated(object, annotations.suspend);
  if (drift !== null) {
    if (object.spec.driftPolicy === 'Report') return decideHeld(seen, 'Drifted', `${drift}; reported only`);
    if (suspended) return decideHeld(seen, 'Drifted', `${drift}; suspended by ${annotations.suspend}`);
  }
  if (step === null) return decideDone(seen);
  if (suspended) {
    return decideHeld(seen, 'Suspended', `not written: the annotation ${annotations.suspend} is "true"`);
  }
  return { kind: 'act', step, drift };
}
