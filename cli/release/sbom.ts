// The list of parts of an image (CycloneDX 1.5): what npm says of the packages, less those that are not in the image, and what the
// console's files were bundled from. Two lists of the same image are equal to the byte.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject, type JsonObject, sha256Hex } from '@svc/core/kernel/index.ts';
import { output } from './run.ts';

interface Component extends JsonObject {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
}

/** `name@version` of every package of others below `node_modules`, however deep. */
function packagesIn(node_modules: string): Set<string> {
  const found = new Set<string>();
  const visit = (folder: string) => {
    for (const { name, isDirectory } of entries(folder)) {
      if (!isDirectory || name === '.bin') continue;
      if (name.startsWith('@')) visit(join(folder, name));
      else readOne(join(folder, name));
    }
  };
  const readOne = (folder: string) => {
    const file = join(folder, 'package.json');
    if (existsSync(file)) {
      const { name, version } = JSON.parse(readFileSync(file, 'utf8'));
      if (typeof name === 'string' && typeof version === 'string') found.add(`${name}@${version}`);
    }
    if (existsSync(join(folder, 'node_modules'))) visit(join(folder, 'node_modules'));
  };
  visit(node_modules);
  return found;
}

function entries(folder: string): { name: string; isDirectory: boolean }[] {
  // Links lead to our own workspaces.
  return readdirSync(folder, { withFileTypes: true }).map((one) => ({
    name: one.name,
    isDirectory: one.isDirectory(),
  }));
}

/** Everything in the lock file: `--omit=dev` of npm 11 leaves out what some programs need. */
async function npmSbom(root: string): Promise<JsonObject> {
  const text = await output('npm', ['sbom', '--sbom-format=cyclonedx', '--package-lock-only'], { cwd: root });
  const sbom: unknown = JSON.parse(text);
  if (!isObject(sbom) || !Array.isArray(sbom['components'])) throw new Error('npm sbom printed no list');
  return sbom;
}

const keyOf = ({ 'bom-ref': ref }: Component) => ref.split('|')[0] as string;

/** The packages whose code is inside the files of a built console. */
function bundledIn(dist: string): string[] {
  const list: { name: string; version: string }[] = JSON.parse(
    readFileSync(join(dist, 'licenses.json'), 'utf8'),
  );
  return list.map(({ name, version }) => `${name}@${version}`);
}

function withProperty(component: Component, name: string, value: string): Component {
  const properties = (component['properties'] ?? []) as JsonObject[];
  return { ...component, scope: 'required', properties: [...properties, { name, value }] };
}

/** @throws Error naming what is in the image and not in the list: the list would be wrong. */
export async function sbomOf(of: {
  /** A clone of the release, with its lock file. */
  readonly root: string;
  /** The root of the image. */
  readonly image: string;
  readonly version: string;
  readonly created: string;
  readonly base: { readonly name: string; readonly digest: string };
}): Promise<JsonObject> {
  const { root, image, version, created, base } = of;
  const locked = await npmSbom(root);
  const present = packagesIn(join(image, 'svc/node_modules'));
  const bundled = new Set(
    ['dist', 'dist-staff'].flatMap((dist) => bundledIn(join(image, 'svc/console', dist))),
  );
  const parts = new Map<string, Component>();
  for (const one of locked['components'] as Component[]) {
    const key = keyOf(one);
    if (present.has(key)) parts.set(key, withProperty(one, 'svc:in', 'node_modules'));
    else if (bundled.has(key)) parts.set(key, withProperty(one, 'svc:in', 'console'));
  }
  const missing = [...present, ...bundled].filter((one) => !parts.has(one));
  if (missing.length > 0) throw new Error(`in the image and not in the list of npm: ${missing.join(', ')}`);
  const container = {
    ...{ 'bom-ref': `${base.name}@${base.digest}`, type: 'container', name: base.name, version: base.digest },
    hashes: [{ alg: 'SHA-256', content: base.digest.replace('sha256:', '') }],
  };
  const components = [...parts.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
  const refs = new Set(components.map((one) => one['bom-ref']));
  const list = {
    ...{
      $schema: locked['$schema'],
      bomFormat: 'CycloneDX',
      specVersion: locked['specVersion'],
      version: 1,
    },
    metadata: {
      timestamp: created,
      component: { 'bom-ref': `svc@${version}`, type: 'container', name: 'svc', version },
    },
    components: [container, ...components],
    dependencies: dependenciesOf(locked, refs),
  };
  return { ...list, serialNumber: serialOf(JSON.stringify(list)) };
}

/** Which of the listed parts need which others. */
function dependenciesOf(locked: JsonObject, refs: ReadonlySet<string>): JsonObject[] {
  const all = locked['dependencies'] as { ref: string; dependsOn?: string[] }[];
  return all
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((one) => refs.has(one)).sort() }))
    .sort((a, b) => (a.ref < b.ref ? -1 : 1));
}

/** A UUID (RFC 9562, version 8) that follows from the list, so that the same list has the same number. */
function serialOf(text: string): string {
  const hex = sha256Hex(text);
  const variant = ((Number.parseInt(hex[16] as string, 16) & 3) | 8).toString(16);
  return `urn:uuid:${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
