// Events of Kubernetes, which `kubectl describe` shows under an object. Each is written once: a resync does not repeat
// what a condition already says. An event that cannot be written stops nothing.
import type { KubernetesApi } from '../cluster/kubernetes.ts';
import type { Log } from '../log.ts';
import { now, randomHex } from '../system.ts';
import type { Resource } from '../types.ts';

const eventReasons = {
  VersionCreated: 'Normal',
  Activated: 'Normal',
  Propagating: 'Normal',
  GatewaysChanged: 'Normal',
  Deactivated: 'Normal',
  CanaryStarted: 'Normal',
  CanaryGreen: 'Normal',
  CanaryRed: 'Warning',
  ProjectCreated: 'Normal',
  ProjectAdopted: 'Normal',
  ProjectArchived: 'Normal',
  ProjectReleased: 'Normal',
  KeyCreated: 'Normal',
  KeyRotated: 'Normal',
  KeyRevoked: 'Normal',
  Updated: 'Normal',
  InvalidPolicy: 'Warning',
  InvalidSpec: 'Warning',
  KeyBlocked: 'Warning',
  KeyEnded: 'Warning',
  ProjectInUse: 'Warning',
  ProjectNotReady: 'Normal',
  SecretConflict: 'Warning',
  SecretForbidden: 'Warning',
  SlugConflict: 'Warning',
  NotSupported: 'Warning',
  CredentialsMissing: 'Warning',
  CredentialsRejected: 'Warning',
  ScopeConflict: 'Warning',
  ActivationFailed: 'Warning',
  CanaryRolledBack: 'Warning',
  Refused: 'Warning',
  Drifted: 'Warning',
  ServiceUnavailable: 'Warning',
  Orphaned: 'Warning',
} as const;
export type EventReason = keyof typeof eventReasons;

/** Whether a condition's reason is also written as an event. */
export function isEventReason(reason: string): reason is EventReason {
  return Object.hasOwn(eventReasons, reason);
}

export interface Recorder {
  tell(object: Resource, reason: EventReason, message: string): Promise<void>;
}

/** The recorder of one operator process. */
export function openRecorder(api: KubernetesApi, log: Log, identity: string): Recorder {
  return {
    async tell({ apiVersion, kind, metadata }, reason, message) {
      const { namespace, name, uid, resourceVersion } = metadata;
      const at = now().toISOString();
      const event = {
        ...{ apiVersion: 'v1', kind: 'Event', reason, message: message.slice(0, 1_024) },
        metadata: { name: `${name.slice(0, 230).replace(/[.-]+$/, '')}.${randomHex(8)}`, namespace },
        involvedObject: { apiVersion, kind, namespace, name, uid, resourceVersion },
        type: eventReasons[reason],
        ...{ source: { component: 'svc-operator' }, reportingComponent: 'svc.dev/operator' },
        ...{ reportingInstance: identity, firstTimestamp: at, lastTimestamp: at, count: 1 },
      };
      try {
        await api.ask('POST', `/api/v1/namespaces/${namespace}/events`, event);
      } catch (error) {
        log.warn({ object: `${namespace}/${name}`, reason, message: (error as Error).message }, 'event lost');
      }
    },
  };
}
