// A real Kubernetes API for tests: etcd and kube-apiserver, nothing else. Without a controller manager nothing is
// ever collected: a deleted namespace stays Terminating, so every test takes a new one. Nothing here needs vitest.
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@svc/cli/tools/postgres.ts';
import { type Engine, startEngine, toolPath, untilAnswer } from './engine.ts';

export interface KubernetesAccess {
  readonly url: string;
  /** Token of a member of system:masters. */
  readonly token: string;
  readonly ca_file: string;
  /** Path of a file for KUBECONFIG and `KubeConfig.loadFromFile`. */
  readonly kubeconfig: string;
}

export interface TestKubernetes extends KubernetesAccess {
  /** Sends SIGKILL to the API server; etcd keeps running. */
  killApiServer(): Promise<void>;
  /** Starts an API server on the same port with the same certificates and state; a running one is killed first. */
  restartApiServer(): Promise<void>;
  stop(): Promise<void>;
}

export interface KubernetesReply {
  readonly status: number;
  readonly text: string;
}

/** One API call with the token of `access`. */
export function callKubernetes(
  access: Pick<KubernetesAccess, 'url' | 'token' | 'ca_file'>,
  path: string,
  body?: object,
): Promise<KubernetesReply> {
  return new Promise((done, fail) => {
    const asked = request(
      new URL(path, access.url),
      {
        method: body === undefined ? 'GET' : 'POST',
        ca: readFileSync(access.ca_file),
        headers: { authorization: `Bearer ${access.token}`, 'content-type': 'application/json' },
        timeout: 10_000,
        // No connection pool: an idle connection would keep the calling process alive.
        agent: false,
      },
      (reply) => {
        let text = '';
        reply.setEncoding('utf8');
        reply.on('data', (piece) => {
          text += piece;
        });
        reply.on('end', () => done({ status: reply.statusCode ?? 0, text }));
      },
    );
    asked.on('timeout', () => asked.destroy(new Error(`no answer from ${path}`)));
    asked.on('error', fail);
    asked.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

async function untilOk(access: KubernetesAccess, path: string): Promise<void> {
  const { status, text } = await callKubernetes(access, path);
  if (status !== 200) throw new Error(`${path} answered ${status} ${text.slice(0, 400)}`);
}

async function startEtcd(dir: string): Promise<{ engine: Engine; url: string }> {
  const url = `http://127.0.0.1:${await freePort()}`;
  const peer = `http://127.0.0.1:${await freePort()}`;
  const engine = startEngine(
    await toolPath('etcd'),
    [
      ...['--data-dir', join(dir, 'etcd'), '--listen-client-urls', url, '--advertise-client-urls', url],
      ...['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer],
      // These tests do not depend on durability.
      ...['--initial-cluster', `default=${peer}`, '--unsafe-no-fsync', '--log-level', 'error'],
    ],
    dir,
  );
  await untilAnswer(engine, async () => {
    const reply = await fetch(`${url}/health`, { signal: AbortSignal.timeout(2_000) });
    const text = await reply.text();
    if (!text.includes('true')) throw new Error(text);
  });
  return { engine, url };
}

/** Writes keys, tokens and the kubeconfig of a cluster whose API server listens on `port`. */
function writeAccess(dir: string, port: number): KubernetesAccess {
  const certs = join(dir, 'certs');
  mkdirSync(certs);
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  writeFileSync(join(dir, 'sa.key'), privateKey, { mode: 0o600 });
  writeFileSync(join(dir, 'sa.pub'), publicKey);
  const token = randomBytes(24).toString('hex');
  writeFileSync(join(dir, 'tokens.csv'), `${token},admin,admin-uid,"system:masters"\n`, { mode: 0o600 });
  const url = `https://127.0.0.1:${port}`;
  // The server creates its self-signed certificate when it first starts.
  const ca_file = join(certs, 'apiserver.crt');
  const kubeconfig = join(dir, 'kubeconfig');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    clusters: [{ name: 'test', cluster: { server: url, 'certificate-authority': ca_file } }],
    users: [{ name: 'admin', user: { token } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'admin' } }],
  };
  writeFileSync(kubeconfig, JSON.stringify(config), { mode: 0o600 });
  return { url, token, ca_file, kubeconfig };
}

function apiServerArgs(dir: string, port: number, etcd_url: string): string[] {
  return [
    `--etcd-servers=${etcd_url}`,
    ...['--bind-address=127.0.0.1', '--advertise-address=127.0.0.1', `--secure-port=${port}`],
    ...[`--cert-dir=${join(dir, 'certs')}`, '--service-cluster-ip-range=10.96.0.0/24'],
    '--service-account-issuer=https://svc.test',
    `--service-account-key-file=${join(dir, 'sa.pub')}`,
    `--service-account-signing-key-file=${join(dir, 'sa.key')}`,
    ...[
      `--token-auth-file=${join(dir, 'tokens.csv')}`,
      '--authorization-mode=RBAC',
      '--anonymous-auth=false',
    ],
    // Nothing creates default service accounts here, and pods are only dry-run, never started.
    ...['--disable-admission-plugins=ServiceAccount', '--enable-priority-and-fairness=false'],
    '--profiling=false',
  ];
}

/** Starts etcd and an API server; the caller stops them, with `atFileEnd(() => kubernetes.stop())` for instance. */
export async function startKubernetes(): Promise<TestKubernetes> {
  const program = await toolPath('kube-apiserver');
  const dir = mkdtempSync(join(tmpdir(), 'svc-kubernetes-'));
  const etcd = await startEtcd(dir);
  const port = await freePort();
  const access = writeAccess(dir, port);
  const start = async (): Promise<Engine> => {
    const engine = startEngine(program, apiServerArgs(dir, port, etcd.url), dir);
    await untilAnswer(engine, () => untilOk(access, '/readyz'));
    return engine;
  };
  let apiServer: Engine;
  const clean = async () => {
    await etcd.engine.kill();
    rmSync(dir, { recursive: true, force: true });
  };
  try {
    apiServer = await start();
  } catch (error) {
    await clean();
    throw error;
  }
  return {
    ...access,
    killApiServer: () => apiServer.kill(),
    async restartApiServer() {
      await apiServer.kill();
      apiServer = await start();
    },
    async stop() {
      await apiServer.kill();
      await clean();
    },
  };
}
