// The gathering half of a reconcile: what the object says, which Secret opens the service, what the service has.

import { ApiFault, type KubernetesApi } from '../cluster/kubernetes.ts';
import type { OperatorMetrics } from '../metrics.ts';
import type { RateGate } from '../rate-gate.ts';
import { type Connection, openService, type PolicyService, type Result, type ServiceFault } from '../rest.ts';
import { GROUP, PLURAL, type Resource, type RoutingPolicy, VERSION } from '../types.ts';
import type { Holder, Obstacle, PolicyState } from './decide.ts';
import { rulingVersion } from './decide.ts';

/** The service does not answer, or with something that is no answer of it: retried, and reported after a while. */
export class Silence extends Error {
  /** Of a limited key: when to come back. Null: by back-off. */
  readonly retry_after_ms: number | null;
  constructor({ message, retry_after_ms }: Pick<ServiceFault, 'message' | 'retry_after_ms'>) {
    super(message);
    this.name = 'Silence';
    this.retry_after_ms = retry_after_ms;
  }
}

/** Something that the object's owner must correct before the service can be asked. */
export class Blocked extends Error {
  readonly obstacle: Obstacle;
  constructor(obstacle: Obstacle) {
    super(obstacle.message);
    this.name = 'Blocked';
    this.obstacle = obstacle;
  }
}

export interface ServiceSettings {
  /** Where objects that name no `baseUrl` go; null: each must name one. */
  readonly base_url: string | null;
  readonly allowed_base_urls: readonly string[];
}

const POLICY_NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;
/** Names of objects. One with a slash or of dots alone would be another path, to another namespace's Secret. */
const OBJECT_NAME = /^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/;

/** Path of one object in the API. */
export function objectPath(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  plural: string = PLURAL,
): string {
  return `/apis/${GROUP}/${VERSION}/namespaces/${namespace}/${plural}/${name}`;
}

/** The name that the object's policy has in the service. @throws Blocked. */
export function policyNameOf({ metadata, spec }: RoutingPolicy): string {
  const name = spec.policyName ?? `${metadata.namespace}-${metadata.name}`;
  if (POLICY_NAME.test(name)) return name;
  const message =
    `spec.policyName: ${JSON.stringify(name)}, made of namespace and name, is not a policy name; ` +
    'expected spec.policyName of a-z, 0-9 and -, at most 63 characters';
  throw new Blocked({ reason: 'InvalidPolicy', message });
}

function trimmed(url: string): string {
  return url.replace(/\/+$/, '');
}

/** The service of the object. @throws Blocked where it is not one that the operator may send tokens to. */
function baseUrlOf({ spec }: Resource, { base_url, allowed_base_urls }: ServiceSettings): string {
  const wanted = spec.connection.baseUrl ?? base_url;
  if (wanted === null) {
    const message = 'spec.connection.baseUrl: missing, and the operator has no default; expected an address';
    throw new Blocked({ reason: 'InvalidPolicy', message });
  }
  const url = trimmed(wanted);
  const allowed = base_url === null ? allowed_base_urls : [base_url, ...allowed_base_urls];
  if (allowed.some((one) => trimmed(one) === url)) return url;
  // Otherwise a person who may write policies but not read Secrets could have the token sent to an address of theirs.
  const message = `spec.connection.baseUrl: ${wanted} is not among the operator's allowed addresses`;
  throw new Blocked({ reason: 'InvalidPolicy', message });
}

/** The token in the object's Secret. @throws Blocked; ApiFault where the API server does not answer. */
async function tokenOf(api: KubernetesApi, { metadata, spec }: Resource): Promise<string> {
  const { name, key = 'token' } = spec.connection.credentialsSecretRef;
  const missing = (what: string) =>
    new Blocked({
      reason: 'CredentialsMissing',
      message: `spec.connection.credentialsSecretRef: ${what}`,
    });
  if (!OBJECT_NAME.test(name)) throw missing(`${JSON.stringify(name)} is not the name of a Secret`);
  let secret: { readonly data?: Readonly<Record<string, string>> };
  try {
    secret = await api.ask('GET', `/api/v1/namespaces/${metadata.namespace}/secrets/${name}`);
  } catch (error) {
    if (!(error instanceof ApiFault)) throw error;
    if (error.status === 404) throw missing(`there is no Secret ${metadata.namespace}/${name}`);
    if (error.status === 403) {
      throw missing(
        `the operator may not read Secret ${metadata.namespace}/${name}; grant it get on this name`,
      );
    }
    throw error;
  }
  const data = secret.data ?? {};
  const encoded = Object.hasOwn(data, key) ? data[key] : undefined;
  if (encoded === undefined) throw missing(`Secret ${name} has no key ${key}`);
  const token = Buffer.from(encoded, 'base64').toString().trim();
  // A header allows no other characters, and the error about one would show the token.
  if (!/^[\x21-\x7e]{1,512}$/.test(token)) throw missing(`key ${key} of Secret ${name} is not a token`);
  return token;
}

/** The value of an answer. @throws Blocked where the key is refused, Silence for every other fault. */
export function answered<T>(answer: Result<T>): T {
  if (answer.ok) return answer.value;
  throw faultOf(answer.fault);
}

/** What a fault means for the object; a refusal of the step itself is left to `decide`. */
export function faultOf(fault: ServiceFault): Blocked | Silence {
  const { status, code, message } = fault;
  if (status === 401 || (status === 403 && code !== 'managed_elsewhere')) {
    return new Blocked({ reason: 'CredentialsRejected', message: `the service refuses the key: ${message}` });
  }
  return new Silence(fault);
}

/** Whether the step was refused for what it is; else the service or the key is at fault. */
export function isRefusal({ status, code }: ServiceFault): boolean {
  if (code === 'idempotency_in_progress') return false;
  return (
    code === 'managed_elsewhere' || (status >= 400 && status < 500 && ![401, 403, 408, 429].includes(status))
  );
}

interface ServiceParts {
  readonly api: KubernetesApi;
  readonly settings: ServiceSettings;
  readonly metrics: OperatorMetrics;
  readonly gate: RateGate;
  /** Whether this process may still write. */
  isLeading(): boolean;
}

/** Where the object is kept, and the token for it. @throws Blocked, ApiFault. */
export async function connectionOf(
  { api, settings }: Pick<ServiceParts, 'api' | 'settings'>,
  object: Resource,
  manifest: string,
): Promise<Connection> {
  const base_url = baseUrlOf(object, settings);
  const token = await tokenOf(api, object);
  return { base_url, token, manifest };
}

/** The service of the object, opened with its token. @throws Blocked, ApiFault. */
export async function serviceOf(
  { api, settings, metrics, gate, isLeading }: ServiceParts,
  object: RoutingPolicy,
  manifest: string,
): Promise<PolicyService> {
  const connection = await connectionOf({ api, settings }, object, manifest);
  return openService(connection, { metrics, gate, isWanted: isLeading });
}

/** The policy as the service has it; null where it has none. @throws Blocked, Silence. */
export async function readState(
  service: PolicyService,
  object: RoutingPolicy,
  name: string,
): Promise<PolicyState | null> {
  const versions = answered(await service.versions(name));
  const newest = versions?.[0];
  if (versions === null || newest === undefined) return null;
  const state = { managed_by: newest.policy_managed_by, versions, gateways: null, canaries: [] };
  return withGateways(service, object, { name, state });
}

/** Whether the object's policy tries endpoints out. */
function hasCanary({ spec }: RoutingPolicy): boolean {
  const { defaults, rules = [] } = spec.policy;
  return [defaults, ...rules].some((actions) => actions?.canary !== undefined);
}

/**
 * `state` with the gateways that follow the version that rules the object's scope, and its canaries.
 * @throws Blocked, Silence.
 */
export async function withGateways(
  service: PolicyService,
  object: RoutingPolicy,
  { name, state }: { readonly name: string; readonly state: PolicyState },
): Promise<PolicyState> {
  const ruling = rulingVersion(object, state);
  if (ruling === null) return state;
  const gateways = answered(await service.gateways(name, ruling.version));
  if (!hasCanary(object)) return { ...state, gateways };
  const all = answered(await service.canaries(name));
  return { ...state, gateways, canaries: all.filter(({ version }) => version === ruling.version) };
}

/** Whether `other` came before `object`; of one second, by name. */
function isOlder(other: RoutingPolicy, object: RoutingPolicy): boolean {
  const rank = ({ metadata }: RoutingPolicy) =>
    `${metadata.creationTimestamp} ${metadata.namespace}/${metadata.name}`;
  return rank(other) < rank(object);
}

/** How the object that holds a policy stands to the one that wants it. @throws ApiFault without an answer. */
export async function holderOf(
  api: KubernetesApi,
  object: RoutingPolicy,
  input: { readonly manifest: string; readonly held_by: string },
): Promise<Holder> {
  const [, cluster, namespace = '', name = ''] = input.held_by.split('/');
  const holder = { manifest: input.held_by };
  const is_known =
    cluster === input.manifest.split('/')[1] && [namespace, name].every((one) => OBJECT_NAME.test(one));
  if (!is_known) return { ...holder, age: 'unknown' };
  try {
    const other = await api.ask<RoutingPolicy>('GET', objectPath({ namespace, name }));
    return { ...holder, age: isOlder(other, object) ? 'older' : 'younger' };
  } catch (error) {
    if (!(error instanceof ApiFault)) throw error;
    if (error.status === 404) return { ...holder, age: 'gone' };
    if (error.status === 403) return { ...holder, age: 'unknown' };
    throw error;
  }
}

/** Whether the namespace is being deleted; false where the operator may not ask. */
export async function isEnding(api: KubernetesApi, namespace: string): Promise<boolean> {
  try {
    const { status } = await api.ask<{ status?: { phase?: string } }>(
      'GET',
      `/api/v1/namespaces/${namespace}`,
    );
    return status?.phase === 'Terminating';
  } catch (error) {
    if (error instanceof ApiFault && error.status === 404) return true;
    if (error instanceof ApiFault && error.status === 403) return false;
    throw error;
  }
}
