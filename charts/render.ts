// Renders the charts for tests.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runHelm } from '@svc/test/support/kubernetes.ts';
import { parseAllDocuments } from 'yaml';

export const charts = fileURLToPath(new URL('./', import.meta.url));
export const svc = join(charts, 'svc');
export const crds = join(charts, 'svc-crds');

/** The sets of values in charts/values, and what they are examples of. */
export const valueSets = ['minimal', 'production', 'operator-only'] as const;
export type ValueSet = (typeof valueSets)[number];

// biome-ignore lint/suspicious/noExplicitAny: objects of Kubernetes, read by tests that say what they expect of them.
type Fields = Record<string, any>;
export type Manifest = Fields & { kind: string; metadata: Fields & { name: string } };

interface RenderOptions {
  readonly set?: Readonly<Record<string, unknown>>;
  readonly namespace?: string;
}

/** Arguments of helm that set `values`, each as JSON, so that helm does not guess types. */
function setArgs(values: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(values).flatMap(([path, value]) => [
    '--set-json',
    `${path}=${JSON.stringify(value)}`,
  ]);
}

/** What helm renders from the chart with a set of values: YAML, or why it refuses. */
export function tryRender(values: ValueSet | null, { set = {}, namespace = 'svc' }: RenderOptions = {}) {
  const file = values === null ? [] : ['--values', join(charts, 'values', `${values}.yaml`)];
  const fixed = ['--namespace', namespace, '--kube-version', '1.36.0'];
  return runHelm(['template', 'svc', svc, ...fixed, ...file, ...setArgs(set)]);
}

/** The YAML of a chart. @throws Error with helm's message. */
export async function render(values: ValueSet, options: RenderOptions = {}): Promise<string> {
  const { code, stdout, stderr } = await tryRender(values, options);
  if (code !== 0) throw new Error(stderr);
  return stdout;
}

/** The objects of a text, read as Kubernetes reads it: 0440 is octal. */
export function objectsOf(text: string): Manifest[] {
  return parseAllDocuments(text, { version: '1.1' })
    .map((document) => document.toJS() as Manifest | null)
    .filter((object) => object !== null);
}

/** The objects of the chart. @throws Error with helm's message. */
export async function renderObjects(values: ValueSet, options: RenderOptions = {}): Promise<Manifest[]> {
  return objectsOf(await render(values, options));
}

/** The template of an object's pods, where it has one. */
export function podOf(object: Manifest): Manifest | null {
  return object['spec']?.template?.spec?.containers === undefined ? null : object['spec'].template;
}

export function readText(...path: string[]): string {
  return readFileSync(join(charts, ...path), 'utf8');
}

/** The object of that kind and name. @throws Error when there is none. */
export function find(objects: readonly Manifest[], kind: string, name: string): Manifest {
  const found = objects.find((object) => object.kind === kind && object.metadata.name === name);
  if (found === undefined) throw new Error(`there is no ${kind} ${name}`);
  return found;
}

/** Names of the objects of a kind. */
export const named = (objects: readonly Manifest[], kind: string) =>
  objects.filter((object) => object.kind === kind).map(({ metadata }) => metadata.name);

/** The first container of a program's pods. */
export const containerOf = (object: Manifest): Manifest => podOf(object)?.['spec'].containers[0];

/** What stands for a secret that has a form. */
const placeholders: Readonly<Record<string, string>> = { SVC_SMTP_URL: 'smtps://mail.example' };

/** The variables of a program's container, with placeholders for secrets and for fields of the pod. */
export function environmentOf(objects: readonly Manifest[], program: Manifest): Record<string, string> {
  const container = containerOf(program);
  const shared = (container['envFrom'] ?? []).map(
    ({ configMapRef }: Manifest) => find(objects, 'ConfigMap', configMapRef['name'])['data'],
  );
  const own = (container['env'] ?? []).map((item: Record<string, string>) => [
    item['name'],
    item['value'] ?? placeholders[item['name'] as string] ?? 'secret',
  ]);
  return Object.assign({}, ...shared, Object.fromEntries(own));
}

/** The objects that run pods. */
export const programs = (objects: readonly Manifest[]) => objects.filter((object) => podOf(object) !== null);
