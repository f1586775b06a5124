// One of several operators leads: the holder of a Lease. The others watch its record. When it has not changed for the
// duration of the lease, measured by their own clock so that clocks need not agree, they try to take it, and
// resourceVersion lets one of them succeed. A leader that could not renew stops before another can begin.

import type { Log } from '../log.ts';
import { elapsedMs, now, pause, randomUnit } from '../system.ts';
import { ApiFault, type KubernetesApi } from './kubernetes.ts';

interface LeaseOptions {
  readonly namespace: string;
  readonly name: string;
  /** Who asks; differs between processes. */
  readonly identity: string;
  readonly lease_ms: number;
}

interface Lease {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly resourceVersion?: string };
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
    readonly acquireTime?: string;
    readonly renewTime?: string;
    readonly leaseTransitions?: number;
  };
}

interface Election {
  isLeading(): boolean;
  /** When the election last had an answer of the API server, by `elapsedMs`. */
  lastAnswerMs(): number;
  /** Resolves when led work has ended and the lease is given back, after the signal. */
  readonly ended: Promise<void>;
}

/** Kubernetes' MicroTime. */
function microTime(at: Date): string {
  return at.toISOString().replace('Z', '000Z');
}

class Candidate {
  readonly #api: KubernetesApi;
  readonly #options: LeaseOptions;
  readonly #path: string;
  /** The record as last seen, and since when it stands unchanged. */
  #seen: { record: string; since_ms: number } | null = null;
  #lease: Lease | null = null;
  last_answer_ms = 0;

  constructor(api: KubernetesApi, options: LeaseOptions) {
    this.#api = api;
    this.#options = options;
    this.#path = `/apis/coordination.k8s.io/v1/namespaces/${options.namespace}/leases`;
  }

  #spec(previous: Lease['spec'], renewing: boolean): NonNullable<Lease['spec']> {
    const at = microTime(now());
    const turns = previous?.leaseTransitions ?? 0;
    return {
      holderIdentity: this.#options.identity,
      leaseDurationSeconds: Math.ceil(this.#options.lease_ms / 1_000),
      acquireTime: renewing ? (previous?.acquireTime ?? at) : at,
      renewTime: at,
      leaseTransitions: renewing || previous === undefined ? turns : turns + 1,
    };
  }

  async #put(lease: Lease): Promise<void> {
    this.#lease = await this.#api.ask<Lease>('PUT', `${this.#path}/${lease.metadata.name}`, lease);
  }

  async #read(): Promise<Lease | null> {
    const { name } = this.#options;
    try {
      return await this.#api.ask<Lease>('GET', `${this.#path}/${name}`);
    } catch (error) {
      if (error instanceof ApiFault && error.status === 404) return null;
      throw error;
    }
  }

  /** Whether the lease is ours now. @throws ApiFault without an answer; false where another holds or takes it. */
  async acquire(): Promise<boolean> {
    const { name, namespace, identity } = this.#options;
    try {
      const lease = await this.#read();
      this.last_answer_ms = elapsedMs();
      if (lease === null) {
        const fresh = { metadata: { name, namespace }, spec: this.#spec(undefined, false) };
        this.#lease = await this.#api.ask<Lease>('POST', this.#path, {
          ...{ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' },
          ...fresh,
        });
        return true;
      }
      const holder = lease.spec?.holderIdentity ?? '';
      if (holder !== '' && holder !== identity && !this.#isStale(lease)) return false;
      await this.#put({ ...lease, spec: this.#spec(lease.spec, holder === identity) });
      return true;
    } catch (error) {
      // Another was quicker.
      if (error instanceof ApiFault && error.status === 409) return false;
      throw error;
    }
  }

  #isStale(lease: Lease): boolean {
    const record = JSON.stringify(lease.spec);
    if (this.#seen?.record !== record) {
      this.#seen = { record, since_ms: elapsedMs() };
      return false;
    }
    const theirs_ms = (lease.spec?.leaseDurationSeconds ?? 0) * 1_000;
    return elapsedMs() - this.#seen.since_ms >= Math.max(theirs_ms, this.#options.lease_ms);
  }

  /** Renews the lease. False where it is another's; @throws ApiFault without an answer. */
  async renew(): Promise<boolean> {
    if (this.#lease === null) return this.acquire();
    try {
      await this.#put({ ...this.#lease, spec: this.#spec(this.#lease.spec, true) });
      this.last_answer_ms = elapsedMs();
      return true;
    } catch (error) {
      if (!(error instanceof ApiFault) || (error.status !== 409 && error.status !== 404)) throw error;
      this.#lease = null;
      // Somebody touched the record; it may still name us.
      return this.acquire();
    }
  }

  /** Gives the lease back, so that the next leader need not wait. */
  async release(): Promise<void> {
    if (this.#lease === null) return;
    const spec = { ...this.#lease.spec, holderIdentity: '', leaseDurationSeconds: 1 };
    await this.#put({ ...this.#lease, spec });
  }
}

/** Campaigns until `signal`, and leads with `lead` whenever the lease is won; its signal ends with the leadership. */
export function startElection(
  api: KubernetesApi,
  options: LeaseOptions,
  parts: { readonly signal: AbortSignal; readonly log: Log; lead(signal: AbortSignal): Promise<void> },
): Election {
  const { signal, log } = parts;
  const candidate = new Candidate(api, options);
  const retry_ms = options.lease_ms / 7.5;
  let renewed_ms = 0;
  let leading = false;
  // Two thirds: in the last third the old leader has stopped and no other has begun.
  const isValid = () => elapsedMs() - renewed_ms < (options.lease_ms * 2) / 3;

  const attempt = async (ask: () => Promise<boolean>): Promise<boolean | null> => {
    const began = elapsedMs();
    try {
      const won = await ask();
      if (won) renewed_ms = began;
      return won;
    } catch (error) {
      log.warn({ message: (error as Error).message }, 'lease not answered');
      return null;
    }
  };
  const hold = async (ended: AbortController) => {
    while (!signal.aborted) {
      await pause(retry_ms, AbortSignal.any([signal, ended.signal]));
      if (signal.aborted || ended.signal.aborted) break;
      // An answer that comes too late is no answer.
      const late = pause((options.lease_ms * 2) / 3 - (elapsedMs() - renewed_ms), ended.signal).then(
        () => null,
      );
      const held = await Promise.race([attempt(() => candidate.renew()), late]);
      if (held === false || !isValid()) break;
    }
  };
  const term = async () => {
    const ended = new AbortController();
    leading = true;
    log.info({ identity: options.identity }, 'leading');
    const work = parts.lead(ended.signal).finally(() => ended.abort());
    await hold(ended);
    leading = false;
    ended.abort();
    log.info({ identity: options.identity }, 'no longer leading');
    await work;
  };
  const campaign = async () => {
    while (!signal.aborted) {
      if ((await attempt(() => candidate.acquire())) === true && !signal.aborted) await term();
      else await pause(retry_ms * (0.8 + randomUnit() * 0.4), signal);
    }
    await candidate.release().catch(() => {});
  };
  return {
    isLeading: () => leading && isValid(),
    lastAnswerMs: () => candidate.last_answer_ms,
    ended: campaign(),
  };
}
