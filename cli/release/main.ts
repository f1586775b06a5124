// `make release TAG=v1.2.3`: from a tag to the files of a release. README.md says what they are and how others check them.
import {
  createReadStream,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { nowMs, readEd25519Key, sha256Hex } from '@svc/core/kernel/index.ts';
import { resolveTool } from '../tools/tools.ts';
import { askAudit, readAudit } from './audit.ts';
import { packChart } from './chart.ts';
import { buildStages, readStages } from './dockerfile.ts';
import { makeImage, pinnedBase } from './image.ts';
import { digestOf, layersOf, packLayer } from './layers.ts';
import { licenseFaults, lockedPackages } from './licenses.ts';
import { notesOf } from './notes.ts';
import { envelopeOf, provenanceOf } from './provenance.ts';
import { output } from './run.ts';
import { sbomOf } from './sbom.ts';
import { checkOut, comparedWith, readTag, type TaggedSource, versionFaults } from './source.ts';

const repository = fileURLToPath(new URL('../../', import.meta.url));
const started = performance.now();
const say = (text: string) => {
  process.stdout.write(`${((performance.now() - started) / 1000).toFixed(0).padStart(4)} s  ${text}\n`);
};

interface Wanted {
  readonly tag: string;
  readonly base: string;
  /** `registry/name` that the chart names, and to which `push` sends. */
  readonly repository: string;
  readonly push: boolean;
  readonly out: string;
  readonly key: string;
  readonly builder: string;
  /** Whether a registry without advisories ends the release. */
  readonly audit: boolean;
}

function readWanted(): Wanted {
  const { values } = parseArgs({
    options: {
      tag: { type: 'string' },
      base: { type: 'string', default: 'node:24-bookworm-slim' },
      repository: { type: 'string', default: 'svc' },
      push: { type: 'boolean', default: false },
      out: { type: 'string', default: join(repository, '.cache/release') },
      key: { type: 'string', default: '' },
      builder: { type: 'string', default: 'urn:svc:by-hand' },
      'without-audit': { type: 'boolean', default: false },
    },
  });
  const { tag, 'without-audit': without_audit, ...others } = values;
  if (tag === undefined) throw new Error('say which: make release TAG=v1.2.3');
  return { ...others, tag, audit: !without_audit };
}

/** @throws Error with every reason for which these files may not become a release. */
async function refuseFaults(source: TaggedSource, root: string, insist: boolean): Promise<void> {
  const faults = versionFaults(root, source.version);
  faults.push(...licenseFaults(lockedPackages(readFileSync(join(root, 'package-lock.json'), 'utf8'))));
  const audit = readAudit(await askAudit(root), new Date(nowMs()).toISOString().slice(0, 10));
  if (audit.kind === 'answered') faults.push(...audit.faults);
  else if (insist) faults.push(`npm audit has no answer: ${audit.why} (--without-audit leaves it out)`);
  if (faults.length > 0) throw new Error(faults.join('\n'));
}

/** The environment of the image's build: the Node of this program, and nothing of npm's or ours. */
function buildEnv(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(SVC_|NODE_|npm_)/i.test(name));
  const path = `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`;
  return { ...Object.fromEntries(kept), PATH: path, NODE_ENV: 'production' };
}

async function writeImage(wanted: Wanted, source: TaggedSource, at: { root: string; scratch: string }) {
  const { root, scratch } = at;
  const { version, commit, time } = source;
  const created = new Date(time * 1000).toISOString();
  const crane = { path: (await resolveTool('crane', say)).path, cwd: scratch };
  const base = await pinnedBase(crane, wanted.base);
  say(`base ${base.name}@${base.digest}`);
  const stages = readStages(readFileSync(join(root, 'Dockerfile'), 'utf8'));
  const image = await buildStages(stages, {
    ...{ context: root, into: join(scratch, 'stages'), env: buildEnv() },
    started: () => undefined,
  });
  say('stages of the Dockerfile built');
  const layers = await layersOf(image, scratch, time);
  const layout = join(scratch, 'layout');
  const stage = stages.at(-1) as (typeof stages)[number];
  const annotations = {
    'org.opencontainers.image.title': 'svc',
    'org.opencontainers.image.version': version,
    'org.opencontainers.image.revision': commit,
  };
  const digest = await makeImage(crane, { base, layers, stage, layout, created, annotations });
  say(`image ${digest}`);
  if (wanted.push) {
    await output(crane.path, ['push', layout, `${wanted.repository}:${version}`], { cwd: scratch });
    say(`pushed to ${wanted.repository}:${version}`);
  }
  const packed = join(wanted.out, `svc-${version}.oci.tgz`);
  const members = readdirSync(layout).sort();
  await packLayer({ root: layout, members, into: packed, time, what: 'image' });
  const sbom = await sbomOf({ root, image, version, created, base });
  writeFileSync(join(wanted.out, `svc-${version}.cdx.json`), `${JSON.stringify(sbom, null, 1)}\n`);
  say('list of parts written');
  return { base, digest };
}

async function writeCharts(
  wanted: Wanted,
  source: TaggedSource,
  at: { root: string; scratch: string },
  digest: string,
) {
  const helm = (await resolveTool('helm', say)).path;
  const shared = { helm, root: at.root, version: source.version, time: source.time, into: wanted.out };
  for (const name of ['svc', 'svc-crds'] as const) {
    const image = name === 'svc' ? { repository: wanted.repository, digest } : null;
    const scratch = join(at.scratch, `chart-${name}`);
    mkdirSync(scratch);
    await packChart({ ...shared, name, image, scratch });
  }
  say('charts packed');
}

async function sumsOf(out: string): Promise<{ name: string; sha256: string }[]> {
  const sums = [];
  for (const name of readdirSync(out).sort()) {
    const sha256 = (await digestOf(createReadStream(join(out, name)))).replace('sha256:', '');
    sums.push({ name, sha256 });
  }
  return sums;
}

async function release(wanted: Wanted, scratch: string): Promise<void> {
  const source = await readTag(repository, wanted.tag);
  const { tag, version, commit } = source;
  say(`${tag} is ${commit}, after ${source.before || 'nothing'}`);
  const root = join(scratch, 'source');
  await checkOut(repository, source, root);
  await refuseFaults(source, root, wanted.audit);
  rmSync(wanted.out, { recursive: true, force: true });
  mkdirSync(wanted.out, { recursive: true });
  const { base, digest } = await writeImage(wanted, source, { root, scratch });
  await writeCharts(wanted, source, { root, scratch }, digest);
  writeFileSync(join(wanted.out, 'NOTES.txt'), await notesOf(await comparedWith(repository, source)));
  const files = await sumsOf(wanted.out);
  writeFileSync(
    join(wanted.out, 'SHA256SUMS'),
    files.map(({ name, sha256 }) => `${sha256}  ${name}\n`).join(''),
  );
  const image = { name: `${wanted.repository}:${version}`, sha256: digest.replace('sha256:', '') };
  const lock_sha256 = sha256Hex(readFileSync(join(root, 'package-lock.json')));
  const { builder } = wanted;
  const statement = provenanceOf({ subjects: [image, ...files], tag, commit, lock_sha256, base, builder });
  const key = wanted.key === '' ? null : readEd25519Key(readFileSync(wanted.key, 'utf8'));
  writeFileSync(
    join(wanted.out, `svc-${version}.intoto.jsonl`),
    `${JSON.stringify(envelopeOf(statement, key))}\n`,
  );
  say(
    `${key === null ? 'provenance without a signature: give --key' : 'provenance signed'}; all is in ${wanted.out}`,
  );
}

const scratch = mkdtempSync(join(tmpdir(), 'svc-release-'));
try {
  await release(readWanted(), scratch);
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
