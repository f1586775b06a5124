// The definitions of CloudNativePG and of its plugin for backups, as their releases have them: a megabyte of YAML that is not
// kept here. They come from their Go modules, each pinned by the hash that go.sum would have.
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

interface Module {
  readonly path: string;
  readonly version: string;
  readonly sum: string;
}

const modules: readonly Module[] = [
  {
    path: 'github.com/cloudnative-pg/cloudnative-pg',
    version: 'v1.30.0',
    sum: 'h1:fnhVq44xXx97MNiuvJsPrX1vSjYbgdyBK5MSGfdHdp0=',
  },
  {
    path: 'github.com/cloudnative-pg/plugin-barman-cloud',
    version: 'v0.14.0',
    sum: 'h1:kpTo7egntRIM15hvo0xtOj07wyjj23jcz/Co0KfzC7s=',
  },
];

/** Downloads `module` and puts its definitions into `folder`, which exists when it is complete. */
async function download({ path, version, sum }: Module, folder: string): Promise<void> {
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
    cpSync(join(found.Dir, 'config/crd/bases'), fresh, { recursive: true });
    renameSync(fresh, folder);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** The YAML of every definition; downloaded once for this machine. */
export async function readDefinitions(): Promise<string[]> {
  const all: string[] = [];
  for (const module of modules) {
    const name = module.path.slice(module.path.lastIndexOf('/') + 1);
    const folder = join(toolsDirectory(), `${name}-definitions-${module.version.slice(1)}`);
    if (!existsSync(folder)) await download(module, folder);
    for (const file of readdirSync(folder)) all.push(readFileSync(join(folder, file), 'utf8'));
  }
  return all;
}
