// One reconcile of one object: gather, decide, act, and again until no step is left; then the status, if it changed.

import { ApiFault, type KubernetesApi, MERGE_PATCH } from '../cluster/kubernetes.ts';
import type { Again } from '../cluster/queue.ts';
import type { Log } from '../log.ts';
import type { OperatorMetrics } from '../metrics.ts';
import type { RateGate } from '../rate-gate.ts';
import type { PolicyService, Result, VerdictView, VersionView } from '../rest.ts';
import { elapsedMs, now, randomUnit, sha256Hex } from '../system.ts';
import { canonicalText } from '../text.ts';
import { FINALIZER, keyOf, type RoutingPolicy, splitKey } from '../types.ts';
import { attempt, NotLeading } from './attempt.ts';
import {
  type Conclusion,
  decide,
  decideObstacle,
  decideSilence,
  projectOf,
  type Seen,
  type Step,
  stateAfter,
} from './decide.ts';
import { isEventReason, type Recorder } from './events.ts';
import {
  answered,
  Blocked,
  faultOf,
  holderOf,
  isEnding,
  isRefusal,
  objectPath,
  policyNameOf,
  readState,
  type ServiceSettings,
  Silence,
  serviceOf,
  withGateways,
} from './gather.ts';
import { withProject } from './project.ts';
import { decideRelease, decideStuck, decideUnasked, PATIENCE_MS, type Release } from './release.ts';
import { canaryChange, gatewaysChange, statusPatch } from './status.ts';

interface ReconcileParts {
  readonly api: KubernetesApi;
  readonly settings: ServiceSettings & {
    /** Uid of the cluster, the second part of every manifest's name. */
    readonly cluster: string;
    readonly console_url: string | null;
    readonly resync_ms: number;
  };
  readonly metrics: OperatorMetrics;
  readonly gate: RateGate;
  readonly recorder: Recorder;
  readonly log: Log;
  /** Whether this process may still write: asked before every step. */
  isLeading(): boolean;
  /** Has another object looked at, which this one touched. */
  poke(key: string): void;
}

/** Steps of one reconcile: write, activate, and each once more after a conflict; more is a fault. */
const STEPS_MAX = 6;
/** A canary's state is true within so long. */
const CANARY_MS = 20_000;
/** Gateways follow within a second. */
const SOON_MS = 600;

/** What was seen, with what is needed to act on it. */
interface Gathered extends Seen {
  readonly service: PolicyService;
  readonly text: string;
}

/** Reconciles objects by key; remembers of each only since when its service is silent. */
export class Reconciler {
  readonly #parts: ReconcileParts;
  readonly #silent_since = new Map<string, number>();
  readonly #soon = new Map<string, number>();

  constructor(parts: ReconcileParts) {
    this.#parts = parts;
  }

  /** Forgets a key whose object is gone. */
  forget(key: string): void {
    this.#silent_since.delete(key);
    this.#soon.delete(key);
  }

  /** Reconciles the object of `key` and says when it is looked at again. Never throws. */
  reconcile(key: string): Promise<Again> {
    return attempt(this.#parts, { object: key }, () => this.#object(key));
  }

  async #object(key: string): Promise<Again> {
    let object: RoutingPolicy;
    try {
      object = await this.#parts.api.ask<RoutingPolicy>('GET', objectPath(splitKey(key)));
    } catch (error) {
      if (!(error instanceof ApiFault) || error.status !== 404) throw error;
      this.forget(key);
      return 'never';
    }
    if (object.metadata.deletionTimestamp !== undefined) return this.#release(object);
    return this.#settle(object);
  }

  #againOf(key: string, { again }: Conclusion): Again {
    if (again !== 'soon') this.#soon.delete(key);
    if (again === 'backoff') return 'backoff';
    if (again === 'canary') {
      return { after_ms: Math.min(CANARY_MS, this.#parts.settings.resync_ms) * (0.8 + randomUnit() * 0.2) };
    }
    if (again === 'resync') return { after_ms: this.#parts.settings.resync_ms * (0.8 + randomUnit() * 0.4) };
    const times = this.#soon.get(key) ?? 0;
    this.#soon.set(key, times + 1);
    return { after_ms: Math.min(SOON_MS * 2 ** times, 30_000) };
  }

  #manifest({ metadata }: RoutingPolicy): string {
    return `k8s/${this.#parts.settings.cluster}/${keyOf(metadata)}`;
  }

  /** Brings the service to what the object says, and the status to what came of it. */
  async #settle(found: RoutingPolicy): Promise<Again> {
    const key = keyOf(found.metadata);
    let object = found;
    let conclusion: Conclusion | null;
    let seen: Gathered | null = null;
    let turn_ms: number | null = null;
    const track = (next: RoutingPolicy) => {
      object = next;
    };
    try {
      object = await this.#pinned(object);
      seen = await this.#gather(object);
      conclusion = await this.#steps(seen, track);
      this.#silent_since.delete(key);
    } catch (error) {
      if (error instanceof Blocked) {
        this.#silent_since.delete(key);
        conclusion = decideObstacle(object, error.obstacle);
      } else if (error instanceof Silence) {
        turn_ms = error.retry_after_ms;
        const since = this.#silent_since.get(key) ?? elapsedMs();
        this.#silent_since.set(key, since);
        conclusion = decideSilence(object, {
          message: error.message,
          since_ms: elapsedMs() - since,
          patience_ms: 2 * this.#parts.settings.resync_ms,
        });
      } else throw error;
    }
    if (conclusion !== null) await this.#writeStatus(object, conclusion, seen);
    if (turn_ms !== null) return { after_ms: turn_ms };
    return conclusion === null ? 'backoff' : this.#againOf(key, conclusion);
  }

  /** `object` with its project in the status. */
  #pinned(object: RoutingPolicy): Promise<RoutingPolicy> {
    const { uid, resourceVersion } = object.metadata;
    return withProject(this.#parts.api, object, (projectId) =>
      this.#patch(object, '/status', { metadata: { uid, resourceVersion }, status: { projectId } }),
    );
  }

  async #gather(object: RoutingPolicy): Promise<Gathered> {
    const { api } = this.#parts;
    const manifest = this.#manifest(object);
    const policy_name = policyNameOf(object);
    const service = await serviceOf(this.#parts, object, manifest);
    const text = canonicalText(policy_name, object.spec.policy);
    const verdict = await verdictOf(service, policy_name, text);
    const policy = await readState(service, object, policy_name);
    const held_by = policy?.managed_by ?? null;
    const holder =
      held_by === null || held_by === manifest ? null : await holderOf(api, object, { manifest, held_by });
    return {
      ...{ object, manifest, policy_name, verdict, policy, holder, service, text },
      content_hash: sha256Hex(text),
      refused: null,
    };
  }

  /** Acts step by step until there is no more to do. */
  async #steps(first: Gathered, track: (object: RoutingPolicy) => void): Promise<Conclusion> {
    let seen = first;
    let drift_reported = false;
    for (let steps = 0; steps < STEPS_MAX; steps++) {
      const decision = decide(seen);
      if (decision.kind === 'conclude') return decision.conclusion;
      const object = await this.#claim(seen.object);
      track(object);
      if (decision.drift !== null && !drift_reported) {
        await this.#parts.recorder.tell(object, 'Drifted', `${decision.drift}; taken back`);
        drift_reported = true;
      }
      const answer = await this.#act({ ...seen, object }, decision.step);
      seen = await this.#afterStep({ ...seen, object }, decision.step, answer);
    }
    throw new Error(`no end after ${STEPS_MAX} steps`);
  }

  /** What is seen after a step: the service as it is now, or who stands in the way, or why it was refused. */
  async #afterStep(seen: Gathered, step: Step, answer: Result<VersionView>): Promise<Gathered> {
    const { object, service, policy_name: name, manifest } = seen;
    if (answer.ok) {
      const state = stateAfter(seen, step, answer.value);
      // Between writing and activating no version is in force yet, so gateways are asked about once, at the end.
      const policy = step.do === 'write' ? state : await withGateways(service, object, { name, state });
      return { ...seen, policy, holder: null };
    }
    const { fault } = answer;
    const held_by = fault.code === 'managed_elsewhere' ? fault.managed_by : null;
    if (held_by === null || held_by === manifest) return { ...seen, holder: null, refused: { step, fault } };
    return { ...seen, holder: await holderOf(this.#parts.api, object, { manifest, held_by }) };
  }

  /** Puts the finalizer on before the first write: an object without it has left nothing in the service. */
  async #claim(object: RoutingPolicy): Promise<RoutingPolicy> {
    const { finalizers = [], resourceVersion } = object.metadata;
    if (finalizers.includes(FINALIZER)) return object;
    return this.#patch(object, '', { metadata: { resourceVersion, finalizers: [...finalizers, FINALIZER] } });
  }

  async #patch(object: RoutingPolicy, part: '' | '/status', patch: object): Promise<RoutingPolicy> {
    this.#assertLeading();
    return this.#parts.api.ask('PATCH', `${objectPath(object.metadata)}${part}`, patch, MERGE_PATCH);
  }

  #assertLeading(): void {
    if (!this.#parts.isLeading()) throw new NotLeading('another operator leads');
  }

  /** Does one step and logs it; a refusal of the step itself is an answer. @throws Blocked, Silence. */
  async #act(seen: Gathered, step: Step): Promise<Result<VersionView>> {
    this.#assertLeading();
    const { service, object, policy_name: name } = seen;
    const { take_over } = step;
    const project_id = projectOf(object);
    const ask = () => {
      if (step.do === 'write') {
        const once = onceOf(seen);
        return service.write({ name, yaml: seen.text, first: step.first, once, take_over });
      }
      if (step.do === 'activate') {
        return service.activate({ name, version: step.version, project_id, take_over });
      }
      return service.deactivate({ name, project_id, take_over });
    };
    const answer = await ask();
    if (!answer.ok) {
      if (isRefusal(answer.fault)) return answer;
      throw faultOf(answer.fault);
    }
    const { recorder, log } = this.#parts;
    const { version } = answer.value;
    log.info({ object: keyOf(object.metadata), policy: name, version, step: step.do }, 'step done');
    if (take_over && seen.holder !== null)
      this.#parts.poke(seen.holder.manifest.split('/').slice(2).join('/'));
    const where = project_id === null ? 'the organization' : project_id;
    if (step.do === 'write')
      await recorder.tell(object, 'VersionCreated', `version ${version} of policy ${name} stored`);
    else if (step.do === 'activate') {
      await recorder.tell(object, 'Activated', `version ${version} of policy ${name} rules ${where}`);
    } else await recorder.tell(object, 'Deactivated', `policy ${name} no longer rules ${where}`);
    return answer;
  }

  async #writeStatus(object: RoutingPolicy, conclusion: Conclusion, seen: Seen | null): Promise<void> {
    const status = statusPatch(object, {
      ...{ conclusion, policy_name: seen?.policy_name ?? null, now: now() },
      console_url: this.#parts.settings.console_url,
    });
    if (status === null) return;
    const { uid, resourceVersion } = object.metadata;
    await this.#patch(object, '/status', { metadata: { uid, resourceVersion }, status });
    this.#parts.metrics.statusWritten();
    await this.#tellChanges(object, conclusion);
  }

  /** Writes events for problems that are new. */
  async #tellChanges(object: RoutingPolicy, conclusion: Conclusion): Promise<void> {
    const announced = new Set<string>();
    const change = gatewaysChange(object, conclusion);
    if (change !== null) await this.#parts.recorder.tell(object, 'GatewaysChanged', change);
    const canary = canaryChange(object, conclusion);
    if (canary !== null) await this.#parts.recorder.tell(object, canary.reason, canary.message);
    for (const [type, { status, reason, message }] of Object.entries(conclusion.findings)) {
      if (status !== 'False' || !isEventReason(reason) || announced.has(reason)) continue;
      announced.add(reason);
      const known = object.status?.conditions?.find((one) => one.type === type);
      if (known?.reason === reason && known.message === message) continue;
      // Told where gateways that followed do not any more; that they are about to is no news.
      if (reason === 'Propagating' && known?.status !== 'True') continue;
      await this.#parts.recorder.tell(object, reason, message);
    }
  }

  async #release(object: RoutingPolicy): Promise<Again> {
    const { finalizers = [], resourceVersion } = object.metadata;
    if (!finalizers.includes(FINALIZER)) return 'never';
    const release = decideUnasked(object) ?? (await this.#letGo(object));
    if (release.kind !== 'free') return release.kind === 'wait' ? release.again : 'backoff';
    if (release.orphaned !== null) {
      // A namespace that is being deleted takes no new event; the log has it in any case.
      this.#parts.log.warn({ object: keyOf(object.metadata), why: release.orphaned }, 'policy orphaned');
      await this.#parts.recorder.tell(object, 'Orphaned', release.orphaned);
    }
    const rest = finalizers.filter((one) => one !== FINALIZER);
    try {
      await this.#patch(object, '', { metadata: { resourceVersion, finalizers: rest } });
    } catch (error) {
      if (!(error instanceof ApiFault) || error.status !== 404) throw error;
    }
    this.forget(keyOf(object.metadata));
    return 'never';
  }

  /** Has the service release the policy; waits while it cannot be asked. */
  async #letGo(object: RoutingPolicy): Promise<Release | { readonly kind: 'wait'; readonly again: Again }> {
    // Without a project nothing was ever written, and without one the organization would be meant.
    if (object.spec.scope.kind === 'Project' && projectOf(object) === null)
      return { kind: 'free', orphaned: null };
    try {
      const manifest = this.#manifest(object);
      const name = policyNameOf(object);
      const service = await serviceOf(this.#parts, object, manifest);
      const release = decideRelease(object, manifest, await readState(service, object, name));
      if (release.kind === 'free') return release;
      this.#assertLeading();
      const input = { name, project_id: release.project_id, release: true };
      const answer =
        release.kind === 'retain'
          ? await service.activate({ ...input, version: release.version })
          : await service.deactivate(input);
      // Gone with its project, deleted or taken over meanwhile: nothing of this object is left there.
      if (!answer.ok && !isRefusal(answer.fault)) throw faultOf(answer.fault);
      if (answer.ok && release.kind === 'deactivate') {
        await this.#parts.recorder.tell(object, 'Deactivated', `policy ${name} was let go`);
      }
      return { kind: 'free', orphaned: null };
    } catch (error) {
      if (!(error instanceof Blocked) && !(error instanceof Silence)) throw error;
      return this.#waitToLetGo(object, error);
    }
  }

  async #waitToLetGo(
    object: RoutingPolicy,
    error: Blocked | Silence,
  ): Promise<Release | { readonly kind: 'wait'; readonly again: Again }> {
    const waited_ms = now().getTime() - Date.parse(object.metadata.deletionTimestamp ?? '');
    const namespace_ends = await isEnding(this.#parts.api, object.metadata.namespace);
    const release = decideStuck({ namespace_ends, waited_ms }, error.message);
    if (release !== null) return release;
    const reason = error instanceof Blocked ? error.obstacle.reason : 'ServiceUnavailable';
    const conclusion = decideSilence(object, {
      ...{ message: `deletion waits for the service: ${error.message}`, since_ms: 1, patience_ms: 0 },
    }) as Conclusion;
    const Synced = { ...conclusion.findings.Synced, reason };
    await this.#writeStatus(object, { ...conclusion, findings: { ...conclusion.findings, Synced } }, null);
    const again = namespace_ends ? { after_ms: Math.max(500, PATIENCE_MS - waited_ms) } : 'backoff';
    return { kind: 'wait', again };
  }
}

/** Names the write, so that one lost answer or two operators at once make one version. */
function onceOf({ object, policy, content_hash }: Seen): string {
  const { uid, generation } = object.metadata;
  // The version before is part of the key: a policy deleted and created again within a day is written, not replayed.
  const after = Math.max(policy?.versions[0]?.version ?? 0, object.status?.version ?? 0);
  return `${uid}-${generation}-${after}-${content_hash}`;
}

async function verdictOf(service: PolicyService, name: string, text: string): Promise<VerdictView> {
  const answer = await service.validate(name, text);
  if (!answer.ok && answer.fault.status === 413) {
    const message = 'too large; expected at most 64 KiB as text';
    return { valid: false, path: '$', message, faults: [], notices: [] };
  }
  return answered(answer);
}
