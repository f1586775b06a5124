// The Kubernetes API for test files, with kubectl and helm as people type them. Files that use it are listed in
// test/suite/parts.ts: they run last, because building kube-apiserver takes minutes on a new machine.
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

/** The cluster that all files of this run share, started by the first that asks. Namespaces keep tests apart. */
export function sharedKubernetes(): Promise<KubernetesAccess> {
  return askEngine('kubernetes');
}

/** The name of a fresh namespace. It is never deleted: nothing here could end it. */
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

/** Runs a program on the cluster of `access` (none: on no cluster at all) to its end. */
function runOn(
  access: KubernetesAccess | undefined,
  program: string,
  args: readonly string[],
  stdin: string,
): Promise<CommandResult> {
  // Never the cluster of whoever runs the tests.
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
  // A program that ends without reading its input breaks the pipe; its exit code tells why.
  child.stdin.on('error', () => {});
  child.stdin.end(stdin);
  return new Promise((done, fail) => {
    child.once('error', fail);
    child.once('close', (code) => done({ code: code ?? 1, stdout, stderr }));
  });
}

/** `kubectl` with `args`; `stdin` is what `-f -` reads. */
export async function runKubectl(
  access: KubernetesAccess,
  args: readonly string[],
  stdin = '',
): Promise<CommandResult> {
  return runOn(access, await toolPath('kubectl'), args, stdin);
}

/** `helm` with `args`, without a cluster unless `access` is given. */
export async function runHelm(args: readonly string[], access?: KubernetesAccess): Promise<CommandResult> {
  return runOn(access, await toolPath('helm'), args, '');
}
