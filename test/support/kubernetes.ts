// The Kubernetes API for test files, with kubectl and helm as people use them. Files that use it are listed in
// test/suite/parts.ts and run last, because building kube-apiserver takes minutes on a new machine.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { toolPath } from './engine.ts';
import { askEngine } from './engines.ts';
import { callKubernetes, type KubernetesAccess } from './kubernetes-server.ts';

export {
  callKubernetes,
  type KubernetesAccess,
  startKubernetes,
  type TestKubernetes,
} from './kubernetes-server.ts';

/**
 * The cluster that all files of this run share; the first file that asks starts it. Each test uses its own namespace.
 */
export function sharedKubernetes(): Promise<KubernetesAccess> {
  return askEngine('kubernetes');
}

/**
 * Creates a namespace and returns its name. It is never deleted, because no controller here could finish a deletion.
 */
export async function createNamespace(access: KubernetesAccess, prefix = 'test'): Promise<string> {
  const name = `${prefix}-${randomBytes(6).toString('hex')}`;
  const { status, text } = await callKubernetes(access, '/api/v1/namespaces', {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name },
  });
  if (status !== 201) throw new Error(`namespace ${name} was not made: ${status} ${text}`);
  return name;
}

export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program until it ends, with `access` as its cluster (absent: no cluster). */
function runOn(
  access: KubernetesAccess | undefined,
  program: string,
  args: readonly string[],
  stdin: string,
): Promise<CommandResult> {
  // Never the cluster of the person who runs the tests.
  const env = { ...process.env, KUBECONFIG: access?.kubeconfig ?? '/dev/null' };
  const child = spawn(program, args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (piece) => {
    stdout += piece;
  });
  child.stderr.on('data', (piece) => {
    stderr += piece;
  });
  // A program that ends without reading its input breaks the pipe; its exit code tells why it ended.
  child.stdin.on('error', () => {});
  child.stdin.end(stdin);
  return new Promise((done, fail) => {
    child.once('error', fail);
    child.once('close', (code) => done({ code: code ?? 1, stdout, stderr }));
  });
}

/** Runs `kubectl` with `args`; `stdin` is what `-f -` reads. */
export async function runKubectl(
  access: KubernetesAccess,
  args: readonly string[],
  stdin = '',
): Promise<CommandResult> {
  return runOn(access, await toolPath('kubectl'), args, stdin);
}

/** Runs `helm` with `args`, without a cluster unless `access` is given. */
export async function runHelm(args: readonly string[], access?: KubernetesAccess): Promise<CommandResult> {
  return runOn(access, await toolPath('helm'), args, '');
}
