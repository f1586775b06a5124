// The definitions of other programs' objects, as their releases have them: megabytes of YAML that are not kept here. They come
// from their Go modules, each pinned by the hash that go.sum would have.
import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { toolsDirectory } from '@svc/cli/tools/python.ts';
import { resolveTool } from '@svc/cli/tools/tools.ts';
import { type KubernetesAccess, runKubectl } from '@svc/test/support/kubernetes.ts';
import { vi } from 'vitest';

interface Module {
  readonly path: string;
  readonly version: string;
  readonly sum: string;
  /** Where they are in it. */
  readonly folder: string;
}

/** CloudNativePG and its plugin for backups. */
export const cloudNativePg: readonly Module[] = [
  {
    path: 'github.com/cloudnative-pg/cloudnative-pg',
    version: 'v1.30.0',
    sum: 'h1:fnhVq44xXx97MNiuvJsPrX1vSjYbgdyBK5MSGfdHdp0=',
    folder: 'config/crd/bases',
  },
  {
    path: 'github.com/cloudnative-pg/plugin-barman-cloud',
    version: 'v0.14.0',
    sum: 'h1:kpTo7egntRIM15hvo0xtOj07wyjj23jcz/Co0KfzC7s=',
    folder: 'config/crd/bases',
  },
];

export const certManager: readonly Module[] = [
  {
    path: 'github.com/cert-manager/cert-manager',
    version: 'v1.21.2',
    sum: 'h1:UWgoYM+KLNtRlqmoWOKjKBOBUPVHeepQ6/ac3ERJW68=',
    folder: 'deploy/crds',
  },
];

/** Downloads `module` and puts its definitions into `folder`, which exists when it is complete. */
async function download({ path, version, sum, folder: inside }: Module, folder: string): Promise<void> {
  const go = await resolveTool('go');
  const scratch = mkdtempSync(join(tmpdir(), 'svc-definitions-'));
  try {
    const { stdout } = await promisify(execFile)(
      go.path,
      ['mod', 'download', '-json', `${path}@${version}`],
      {
        cwd: scratch,
        // The hash is compared here; the modules are public.
        env: {
          ...process.env,
          GOMODCACHE: scratch,
          GOFLAGS: '-modcacherw',
          GONOSUMDB: path,
          GOTOOLCHAIN: 'local',
        },
      },
    );
    const found = JSON.parse(stdout) as { Sum: string; Dir: string };
    if (found.Sum !== sum) throw new Error(`${path} ${version} has the hash ${found.Sum}, not ${sum}`);
    const fresh = `${folder}.${process.pid}`;
    mkdirSync(dirname(folder), { recursive: true });
    cpSync(join(found.Dir, inside), fresh, { recursive: true });
    renameSync(fresh, folder);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** The YAML of every definition; downloaded once for this machine. */
async function readDefinitions(modules: readonly Module[]): Promise<string[]> {
  const all: string[] = [];
  for (const module of modules) {
    const name = module.path.slice(module.path.lastIndexOf('/') + 1);
    const folder = join(toolsDirectory(), `${name}-definitions-${module.version.slice(1)}`);
    if (!existsSync(folder)) await download(module, folder);
    const files = readdirSync(folder).filter((file) => file.endsWith('.yaml'));
    for (const file of files) all.push(readFileSync(join(folder, file), 'utf8'));
  }
  return all;
}

/** Gives the API server the definitions of `modules`, and waits until it serves those called `names`. */
export async function installDefinitions(
  access: KubernetesAccess,
  modules: readonly Module[],
  names: readonly string[],
): Promise<void> {
  const text = (await readDefinitions(modules)).join('\n---\n');
  // On the server's side: they are larger than what an annotation may hold.
  const applied = await runKubectl(access, ['apply', '--server-side', '-f', '-'], text);
  if (applied.code !== 0) throw new Error(applied.stderr);
  // It fails, and does not wait, for a definition that has no condition yet.
  const wait = ['wait', '--for=condition=Established', '--timeout=10s', 'crd', ...names];
  const established = async () => {
    const { code, stderr } = await runKubectl(access, wait);
    if (code !== 0) throw new Error(stderr);
  };
  await vi.waitFor(established, { timeout: 60_000, interval: 200 });
}
