// Makes node_modules fit package-lock.json before anything else can run. Plain JavaScript for Node 18 and newer:
// on a fresh machine the Node 24 that this project pins is itself one of the packages to be installed.
//
//   node cli/bin/install.mjs run|programs|all [--add]
//
// `run` is what a first call needs (core, gateway, cli), `programs` what the further programs of `make up` need and
// what builds the console, `all` what the tests need. Each level holds the one before it.
// A tree of the present lock file is grown: npm adds what is missing and touches nothing that is there, so that
// programs may run meanwhile. Another lock file means `npm ci`, which empties node_modules first; `--add` refuses that.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const modules = join(root, 'node_modules');
const stampFile = join(modules, '.svc-install.json');
const lockDir = join(root, '.cache/install.lock');
const levels = ['run', 'programs', 'all'];
const first = ['--workspace=core', '--workspace=gateway', '--workspace=cli'];
const further = ['--workspace=admin-graphql', '--workspace=workflows', '--workspace=console'];
const scopes = {
  run: ['--omit=dev', ...first],
  // What builds the console are its development packages; no other of these workspaces has any.
  programs: ['--include=dev', ...first, ...further],
  all: ['--include=dev'],
};
const words = { run: 'what runs', programs: 'all programs', all: 'everything' };
// npm empties node_modules while it works, so npm and its scripts must not run under the Node that lies in there.
const env = { ...process.env, PATH: outsidePath(process.env.PATH ?? '') };

function outsidePath(path) {
  return path
    .split(':')
    .filter((folder) => !folder.startsWith(modules))
    .join(':');
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return null;
  }
}

/** Why this machine cannot run the project, or null. */
function missingPrerequisite() {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    return `The bundled Node and PostgreSQL are built for Linux on x86-64; this is ${process.platform} on ${process.arch}.`;
  if (Number(process.versions.node.split('.')[0]) < 18)
    return `Node 18 or newer is needed to install; this is ${process.version}.`;
  return null;
}

function missingNpm() {
  const npm = spawnSync('npm', ['--version'], { encoding: 'utf8', cwd: root, env });
  if (npm.status !== 0) return 'npm is needed to install and was not found on PATH.';
  if (Number(npm.stdout.split('.')[0]) < 8) return `npm 8 or newer is needed; this is ${npm.stdout.trim()}.`;
  return null;
}

/**
 * The level that node_modules already has for this lock file, or null. A tree that someone installed with plain
 * npm has no stamp; it counts as `all` when npm's own record of it names every package at the locked version.
 */
function installedLevel(lockText) {
  const hash = createHash('sha256').update(lockText).digest('hex');
  const stamp = readJson(stampFile);
  if (stamp !== null && stamp.lock === hash && levels.includes(stamp.level)) return stamp.level;
  const record = readJson(join(modules, '.package-lock.json'));
  if (record === null) return null;
  const { packages } = JSON.parse(lockText);
  for (const [path, entry] of Object.entries(packages)) {
    if (!path.startsWith('node_modules/') || entry.optional || entry.devOptional || entry.peer) continue;
    const have = record.packages[path];
    if (have === undefined || have.version !== entry.version) return null;
  }
  return 'all';
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** Only one install at a time: npm empties node_modules first, under the feet of a second one. */
async function takeLock() {
  mkdirSync(dirname(lockDir), { recursive: true });
  for (let told = false; ; ) {
    try {
      mkdirSync(lockDir);
      writeFileSync(join(lockDir, 'pid'), String(process.pid));
      return;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    // An npm whose installer was killed still writes.
    const pids = ['pid', 'npm'].map((name) => Number(readFileOr(join(lockDir, name), '0')));
    const pid = pids[0];
    if (pid > 0 && !pids.some((one) => one > 0 && isAlive(one))) {
      rmSync(lockDir, { recursive: true, force: true });
      continue;
    }
    if (!told) process.stdout.write(`packages   another install is running (process ${pid}); waiting for it\n`);
    told = true;
    await new Promise((done) => setTimeout(done, 200));
  }
}

function readFileOr(path, fallback) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return fallback;
  }
}

/**
 * Removes what an install that was broken off has left half done: npm would take a folder with a package.json for the
 * package. npm's own record of the tree is written last, so what stands in the lock file alone is of no install.
 */
function removeUnfinished(lockText) {
  const record = readJson(join(modules, '.package-lock.json'));
  if (record === null) return;
  for (const path of Object.keys(JSON.parse(lockText).packages)) {
    if (path.startsWith('node_modules/') && record.packages[path] === undefined)
      rmSync(join(root, path), { recursive: true, force: true });
  }
}

/** Runs npm for `level`, telling every few seconds that it still works; resolves with its exit code and words. */
function runNpm(level, { grow }) {
  const way = grow ? ['install', '--no-save'] : ['ci'];
  const args = [...way, ...scopes[level], '--prefer-offline', '--loglevel=error', '--no-audit', '--no-fund'];
  const started = Date.now();
  const child = spawn('npm', args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
  writeFileSync(join(lockDir, 'npm'), String(child.pid ?? 0));
  let output = '';
  const keep = (chunk) => {
    output = (output + chunk).slice(-8192);
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  const ticker = setInterval(
    () => process.stdout.write(`packages   still installing, ${Math.round((Date.now() - started) / 1000)} s\n`),
    process.stdout.isTTY ? 2_000 : 5_000,
  );
  return new Promise((done) => {
    child.on('error', (error) => done({ code: 1, output: error.message, seconds: 0 }));
    child.on('close', (code) => {
      clearInterval(ticker);
      done({ code, output, seconds: (Date.now() - started) / 1000 });
    });
  });
}

async function main() {
  const wanted = process.argv[2];
  if (!levels.includes(wanted)) fail('usage: node cli/bin/install.mjs run|programs|all [--add]');
  const only_add = process.argv.includes('--add');
  const unfit = missingPrerequisite();
  if (unfit !== null) fail(unfit);
  const lockText = readFileSync(join(root, 'package-lock.json'), 'utf8');
  const enough = () => {
    const have = installedLevel(lockText);
    return have !== null && levels.indexOf(have) >= levels.indexOf(wanted);
  };
  if (enough()) return;
  const npm = missingNpm();
  if (npm !== null) fail(npm);
  await takeLock();
  try {
    // Whoever held the lock may have done the work.
    if (enough()) return;
    const before = readJson(stampFile);
    const lock = createHash('sha256').update(lockText).digest('hex');
    const grow = before !== null && before.lock === lock;
    if (only_add && !grow)
      fail('package-lock.json is not the one that these programs were started with: start `make up` again.');
    // A developer's full tree stays full when the lock file changes.
    const level = before !== null && before.level === 'all' ? 'all' : wanted;
    process.stdout.write(`packages   ${grow ? 'adding' : 'installing with npm ci'} (${words[level]})\n`);
    if (grow) removeUnfinished(lockText);
    // A tree that npm empties has no level until it is whole again.
    else rmSync(stampFile, { force: true });
    const { code, output, seconds } = await runNpm(level, { grow });
    if (code !== 0) fail(`${output}\nnpm failed with ${code}; nothing was started.`);
    writeFileSync(stampFile, `${JSON.stringify({ lock, level })}\n`);
    process.stdout.write(`packages   installed in ${seconds.toFixed(1)} s\n`);
  } finally {
    rmSync(lockDir, { recursive: true, force: true });
  }
  if (!existsSync(join(modules, '.bin/node'))) fail('npm ci did not bring node_modules/.bin/node.');
}

await main();
