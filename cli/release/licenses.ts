// Which licenses packages of others may have, by what package-lock.json says of each. `make check` and every release ask.
import { isObject } from '@svc/core/kernel/index.ts';
import satisfies from 'spdx-satisfies';

/** Licenses under which a package may be passed on inside an image that is not published as source (identifiers of SPDX). */
const ALLOWED = [
  ...[
    '0BSD',
    'Apache-2.0',
    'BlueOak-1.0.0',
    'BSD-2-Clause',
    'BSD-3-Clause',
    'CC0-1.0',
    'ISC',
    'MIT',
    'MIT-0',
  ],
  ...['OFL-1.1', 'PSF-2.0', 'Python-2.0', 'Unlicense'],
  // Data, and texts: the author is named in the package.
  ...['CC-BY-3.0', 'CC-BY-4.0'],
  // Its duty to publish ends at the files of the package, which nobody changes here.
  'MPL-2.0',
];

/** What a package says in no form that a program reads: the version that a person read, and what it is. */
const READ_BY_HAND: Readonly<Record<string, { readonly version: string; readonly license: string }>> = {
  'cohere-ai': { version: '8.1.0', license: 'MIT' },
  'dejavu-fonts-ttf': { version: '2.37.3', license: 'Bitstream Vera: may be passed on with other programs' },
  'png-js': { version: '2.0.0', license: 'MIT' },
  unionfs: { version: '4.6.0', license: 'Unlicense' },
  'xml-escape': { version: '1.1.0', license: 'MIT' },
};

/** A package of others as the lock file has it. */
export interface Locked {
  readonly name: string;
  readonly version: string;
  /** As its author wrote it; '' where nothing is said. */
  readonly license: string;
}

/** The packages of others in a lock file of version 3, sorted by name and version. @throws Error when it is none. */
export function lockedPackages(text: string): Locked[] {
  const lock: unknown = JSON.parse(text);
  if (!isObject(lock) || lock['lockfileVersion'] !== 3 || !isObject(lock['packages']))
    throw new Error('package-lock.json is not a lock file of version 3');
  const found = new Map<string, Locked>();
  for (const [path, one] of Object.entries(lock['packages'])) {
    const at = path.lastIndexOf('node_modules/');
    if (at === -1 || !isObject(one) || one['link'] === true) continue;
    const name = String(one['name'] ?? path.slice(at + 'node_modules/'.length));
    const version = String(one['version'] ?? '');
    found.set(`${name}@${version}`, { name, version, license: String(one['license'] ?? '') });
  }
  return [...found.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
}

function isAllowed(license: string): boolean {
  try {
    return satisfies(license, ALLOWED);
  } catch {
    return false;
  }
}

/** A sentence for every package that may not be passed on, or of which nobody has read under what it stands. */
export function licenseFaults(packages: readonly Locked[]): string[] {
  return packages.flatMap(({ name, version, license }) => {
    if (isAllowed(license)) return [];
    const read = READ_BY_HAND[name];
    if (read?.version === version) return [];
    const said = license === '' ? 'says no license' : `has the license "${license}"`;
    return [
      `${name} ${version} ${said}: allow it in cli/release/licenses.ts, ` +
        (read === undefined ? 'or take another package' : `where ${read.version} was read by hand`),
    ];
  });
}

/** Packages that were read by hand and are no longer in the lock file in that version. */
export function staleReadings(packages: readonly Locked[]): string[] {
  const present = new Set(packages.map(({ name, version }) => `${name}@${version}`));
  return Object.entries(READ_BY_HAND)
    .map(([name, { version }]) => `${name}@${version}`)
    .filter((one) => !present.has(one));
}
