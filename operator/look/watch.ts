// Keeps `status.gateways` true between resyncs: gateways come and go without any object changing. One request for each
// key that objects share tells how the gateways follow all its policies; an object whose status says otherwise is
// looked at again.
import type { Log } from '../log.ts';
import type { OperatorMetrics } from '../metrics.ts';
import type { RateGate } from '../rate-gate.ts';
import type { FollowedPolicy, Gateways, PolicyService } from '../rest.ts';
import { elapsedMs, pause } from '../system.ts';
import { keyOf, type RoutingPolicy } from '../types.ts';
import { projectOf } from './decide.ts';
import { serviceOf } from './gather.ts';

type ServiceParts = Parameters<typeof serviceOf>[0];

interface WatchParts extends Omit<ServiceParts, 'isLeading'> {
  readonly metrics: OperatorMetrics;
  readonly gate: RateGate;
  readonly log: Log;
  objects(): Iterable<RoutingPolicy>;
  /** Has an object looked at again. */
  poke(key: string): void;
}

/** Status is true within two seconds: this, a request and a reconcile. */
const EVERY_MS = 750;
/** The watch takes at most a twentieth of the time of a service that answers slowly, and asks after ten seconds all the same. */
const SHARE = 20;
const EVERY_MS_MAX = 10_000;
/** A Secret is read again after so long, and after every fault. */
const SERVICE_MS = 30_000;
/** An object whose status did not follow is looked at again after so long. */
const AGAIN_MS = 5_000;

/** What is remembered of one key. */
interface Watched {
  service: PolicyService | null;
  read_ms: number;
  due_ms: number;
  busy: boolean;
}

/** Objects of one key at one service are asked about together. */
export function groupOf({ metadata, spec }: RoutingPolicy): string {
  const { baseUrl = '', credentialsSecretRef: secret } = spec.connection;
  return `${metadata.namespace} ${baseUrl} ${secret.name} ${secret.key ?? ''}`;
}

function figures(gateways: Gateways | undefined): string {
  return gateways === undefined ? '' : `${gateways.applied}/${gateways.total}`;
}

/** How the gateways follow the object's policy, where that is not what its status says; null where it is. */
export function changedFigures(object: RoutingPolicy, followed: readonly FollowedPolicy[]): string | null {
  const { policyName, gateways } = object.status ?? {};
  const project_id = projectOf(object);
  const policy = followed.find(({ name }) => name === policyName);
  const scope = policy?.scopes.find((one) => one.project_id === project_id);
  // Where no version rules it, nothing follows: the resync says so, as it says of every drift.
  if (scope === undefined) return null;
  const found = figures(scope.gateways);
  return found === figures(gateways) ? null : found;
}

/** Watches until `signal`. Never throws: what cannot be asked is for the reconcile to report. */
export async function watchGateways(parts: WatchParts, signal: AbortSignal): Promise<void> {
  const groups = new Map<string, Watched>();
  const poked = new Map<string, { readonly figures: string; readonly at_ms: number }>();

  function compare(object: RoutingPolicy, followed: readonly FollowedPolicy[]): void {
    const key = keyOf(object.metadata);
    const changed = changedFigures(object, followed);
    if (changed === null) {
      poked.delete(key);
      return;
    }
    const last = poked.get(key);
    if (last?.figures === changed && elapsedMs() - last.at_ms < AGAIN_MS) return;
    poked.set(key, { figures: changed, at_ms: elapsedMs() });
    parts.poke(key);
  }

  async function look(watched: Watched, objects: readonly RoutingPolicy[]): Promise<void> {
    const [first] = objects;
    if (first === undefined) return;
    if (watched.service === null || elapsedMs() - watched.read_ms > SERVICE_MS) {
      // A limited key is left to the reconciles: the watch does not wait for its turn.
      watched.service = await serviceOf({ ...parts, isLeading: () => false }, first, '');
      watched.read_ms = elapsedMs();
    }
    const answer = await watched.service.following();
    if (!answer.ok) watched.service = null;
    else for (const object of objects) compare(object, answer.value);
  }

  while (!signal.aborted) {
    const byGroup = Map.groupBy([...parts.objects()].filter(isFollowed), groupOf);
    for (const group of groups.keys()) if (!byGroup.has(group)) groups.delete(group);
    for (const [group, objects] of byGroup) {
      const watched = groups.get(group) ?? { service: null, read_ms: 0, due_ms: 0, busy: false };
      groups.set(group, watched);
      const began_ms = elapsedMs();
      if (watched.busy || began_ms < watched.due_ms) continue;
      watched.busy = true;
      void look(watched, objects)
        .catch((error: Error) => {
          watched.service = null;
          parts.log.debug({ group, message: error.message }, 'gateways cannot be asked about');
        })
        .finally(() => {
          watched.busy = false;
          const took_ms = elapsedMs() - began_ms;
          const every_ms = Math.min(Math.max(EVERY_MS, SHARE * took_ms), EVERY_MS_MAX);
          watched.due_ms = elapsedMs() + Math.max(every_ms - took_ms, 0);
        });
    }
    await pause(EVERY_MS / 3, signal);
  }
}

/** Whether gateways follow the object: it is not on its way out, and a version of it rules. */
function isFollowed({ metadata, status }: RoutingPolicy): boolean {
  return metadata.deletionTimestamp === undefined && status?.activeVersion !== undefined;
}
