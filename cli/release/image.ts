// The image of a release as an OCI layout (OCI image specification 1.1), put together without Docker: the base image by its digest,
// our layers upon it, and the last lines of the Dockerfile as its configuration.
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject, type JsonObject, sha256Hex } from '@svc/core/kernel/index.ts';
import type { Stage } from './dockerfile.ts';
import type { Layer } from './layers.ts';
import { output } from './run.ts';

const PLATFORM = 'linux/amd64';
const OCI = 'application/vnd.oci.image';

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

/** Where the programs for images are, and where they work. */
interface Crane {
  readonly path: string;
  readonly cwd: string;
}

/** The address of `base` by its digest: what a tag meant today must be the same when the release is made again. */
export async function pinnedBase(crane: Crane, base: string): Promise<{ name: string; digest: string }> {
  const [name = '', digest] = base.split('@');
  if (digest !== undefined) return { name, digest };
  return { name, digest: (await output(crane.path, ['digest', base], { cwd: crane.cwd })).trim() };
}

/** Reads the blob of `descriptor` as JSON. */
function readBlob(layout: string, { digest }: Descriptor): JsonObject {
  const blob: unknown = JSON.parse(readFileSync(join(layout, 'blobs', digest.replace(':', '/')), 'utf8'));
  if (!isObject(blob)) throw new Error(`${digest} is no object`);
  return blob;
}

function writeBlob(layout: string, mediaType: string, value: unknown): Descriptor {
  const text = JSON.stringify(value);
  const hex = sha256Hex(text);
  writeFileSync(join(layout, 'blobs/sha256', hex), text);
  return { mediaType, digest: `sha256:${hex}`, size: Buffer.byteLength(text) };
}

/** The manifest of the one image in `layout`, through an index where there is one. */
function manifestOf(layout: string): JsonObject {
  let found: JsonObject = JSON.parse(readFileSync(join(layout, 'index.json'), 'utf8'));
  while (Array.isArray(found['manifests'])) {
    const entries = found['manifests'] as (Descriptor & { platform?: JsonObject })[];
    const ours = entries.filter(
      ({ platform }) =>
        platform === undefined || `${platform['os']}/${platform['architecture']}` === PLATFORM,
    );
    const [one] = ours;
    if (one === undefined || ours.length > 1) throw new Error(`the base is not one image for ${PLATFORM}`);
    found = readBlob(layout, one);
  }
  return found;
}

/** What the lines after the last COPY say of the running image. @throws Error on a line that is not known here. */
export function configOf(stage: Stage, base: JsonObject): JsonObject {
  const env = new Map(((base['Env'] ?? []) as string[]).map((one) => [one.split('=', 1)[0] ?? '', one]));
  const config: JsonObject = { ...base };
  for (const { word, rest } of stage.lines) {
    if (word === 'ENV') env.set(rest.split('=', 1)[0] ?? '', rest);
    else if (word === 'USER') config['User'] = rest;
    else if (word === 'WORKDIR') config['WorkingDir'] = rest;
    else if (word === 'ENTRYPOINT') config['Entrypoint'] = JSON.parse(rest);
    else if (word === 'CMD') config['Cmd'] = JSON.parse(rest);
    else if (word === 'EXPOSE')
      config['ExposedPorts'] = Object.fromEntries(rest.split(/\s+/).map((port) => [`${port}/tcp`, {}]));
    else if (word !== 'COPY') throw new Error(`the Dockerfile has a line that no image is made of: ${word}`);
  }
  // None: an empty list is left out, as Docker does.
  if ((config['Entrypoint'] as string[] | undefined)?.length === 0) delete config['Entrypoint'];
  return { ...config, Env: [...env.values()] };
}

/** Makes the image in the folder `layout`; returns the digest of its manifest. */
export async function makeImage(
  crane: Crane,
  of: {
    readonly base: { readonly name: string; readonly digest: string };
    readonly layers: readonly Layer[];
    readonly stage: Stage;
    readonly layout: string;
    /** RFC 3339; the time of the commit. */
    readonly created: string;
    readonly annotations: Readonly<Record<string, string>>;
  },
): Promise<string> {
  const { base, layers, stage, layout, created } = of;
  rmSync(layout, { recursive: true, force: true });
  const source = `${base.name}@${base.digest}`;
  await output(crane.path, ['pull', '--format=oci', `--platform=${PLATFORM}`, source, layout], {
    cwd: crane.cwd,
  });
  const manifest = manifestOf(layout);
  const old = readBlob(layout, manifest['config'] as unknown as Descriptor);
  const { diff_ids } = old['rootfs'] as { diff_ids: string[] };
  mkdirSync(join(layout, 'blobs/sha256'), { recursive: true });
  for (const { path, digest } of layers) copyFileSync(path, join(layout, 'blobs', digest.replace(':', '/')));
  const config = writeBlob(layout, `${OCI}.config.v1+json`, {
    ...old,
    ...{ os: 'linux', architecture: 'amd64', created },
    config: configOf(stage, (old['config'] ?? {}) as JsonObject),
    rootfs: { type: 'layers', diff_ids: [...diff_ids, ...layers.map(({ diff_id }) => diff_id)] },
    history: [
      ...((old['history'] ?? []) as JsonObject[]),
      ...layers.map(({ what }) => ({ created, created_by: what })),
    ],
  });
  const annotations = {
    ...of.annotations,
    'org.opencontainers.image.created': created,
    'org.opencontainers.image.base.name': base.name,
    'org.opencontainers.image.base.digest': base.digest,
  };
  const made = writeBlob(layout, `${OCI}.manifest.v1+json`, {
    ...{ schemaVersion: 2, mediaType: `${OCI}.manifest.v1+json`, config },
    layers: [
      ...(manifest['layers'] as Descriptor[]).map(ociLayer),
      ...layers.map(({ digest, size }) => ({ mediaType: `${OCI}.layer.v1.tar+gzip`, digest, size })),
    ],
    annotations,
  });
  const index = { schemaVersion: 2, mediaType: `${OCI}.index.v1+json`, manifests: [made] };
  writeFileSync(join(layout, 'index.json'), JSON.stringify(index));
  return made.digest;
}

/** Images of Docker's older form have other names for the same bytes. */
function ociLayer({ mediaType, digest, size }: Descriptor): Descriptor {
  const isDockers = mediaType === 'application/vnd.docker.image.rootfs.diff.tar.gzip';
  return { mediaType: isDockers ? `${OCI}.layer.v1.tar+gzip` : mediaType, digest, size };
}
