// Operators as processes, with a service account of exactly the roles that the chart gives, on a real API server and
// real gateways; and the words that tests use for them.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { eventually } from '../test/calls/world.ts';
import { atFileEnd } from '../test/support/ends.ts';
import { type Engine, startEngine, untilAnswer } from '../test/support/engine.ts';
import type { GatewayProcess } from '../test/support/gateway.ts';
import {
  callKubernetes,
  createNamespace,
  type KubernetesAccess,
  runKubectl,
} from '../test/support/kubernetes.ts';
import type { AccessKind } from './access/types.ts';
import {
  accessRules,
  clusterNameRules,
  issuedSecretRules,
  leaseRules,
  type Rule,
  secretRules,
  watchRules,
} from './definition/rbac.ts';
import { yamlText } from './text.ts';
import { type ConditionType, conditionOf, type RoutingPolicy } from './types.ts';

export const SECRET = 'svc-policies';
const LEASE = 'svc-operator';
const MAIN = new URL('./main.ts', import.meta.url).pathname;
export const CRD_FILE = new URL('../charts/svc-crds/templates/routingpolicies.yaml', import.meta.url)
  .pathname;

/** kubectl's output. @throws Error with its words when it fails. */
export async function kubectl(
  access: KubernetesAccess,
  args: readonly string[],
  stdin = '',
): Promise<string> {
  const { code, stdout, stderr } = await runKubectl(access, args, stdin);
  if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr}${stdout}`);
  return stdout;
}

/** Has the API server know RoutingPolicy, or the kind of `plural`. */
export async function installDefinition(access: KubernetesAccess, plural = 'routingpolicies'): Promise<void> {
  const file = new URL(`../charts/svc-crds/templates/${plural}.yaml`, import.meta.url).pathname;
  await kubectl(access, ['apply', '--server-side', '-f', file]);
  const wait = ['wait', '--for=condition=Established', `crd/${plural}.svc.dev`, '--timeout=30s'];
  // In the moment between a definition and its first status kubectl gives up instead of waiting.
  await vi.waitFor(() => kubectl(access, wait), { timeout: 60_000, interval: 200 });
}

function role(name: string, namespace: string | null, rules: readonly Rule[], account: object): object[] {
  const prefix = namespace === null ? 'Cluster' : '';
  const metadata = { name, ...(namespace === null ? {} : { namespace }) };
  const api = { apiVersion: 'rbac.authorization.k8s.io/v1' };
  return [
    { ...api, kind: `${prefix}Role`, metadata, rules },
    {
      ...{ ...api, kind: `${prefix}RoleBinding`, metadata, subjects: [account] },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: `${prefix}Role`, name },
    },
  ];
}

export interface Home {
  /** Namespace of operator and lease. */
  readonly namespace: string;
  readonly access: KubernetesAccess;
  /** With the operator's own service account. */
  readonly kubeconfig: string;
  readonly watched: readonly string[];
  readonly manage: readonly AccessKind[];
}

/**
 * A namespace for operators and a service account with exactly the chart's rules: over all namespaces, or with
 * `watched` over these alone. Secrets are opened in `namespaces`.
 */
export async function makeHome(
  access: KubernetesAccess,
  options: {
    readonly namespaces: readonly string[];
    readonly watched?: readonly string[];
    readonly manage?: readonly AccessKind[];
    /** Names of Secrets that ApiKey objects may write. */
    readonly issued?: readonly string[];
  },
): Promise<Home> {
  const namespace = await createNamespace(access, 'operator');
  const name = 'svc-operator';
  const account = { kind: 'ServiceAccount', name, namespace };
  const watched = options.watched ?? [];
  const id = `${name}-${namespace}`;
  const manage = options.manage ?? [];
  const rules = [...watchRules, ...manage.flatMap(accessRules)];
  const issued = options.issued === undefined ? [] : issuedSecretRules(options.issued);
  const objects = [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } },
    ...role(id, namespace, leaseRules(LEASE), account),
    ...(watched.length === 0
      ? role(id, null, rules, account)
      : [
          ...role(id, 'kube-system', clusterNameRules, account),
          ...watched.flatMap((one) => role(id, one, rules, account)),
        ]),
    ...options.namespaces.flatMap((one) =>
      role(`${id}-secrets`, one, [...secretRules([SECRET]), ...issued], account),
    ),
  ];
  await kubectl(access, ['apply', '-f', '-'], objects.map(yamlText).join('---\n'));
  const token = await kubectl(access, ['create', 'token', name, '-n', namespace, '--duration=24h']);
  const dir = mkdtempSync(join(tmpdir(), 'svc-operator-'));
  atFileEnd(async () => rmSync(dir, { recursive: true, force: true }));
  const kubeconfig = join(dir, 'kubeconfig');
  const config = JSON.parse(readFileSync(access.kubeconfig, 'utf8'));
  config.users = [{ name: 'admin', user: { token: token.trim() } }];
  writeFileSync(kubeconfig, JSON.stringify(config), { mode: 0o600 });
  return { namespace, access, kubeconfig, watched, manage };
}

export interface OperatorProcess {
  readonly engine: Engine;
  readonly identity: string;
  /** The value of a metric's series, `name` or `name{label="value"}`; 0 where there is none. */
  metric(series: string): Promise<number>;
  /** All of them, as text. */
  metrics(): Promise<string>;
  isReady(): Promise<boolean>;
}

let operators = 0;

/** Starts an operator of `home`; killed after the file. */
export async function startOperatorProcess(
  home: Home,
  options: { readonly base_url: string; readonly args?: readonly string[] },
): Promise<OperatorProcess> {
  const identity = `operator-${++operators}`;
  const args = [
    ...[MAIN, '--kubeconfig', home.kubeconfig, '--base-url', options.base_url, '--identity', identity],
    ...['--lease-namespace', home.namespace, '--lease-name', LEASE, '--health-port', '0'],
    ...home.watched.flatMap((one) => ['--watch-namespace', one]),
    ...home.manage.flatMap((one) => ['--manage', one]),
    ...(options.args ?? []),
  ];
  const engine = startEngine(process.execPath, args, tmpdir());
  atFileEnd(() => engine.kill());
  let url = '';
  await untilAnswer(engine, async () => {
    url = /"health_url":"([^"]+)"/.exec(engine.output())?.[1] ?? '';
    if (url === '') throw new Error('no address yet');
  });
  const metrics = async () => (await fetch(`${url}/metrics`)).text();
  return {
    engine,
    identity,
    metrics,
    async metric(series) {
      const line = (await metrics()).split('\n').find((one) => one.startsWith(`${series} `));
      return Number(line?.slice(series.length) ?? 0);
    },
    isReady: async () => (await fetch(`${url}/readyz`)).status === 200,
  };
}

/** Puts the key into the Secret that the manifests name. */
export async function putToken(access: KubernetesAccess, namespace: string, token: string): Promise<void> {
  const metadata = { name: SECRET, namespace };
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata, stringData: { token } };
  await kubectl(access, ['apply', '-f', '-'], yamlText(secret));
}

type Spec = Record<string, unknown>;

/** A manifest; `spec` replaces members of its spec. */
export function manifest(
  at: { readonly namespace: string; readonly name: string; readonly annotations?: Record<string, string> },
  spec: Spec,
): string {
  const { namespace, name, annotations } = at;
  return yamlText({
    ...{ apiVersion: 'svc.dev/v1alpha1', kind: 'RoutingPolicy' },
    metadata: { name, namespace, ...(annotations === undefined ? {} : { annotations }) },
    spec: {
      connection: { credentialsSecretRef: { name: SECRET } },
      scope: { kind: 'Org' },
      policy: { defaults: { sort: 'price' } },
      ...spec,
    },
  });
}

export function apply(access: KubernetesAccess, text: string): Promise<string> {
  return kubectl(access, ['apply', '-f', '-'], text);
}

/** The object; null where there is none. */
export async function findPolicy(
  access: KubernetesAccess,
  namespace: string,
  name: string,
): Promise<RoutingPolicy | null> {
  const path = `/apis/svc.dev/v1alpha1/namespaces/${namespace}/routingpolicies/${name}`;
  const { status, text } = await callKubernetes(access, path);
  if (status === 404) return null;
  if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
  return JSON.parse(text) as RoutingPolicy;
}

/** Resolves with the object once its condition says `reason` of the present generation. */
export function untilReason(
  access: KubernetesAccess,
  at: { readonly namespace: string; readonly name: string },
  options: { readonly type: ConditionType; readonly reason: string },
  limit_ms = 30_000,
): Promise<RoutingPolicy> {
  const { type, reason } = options;
  return eventually(
    `${at.name}: ${type} ${reason}`,
    async () => {
      const object = await findPolicy(access, at.namespace, at.name);
      if (object === null) return null;
      const known = conditionOf(object, type);
      const is_present = known?.observedGeneration === object.metadata.generation;
      return is_present && known?.reason === reason ? object : null;
    },
    limit_ms,
  );
}

/**
 * Waits until each of `count` objects of `namespace` is Ready. Not by `kubectl wait`, which asks for each object in turn
 * at five requests a second.
 */
export async function waitAllReady(
  access: KubernetesAccess,
  { namespace, count, timeout_ms }: { namespace: string; count: number; timeout_ms: number },
): Promise<void> {
  const ready = '{range .items[*]}{.status.conditions[?(@.type=="Ready")].status}{"\\n"}{end}';
  const ask = ['get', 'rp', '-n', namespace, '-o', `jsonpath=${ready}`];
  await vi.waitFor(
    async () => {
      const each = (await kubectl(access, ask)).split('\n');
      expect(each.filter((one) => one === 'True')).toHaveLength(count);
    },
    { timeout: timeout_ms, interval: 500 },
  );
}

/** `kubectl wait --for=condition=Ready`. */
export async function waitReady(access: KubernetesAccess, namespace: string, name: string): Promise<void> {
  const args = ['wait', '--for=condition=Ready', `rp/${name}`, '-n', namespace, '--timeout=60s'];
  expect(await kubectl(access, args)).toContain('condition met');
}

/** The policies of the service, by name. */
export async function servicePolicies(
  gateway: GatewayProcess,
  key: string,
): Promise<
  Map<string, { version: number; newest_version: number; status: string; managed_by: string | null }>
> {
  const reply = await fetch(`${gateway.base_url}/v1/policies`, {
    headers: { authorization: `Bearer ${key}` },
  });
  const { data } = (await reply.json()) as { data: { name: string }[] };
  return new Map(data.map((row) => [row.name, row as never]));
}
