// One look at a Project or ApiKey: what is common to both. The kind's own `settle` brings service and Secret to what the
// object says, its own `release` ends that. The status is written once, at the end, and only when it changed.
import { ApiFault, type KubernetesApi, MERGE_PATCH } from '../cluster/kubernetes.ts';
import type { Again } from '../cluster/queue.ts';
import type { Log } from '../log.ts';
import { attempt, NotLeading } from '../look/attempt.ts';
import type { EventReason, Recorder } from '../look/events.ts';
import { isEventReason } from '../look/events.ts';
import {
  Blocked,
  connectionOf,
  faultOf,
  isEnding,
  isRefusal,
  objectPath,
  type ServiceSettings,
  Silence,
} from '../look/gather.ts';
import { PATIENCE_MS } from '../look/release.ts';
import type { OperatorMetrics } from '../metrics.ts';
import type { RateGate } from '../rate-gate.ts';
import type { Result } from '../rest.ts';
import { elapsedMs, now, randomUnit } from '../system.ts';
import { annotations, conditionOf, isAnnotated, keyOf, splitKey } from '../types.ts';
import { type AccessService, openAccess } from './service.ts';
import { accessPatch, type Conclusion, fieldsOf, known, no } from './status.ts';
import { ACCESS_FINALIZER, type AccessKind, type AccessObject, plurals } from './types.ts';

export interface AccessParts {
  readonly api: KubernetesApi;
  readonly settings: ServiceSettings & { readonly cluster: string; readonly resync_ms: number };
  readonly metrics: OperatorMetrics;
  readonly gate: RateGate;
  readonly recorder: Recorder;
  readonly log: Log;
  isLeading(): boolean;
}

/** What one look at an object may use. */
export interface Hand<T extends AccessObject> {
  /** As it was read, or as a write of this look left it. */
  object: T;
  readonly manifest: string;
  readonly base_url: string;
  readonly service: AccessService;
  readonly api: KubernetesApi;
  /** Before each write: this process leads, and the finalizer stands, so that what is written is found again. */
  claim(): Promise<void>;
  assertLeading(): void;
  tell(reason: EventReason, message: string): Promise<void>;
}

/** What a kind makes of its object. */
export interface Outcome extends Conclusion {
  readonly again: Again | 'resync';
}

export interface Kind<T extends AccessObject> {
  readonly kind: AccessKind;
  /** When to look again, where a glance shows that nothing changed since the last look; null: look. */
  glance?(object: T, api: KubernetesApi): Promise<Again | null>;
  /** @throws Blocked, Silence, Refusal, ApiFault. */
  settle(hand: Hand<T>): Promise<Outcome>;
  /** Ends what the object made; null once nothing is left, else why it waits. @throws as settle. */
  release(hand: Hand<T>): Promise<{ readonly reason: EventReason; readonly message: string } | null>;
  forget?(key: string): void;
}

/** The service refused a step for what it is. */
export class Refusal extends Error {}

/** The value of an answer to a step. @throws Refusal, Blocked, Silence. */
export function done<T>(answer: Result<T>): T {
  if (answer.ok) return answer.value;
  throw isRefusal(answer.fault) ? new Refusal(answer.fault.message) : faultOf(answer.fault);
}

/** Looks at objects of one kind by key. */
export class AccessReconciler<T extends AccessObject> {
  readonly #parts: AccessParts;
  readonly #kind: Kind<T>;
  readonly #silent_since = new Map<string, number>();

  constructor(parts: AccessParts, kind: Kind<T>) {
    this.#parts = parts;
    this.#kind = kind;
  }

  forget(key: string): void {
    this.#silent_since.delete(key);
    this.#kind.forget?.(key);
  }

  /** Looks at the object of `key` and says when it is looked at again. Never throws. */
  reconcile(key: string): Promise<Again> {
    return attempt(this.#parts, { object: key, kind: this.#kind.kind }, () => this.#object(key));
  }

  async #object(key: string): Promise<Again> {
    let object: T;
    try {
      object = await this.#parts.api.ask<T>('GET', this.#path(splitKey(key)));
    } catch (error) {
      if (!(error instanceof ApiFault) || error.status !== 404) throw error;
      this.forget(key);
      return 'never';
    }
    if (object.metadata.deletionTimestamp !== undefined) return this.#release(object);
    if (isAnnotated(object, annotations.suspend)) return this.#suspended(object);
    return (await this.#kind.glance?.(object, this.#parts.api)) ?? this.#settle(object);
  }

  #path(at: { readonly namespace: string; readonly name: string }): string {
    return objectPath(at, plurals[this.#kind.kind]);
  }

  async #suspended(object: T): Promise<Again> {
    const words = `not written: the annotation ${annotations.suspend} is "true"`;
    const findings = { Accepted: known(object, 'Accepted'), Synced: no('Suspended', words) };
    await this.#write(object, { findings, fields: fieldsOf(object) });
    return this.#resync();
  }

  #resync(): Again {
    return { after_ms: this.#parts.settings.resync_ms * (0.8 + randomUnit() * 0.4) };
  }

  async #hand(object: T): Promise<Hand<T>> {
    const { api, gate, metrics, recorder, settings } = this.#parts;
    const manifest = `k8s/${settings.cluster}/${keyOf(object.metadata)}`;
    const connection = await connectionOf({ api, settings }, object, manifest);
    const isWanted = () => this.#parts.isLeading();
    const assertLeading = () => {
      if (!isWanted()) throw new NotLeading('another operator leads');
    };
    const hand: Hand<T> = {
      ...{ object, manifest, api, assertLeading, base_url: connection.base_url },
      service: openAccess(connection, { gate, metrics, isWanted }),
      claim: async () => {
        assertLeading();
        const { finalizers = [], resourceVersion } = hand.object.metadata;
        if (finalizers.includes(ACCESS_FINALIZER)) return;
        const metadata = { resourceVersion, finalizers: [...finalizers, ACCESS_FINALIZER] };
        hand.object = await this.#patch(hand.object, '', { metadata });
      },
      tell: (reason, message) => recorder.tell(hand.object, reason, message),
    };
    return hand;
  }

  #patch(object: T, part: '' | '/status', patch: object): Promise<T> {
    return this.#parts.api.ask<T>('PATCH', `${this.#path(object.metadata)}${part}`, patch, MERGE_PATCH);
  }

  async #settle(found: T): Promise<Again> {
    const key = keyOf(found.metadata);
    let hand: Hand<T> | null = null;
    try {
      hand = await this.#hand(found);
      const outcome = await this.#kind.settle(hand);
      this.#silent_since.delete(key);
      await this.#write(hand.object, outcome);
      return outcome.again === 'resync' ? this.#resync() : outcome.again;
    } catch (error) {
      const object = hand?.object ?? found;
      const findings = this.#troubleOf(object, error as Error);
      if (findings !== null) await this.#write(object, { findings, fields: fieldsOf(object) });
      const turn_ms = error instanceof Silence ? error.retry_after_ms : null;
      return turn_ms === null ? 'backoff' : { after_ms: turn_ms };
    }
  }

  /** What a look that got no further says; null where the object may stay as it is for now. */
  #troubleOf(object: T, error: Error): Conclusion['findings'] | null {
    const key = keyOf(object.metadata);
    const Accepted = known(object, 'Accepted');
    if (error instanceof Blocked) {
      const { reason, message } = error.obstacle;
      return {
        Accepted: no(reason === 'InvalidPolicy' ? 'InvalidSpec' : reason, message),
        Synced: known(object, 'Synced'),
      };
    }
    if (error instanceof Refusal) return { Accepted, Synced: no('Refused', error.message) };
    if (!(error instanceof Silence)) throw error;
    const since_ms = this.#silent_since.get(key) ?? elapsedMs();
    this.#silent_since.set(key, since_ms);
    const ready = conditionOf(object, 'Ready');
    const keeps_word = ready?.status === 'True' && ready.observedGeneration === object.metadata.generation;
    // A key that works goes on working, and a stored project holds, while the service cannot be asked.
    if (keeps_word && elapsedMs() - since_ms < 2 * this.#parts.settings.resync_ms) return null;
    return { Accepted, Synced: no('ServiceUnavailable', error.message) };
  }

  async #write(object: T, conclusion: Conclusion): Promise<void> {
    const patch = accessPatch(object, conclusion, now());
    if (patch === null) return;
    if (!this.#parts.isLeading()) throw new NotLeading('another operator leads');
    const { resourceVersion } = object.metadata;
    await this.#patch(object, '/status', { metadata: { resourceVersion }, status: patch });
    this.#parts.metrics.statusWritten();
    for (const [type, finding] of Object.entries(conclusion.findings)) {
      const { status, reason, message } = finding;
      if (status !== 'False' || !isEventReason(reason)) continue;
      const before = conditionOf(object, type as 'Accepted' | 'Synced');
      if (before?.reason !== reason) await this.#parts.recorder.tell(object, reason, message);
    }
  }

  async #release(object: T): Promise<Again> {
    const { finalizers = [] } = object.metadata;
    if (!finalizers.includes(ACCESS_FINALIZER)) return 'never';
    for (const annotation of [annotations.force_delete, annotations.suspend]) {
      if (isAnnotated(object, annotation))
        return this.#free(object, `released by the annotation ${annotation}`);
    }
    try {
      const hand = await this.#hand(object);
      const waits = await this.#kind.release(hand);
      if (waits === null) return await this.#free(hand.object, null);
      return await this.#wait(object, waits);
    } catch (error) {
      const is_refused = error instanceof Refusal;
      if (!is_refused && !(error instanceof Blocked) && !(error instanceof Silence)) throw error;
      const reason = error instanceof Blocked ? error.obstacle.reason : 'ServiceUnavailable';
      return this.#wait(object, {
        reason: is_refused ? 'Refused' : reason,
        message: `deletion waits for the service: ${error.message}`,
      });
    }
  }

  /** Waits; in a namespace that ends not for ever. */
  async #wait(object: T, { reason, message }: { reason: EventReason; message: string }): Promise<Again> {
    const waited_ms = now().getTime() - Date.parse(object.metadata.deletionTimestamp ?? '');
    const ends = await isEnding(this.#parts.api, object.metadata.namespace);
    if (ends && waited_ms >= PATIENCE_MS) return this.#free(object, `its namespace ends: ${message}`);
    const findings = { Accepted: known(object, 'Accepted'), Synced: no(reason, message) };
    await this.#write(object, { findings, fields: fieldsOf(object) });
    return ends ? { after_ms: Math.max(500, PATIENCE_MS - waited_ms) } : 'backoff';
  }

  async #free(object: T, orphaned: string | null): Promise<Again> {
    const { finalizers = [], resourceVersion } = object.metadata;
    const { kind } = this.#kind;
    if (orphaned !== null) {
      this.#parts.log.warn({ object: keyOf(object.metadata), kind, why: orphaned }, 'object orphaned');
      await this.#parts.recorder.tell(object, 'Orphaned', orphaned);
    }
    const rest = finalizers.filter((one) => one !== ACCESS_FINALIZER);
    if (!this.#parts.isLeading()) throw new NotLeading('another operator leads');
    try {
      await this.#patch(object, '', { metadata: { resourceVersion, finalizers: rest } });
    } catch (error) {
      if (!(error instanceof ApiFault) || error.status !== 404) throw error;
    }
    this.forget(keyOf(object.metadata));
    return 'never';
  }
}
