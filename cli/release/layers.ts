// Layers of an image whose bytes follow from the files alone: sorted, owned by root, of one time.
import { createReadStream } from 'node:fs';
import { rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { Sha256 } from '@svc/core/kernel/index.ts';
import { output } from './run.ts';

export interface Layer {
  /** The file, gzip over tar. */
  readonly path: string;
  /** `sha256:` of the file. */
  readonly digest: string;
  /** `sha256:` of the tar in it. */
  readonly diff_id: string;
  readonly size: number;
  /** What is in it, for the history of the image. */
  readonly what: string;
}

/** Files are only read in an image; those that may be executed stay so. */
const TAR = [
  ...['--sort=name', '--format=posix', '--pax-option=exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime'],
  ...['--owner=0', '--group=0', '--numeric-owner', '--mode=u+rwX,go+rX,go-w', '--hard-dereference'],
];

/** `sha256:` of what `stream` brings. */
export async function digestOf(stream: Readable): Promise<string> {
  const hash = new Sha256();
  for await (const piece of stream) hash.add(piece as Buffer);
  return `sha256:${hash.hex()}`;
}

/** Packs `members` (paths below `root`) into the layer `into`. */
export async function packLayer(of: {
  readonly root: string;
  readonly members: readonly string[];
  readonly exclude?: readonly string[];
  readonly into: string;
  /** Seconds since 1970; the time of every file. */
  readonly time: number;
  readonly what: string;
}): Promise<Layer> {
  const { root, members, exclude = [], into, time, what } = of;
  const tar = `${into}.tar`;
  const left_out = exclude.map((path) => `--exclude=${path}`);
  await output('tar', [...TAR, `--mtime=@${time}`, ...left_out, '-cf', tar, '-C', root, ...members], {
    cwd: root,
  });
  await output('gzip', ['-n', '-6', '-f', tar], { cwd: root });
  await rename(`${tar}.gz`, into);
  return {
    ...{ path: into, what },
    digest: await digestOf(createReadStream(into)),
    diff_id: await digestOf(createReadStream(into).pipe(createGunzip())),
    size: (await stat(into)).size,
  };
}

/** The layers of our image: what npm installed, which seldom changes, and our own files. */
export async function layersOf(image: string, into: string, time: number): Promise<Layer[]> {
  const pack = { root: image, time };
  return [
    await packLayer({
      ...{ ...pack, members: ['svc/node_modules'], into: join(into, 'packages.tar.gz') },
      // npm notes here when and how it installed.
      ...{ exclude: ['svc/node_modules/.package-lock.json'], what: 'packages of package-lock.json' },
    }),
    await packLayer({
      ...{ ...pack, members: ['svc'], exclude: ['svc/node_modules'], into: join(into, 'svc.tar.gz') },
      what: 'programs and console',
    }),
  ];
}
