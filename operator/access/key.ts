// An ApiKey object: a key of the service in a Secret, rotated when asked or due, and revoked with the object.
import { ApiFault, type KubernetesApi } from '../cluster/kubernetes.ts';
import type { Again } from '../cluster/queue.ts';
import { answered, objectPath } from '../look/gather.ts';
import { elapsedMs, now, randomUnit } from '../system.ts';
import { keyOf } from '../types.ts';
import { decideKey, type KeySeen, type KeyStep, type SecretSeen, settingsOf } from './decide-key.ts';
import { done, type Hand, type Kind, type Outcome } from './reconcile.ts';
import { readSecret, writeSecret } from './secret.ts';
import type { KeyView } from './service.ts';
import { no, ok } from './status.ts';
import { type ApiKeyObject, type ProjectObject, plurals } from './types.ts';

/** Create or rotate, settings, strays, and each once more after another operator's. */
const STEPS_MAX = 8;
/** Secrets cannot be watched by name without a watch each, so a lost one is noticed after so long at most. */
const GLANCE_MS = 10_000;
const PROJECT_MS = 2_000;

/** The project that the key belongs to; null while it is not there yet. */
async function projectOf(api: KubernetesApi, { metadata, spec }: ApiKeyObject): Promise<string | null> {
  if (spec.projectRef === undefined) return spec.projectId ?? null;
  const at = { namespace: metadata.namespace, name: spec.projectRef.name };
  try {
    const { metadata: found, status } = await api.ask<ProjectObject>('GET', objectPath(at, plurals.Project));
    return found.deletionTimestamp === undefined ? (status?.projectId ?? null) : null;
  } catch (error) {
    if (error instanceof ApiFault && error.status === 404) return null;
    throw error;
  }
}

/** What must be as it was for a look to find nothing new, the service aside. */
function stateOf({ metadata }: ApiKeyObject, project_id: string | null, secret: SecretSeen | null): string {
  const { uid, generation, annotations } = metadata;
  return JSON.stringify([uid, generation, annotations, project_id, secret?.version]);
}

async function seeKey(hand: Hand<ApiKeyObject>, project_id: string): Promise<KeySeen> {
  const { api, object, base_url, service } = hand;
  const secret = await readSecret(api, object);
  const keys = answered(await service.keys());
  return { object, project_id, base_url, keys, secret, now: now() };
}

async function take(hand: Hand<ApiKeyObject>, seen: KeySeen, step: KeyStep): Promise<void> {
  const { api, service, object, base_url } = hand;
  const { uid } = object.metadata;
  const { secret, project_id } = seen;
  if (step.do === 'note') return writeSecret(api, object, { seen: secret, base_url, key: null });
  if (step.do === 'update') {
    done(await service.updateKey(step.id, step.body));
    return hand.tell('Updated', `key ${step.id} has the settings of the manifest`);
  }
  if (step.do === 'revoke') {
    done(await service.revokeKey(step.id));
    return hand.tell('KeyRevoked', `key ${step.id}, which is not in the Secret, was revoked`);
  }
  if (step.do === 'rotate') {
    const { id, grace_seconds, why } = step;
    const key = done(await service.rotateKey(id, { grace_seconds }, `${uid}-${id}-${grace_seconds}`));
    await writeSecret(api, object, { seen: secret, base_url, key });
    return hand.tell('KeyRotated', `key ${id} was rotated to ${key.id}: ${why}`);
  }
  const { environment, expiresIn } = object.spec;
  const body = {
    ...{ project_id, ...settingsOf(object) },
    ...(environment === undefined ? {} : { environment }),
    ...(expiresIn === undefined ? {} : { expires_in: expiresIn }),
  };
  const key = done(await service.createKey(body, `${uid}-${object.metadata.generation}-${step.after}`));
  await writeSecret(api, object, { seen: secret, base_url, key });
  return hand.tell('KeyCreated', `key ${key.id} is in Secret ${object.spec.secretRef.name}`);
}

function fieldsOfKey({ spec }: ApiKeyObject, key: KeyView, rotates_at: Date | null) {
  const seconds = (time: string | Date) => `${new Date(time).toISOString().slice(0, 19)}Z`;
  return {
    ...{ keyId: key.id, projectId: key.project_id, secretName: spec.secretRef.name },
    createdAt: seconds(key.created_at),
    ...(key.expires_at === null ? {} : { expiresAt: seconds(key.expires_at) }),
    ...(rotates_at === null ? {} : { rotatesAt: seconds(rotates_at) }),
  };
}

/** The words for a Secret that the operator may not touch; null for another fault. */
function forbidden(object: ApiKeyObject, error: unknown): Outcome | null {
  if (!(error instanceof ApiFault) || error.status !== 403) return null;
  const { namespace } = object.metadata;
  const message =
    `the operator may not read and write Secret ${namespace}/${object.spec.secretRef.name}; ` +
    'grant it create on secrets, and get and patch on this name';
  const finding = no('SecretForbidden', message);
  return { findings: { Accepted: finding, Synced: finding }, fields: {}, again: 'backoff' };
}

class KeyKind implements Kind<ApiKeyObject> {
  readonly kind = 'ApiKey';
  readonly #resync_ms: number;
  /** What the last look found, and until when a glance is enough. */
  readonly #settled = new Map<string, { readonly state: string; readonly until_ms: number }>();

  constructor(resync_ms: number) {
    this.#resync_ms = resync_ms;
  }

  forget(key: string): void {
    this.#settled.delete(key);
  }

  async glance(object: ApiKeyObject, api: KubernetesApi): Promise<Again | null> {
    const settled = this.#settled.get(keyOf(object.metadata));
    if (settled === undefined || elapsedMs() > settled.until_ms) return null;
    try {
      const state = stateOf(object, await projectOf(api, object), await readSecret(api, object));
      return state === settled.state ? this.#soon(settled.until_ms) : null;
    } catch (error) {
      if (forbidden(object, error) === null) throw error;
      return null;
    }
  }

  #soon(until_ms: number): Again {
    return {
      after_ms: Math.max(50, Math.min(GLANCE_MS * (0.8 + randomUnit() * 0.2), until_ms - elapsedMs())),
    };
  }

  async settle(hand: Hand<ApiKeyObject>): Promise<Outcome> {
    this.#settled.delete(keyOf(hand.object.metadata));
    const project_id = await projectOf(hand.api, hand.object);
    if (project_id === null) {
      const { projectRef } = hand.object.spec;
      const finding = no(
        'ProjectNotReady',
        `spec.projectRef: Project ${projectRef?.name} has no project yet`,
      );
      const findings = { Accepted: finding, Synced: finding };
      return { findings, fields: {}, again: { after_ms: PROJECT_MS } };
    }
    try {
      return await this.#steps(hand, project_id);
    } catch (error) {
      const outcome = forbidden(hand.object, error);
      if (outcome === null) throw error;
      return outcome;
    }
  }

  async #steps(hand: Hand<ApiKeyObject>, project_id: string): Promise<Outcome> {
    for (let steps = 0; steps < STEPS_MAX; steps++) {
      const seen = await seeKey(hand, project_id);
      const decision = decideKey(seen);
      if (decision.kind === 'blocked') {
        const finding = no(decision.reason, decision.message);
        return { findings: { Accepted: finding, Synced: finding }, fields: {}, again: 'backoff' };
      }
      if (decision.kind === 'act') {
        await hand.claim();
        await take(hand, { ...seen, object: hand.object }, decision.step);
        continue;
      }
      return this.#done(hand.object, seen, decision);
    }
    throw new Error(`no end after ${STEPS_MAX} steps`);
  }

  #done(
    object: ApiKeyObject,
    seen: KeySeen,
    { key, rotates_at }: { readonly key: KeyView; readonly rotates_at: Date | null },
  ): Outcome {
    const due_ms = rotates_at === null ? Number.POSITIVE_INFINITY : rotates_at.getTime() - seen.now.getTime();
    const until_ms = elapsedMs() + Math.min(this.#resync_ms * (0.8 + randomUnit() * 0.4), due_ms);
    const state = stateOf(object, seen.project_id, seen.secret);
    this.#settled.set(keyOf(object.metadata), { state, until_ms });
    const Synced = ok('Stored', `key ${key.id} is in Secret ${object.spec.secretRef.name}`);
    return {
      findings: { Accepted: ok('Valid', 'the key can be made'), Synced },
      ...{ fields: fieldsOfKey(object, key, rotates_at), again: this.#soon(until_ms) },
    };
  }

  /** Every key that works is revoked, those too that never came into the Secret. */
  async release(hand: Hand<ApiKeyObject>): ReturnType<Kind<ApiKeyObject>['release']> {
    for (const status of ['active', 'rotating', 'blocked'] as const) {
      for (const { id } of answered(await hand.service.keys(status))) {
        hand.assertLeading();
        done(await hand.service.revokeKey(id));
        await hand.tell('KeyRevoked', `key ${id} was revoked`);
      }
    }
    return null;
  }
}

/** The kind, with what it remembers of its objects. */
export function keyKind(resync_ms: number): Kind<ApiKeyObject> {
  return new KeyKind(resync_ms);
}
