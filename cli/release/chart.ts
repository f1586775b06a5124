// The charts of a release: helm packs them, with the image of the release by its digest, and they are packed once more so that
// their bytes follow from their files.
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseDocument } from 'yaml';
import { packLayer } from './layers.ts';
import { output } from './run.ts';

/** Packs the chart `name` as `{name}-{version}.tgz` in `into`; returns the path. @throws Error with what helm says of a faulty one. */
export async function packChart(of: {
  readonly helm: string;
  readonly root: string;
  readonly name: 'svc' | 'svc-crds';
  readonly version: string;
  /** `registry/name` and digest of the image that the chart runs; null for a chart without programs. */
  readonly image: { readonly repository: string; readonly digest: string } | null;
  readonly scratch: string;
  readonly into: string;
  readonly time: number;
}): Promise<string> {
  const { helm, root, name, version, image, scratch, into, time } = of;
  const folder = join(scratch, name);
  cpSync(join(root, 'charts', name), folder, { recursive: true });
  if (image !== null) {
    const file = join(folder, 'values.yaml');
    const values = parseDocument(readFileSync(file, 'utf8'));
    values.setIn(['image', 'repository'], image.repository);
    values.setIn(['image', 'digest'], image.digest);
    writeFileSync(file, values.toString({ lineWidth: 0 }));
  }
  const cwd = scratch;
  await output(helm, ['lint', '--quiet', folder], { cwd });
  await output(
    helm,
    ['package', folder, `--version=${version}`, `--app-version=${version}`, `--destination=${scratch}`],
    { cwd },
  );
  // helm writes what belongs to a chart, with the time of day in it.
  const packed = join(scratch, 'packed');
  mkdirSync(packed, { recursive: true });
  await output('tar', ['-xzf', `${name}-${version}.tgz`, '-C', packed], { cwd });
  const path = join(into, `${name}-${version}.tgz`);
  await packLayer({ root: packed, members: chartFiles(packed, name), into: path, time, what: name });
  return path;
}

/** `Chart.yaml` comes first, as helm reads it. */
function chartFiles(packed: string, name: string): string[] {
  const all = readdirSync(join(packed, name)).sort();
  return ['Chart.yaml', ...all.filter((one) => one !== 'Chart.yaml')].map((one) => join(name, one));
}
