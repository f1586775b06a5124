// Assembles the operator: the election and, while it leads, an informer that fills the queue of reconciles.
import { hostname } from 'node:os';
import { KubeConfig } from '@kubernetes/client-node';
import { type AccessRun, placesOf, startAccess } from './access/start.ts';
import { type Informer, startInformer } from './cluster/informer.ts';
import { ApiFault, type KubernetesApi, openKubernetes } from './cluster/kubernetes.ts';
import { startElection } from './cluster/leader.ts';
import { backoffMs, type Queue, startQueue } from './cluster/queue.ts';
import { startHealth } from './health.ts';
import type { Log } from './log.ts';
import { openRecorder } from './look/events.ts';
import { Reconciler } from './look/reconcile.ts';
import { watchGateways } from './look/watch.ts';
import { type OperatorMetrics, openMetrics } from './metrics.ts';
import type { Options } from './options.ts';
import { openRateGate } from './rate-gate.ts';
import { elapsedMs, pause, randomHex, randomUnit } from './system.ts';
import { PLURAL, type RoutingPolicy } from './types.ts';

const BACKOFF = { backoff_first_ms: 1_000, backoff_max_ms: 300_000, random: randomUnit };

export interface Operator {
  /** Of /healthz, /readyz and /metrics. */
  readonly health_url: string;
  /** Gives the lease back and resolves when running reconciles have ended. */
  stop(): Promise<void>;
}

function loadConfig(file: string | null): KubeConfig {
  const config = new KubeConfig();
  if (file === null) config.loadFromDefault();
  else config.loadFromFile(file);
  return config;
}

/** The uid of the namespace kube-system, which identifies the cluster; asked for until there is an answer. */
async function clusterOf(api: KubernetesApi, log: Log, signal: AbortSignal): Promise<string | null> {
  for (let failures = 1; !signal.aborted; failures++) {
    try {
      const { metadata } = await api.ask<{ metadata: { uid: string } }>(
        'GET',
        '/api/v1/namespaces/kube-system',
      );
      return metadata.uid;
    } catch (error) {
      const message =
        error instanceof ApiFault && error.status === 403
          ? 'may not read namespace kube-system; grant it, or set --cluster-id'
          : (error as Error).message;
      log.warn({ message }, 'the cluster has no name yet');
      await pause(backoffMs(failures, { ...BACKOFF, backoff_max_ms: 30_000 }), signal);
    }
  }
  return null;
}

function isInConflict({ status }: RoutingPolicy): boolean {
  return status?.conditions?.some(({ reason }) => reason === 'ScopeConflict') === true;
}

class Leadership {
  readonly #options: Options;
  readonly #api: KubernetesApi;
  readonly #log: Log;
  readonly #identity: string;
  queue: Queue | null = null;
  informer: Informer<RoutingPolicy> | null = null;
  access: readonly AccessRun[] = [];

  constructor(parts: { options: Options; api: KubernetesApi; log: Log; identity: string }) {
    this.#options = parts.options;
    this.#api = parts.api;
    this.#log = parts.log;
    this.#identity = parts.identity;
  }

  /** Does a leader's work until `signal`. */
  async lead(signal: AbortSignal, metrics: OperatorMetrics, isLeading: () => boolean): Promise<void> {
    const options = this.#options;
    const cluster = options.cluster_id ?? (await clusterOf(this.#api, this.#log, signal));
    if (cluster === null) return;
    const { base_url, allowed_base_url: allowed_base_urls, console_url } = options;
    const queue: Queue = startQueue((key) => reconciler.reconcile(key), {
      ...{ workers: options.workers, ...BACKOFF },
    });
    const shared = {
      api: this.#api,
      settings: {
        ...{ base_url, allowed_base_urls, console_url, cluster },
        resync_ms: options.resync_seconds * 1_000,
      },
      // Half of the workers stay free for the objects of other keys.
      gate: openRateGate(Math.ceil(options.workers / 2)),
      ...{ metrics, log: this.#log },
      poke: (key: string) => queue.add(key),
    };
    const recorder = openRecorder(this.#api, this.#log, this.#identity);
    const reconciler = new Reconciler({ ...shared, isLeading, recorder });
    this.queue = queue;
    const informer = startInformer<RoutingPolicy>(
      this.#api,
      placesOf(options.watch_namespace, PLURAL),
      {
        changed: (key) => queue.add(key),
        gone(key) {
          queue.forget(key);
          reconciler.forget(key);
          // What it held may be another's now.
          for (const [other, object] of informer.objects) if (isInConflict(object)) queue.add(other);
        },
      },
      { signal, log: this.#log, relisted: () => metrics.relisted() },
    );
    this.informer = informer;
    const watched = watchGateways({ ...shared, objects: () => informer.objects.values() }, signal);
    const namespaces = options.watch_namespace;
    this.access = options.manage.map((kind) =>
      startAccess(
        kind,
        { ...shared, isLeading, recorder, namespaces, workers: options.workers, backoff: BACKOFF },
        signal,
      ),
    );
    await Promise.all([informer.ended, watched, ...this.access.map((run) => run.informer.ended)]);
    await Promise.all([queue.stop(), ...this.access.map((run) => run.queue.stop())]);
    this.access = [];
    this.queue = null;
    this.informer = null;
  }
}

/** Starts the operator; it works once it leads. @throws Error where cluster or port cannot be had. */
export async function startOperator(options: Options, log: Log): Promise<Operator> {
  const api = openKubernetes(loadConfig(options.kubeconfig));
  const identity = options.identity ?? `${hostname()}-${randomHex(4)}`;
  const leadership = new Leadership({ options, api, log, identity });
  const ending = new AbortController();
  const isLeading = () => election.isLeading();
  const metrics = openMetrics({
    queueDepth: () =>
      leadership.access.reduce((sum, { queue }) => sum + queue.depth(), leadership.queue?.depth() ?? 0),
    isLeading,
    objects: () => leadership.informer?.objects.values() ?? [],
    accessObjects: () => leadership.access.flatMap(({ informer }) => [...informer.objects.values()]),
  });
  const lease_ms = options.lease_seconds * 1_000;
  const election = startElection(
    api,
    { namespace: options.lease_namespace, name: options.lease_name, identity, lease_ms },
    { signal: ending.signal, log, lead: (signal) => leadership.lead(signal, metrics, isLeading) },
  );
  let ended = false;
  election.ended.then(
    () => {
      ended = true;
    },
    (error: unknown) => {
      ended = true;
      log.error({ message: (error as Error).message }, 'election ended');
    },
  );
  const health = await startHealth(
    {
      registry: metrics.registry,
      live: () => (ended ? 'the election has ended' : null),
      ready() {
        if (elapsedMs() - election.lastAnswerMs() > 2 * lease_ms) return 'no answer from the API server';
        const informers = [leadership.informer, ...leadership.access.map(({ informer }) => informer)];
        if (isLeading() && informers.some((one) => one?.isSynced() !== true))
          return 'the objects are not listed yet';
        return null;
      },
    },
    { host: options.health_host, port: options.health_port },
  );
  return {
    health_url: health.url,
    async stop() {
      ending.abort();
      await election.ended.catch(() => {});
      await health.stop();
      api.close();
    },
  };
}
