// `make up` from start to stop as a script sees it: up.json, a first call, every program, the same keys again, nothing
// left behind.
import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, expect, test } from 'vitest';
import { endWithUs } from '../../test/support/watch.ts';
import { root } from '../installation.ts';
import { freePort } from '../tools/postgres.ts';
import { startOf } from './lock.ts';
import { readUpFile, type UpFile } from './up-file.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'svc-up-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

/** What a test that failed has left running: the next one wants the data directory. */
const left = new Set<() => Promise<unknown>>();
afterEach(async () => {
  await Promise.all([...left].map((end) => end()));
});

interface Up {
  readonly output: () => string;
  /** Resolves at the first line that begins with `words`; rejects when it ends without one. */
  line(words: string): Promise<void>;
  /** Exit code, or the signal that ended it. */
  readonly ended: Promise<number | string | null>;
  signal(signal: NodeJS.Signals): void;
}

function up(variables: Record<string, string>): Up {
  const child = spawn(process.execPath, ['cli/up/main.ts'], {
    cwd: root,
    env: {
      PATH: process.env['PATH'] ?? '',
      // As under make, which has it over runs.
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? join(dataDir, 'compile'),
      SVC_DATA_DIR: dataDir,
      HOME: process.env['HOME'] ?? '',
      SVC_PORT: '0',
      SVC_ADMIN_PORT: '0',
      SVC_STAFF_PORT: '0',
      SVC_METRICS_PORT: '0',
      ...variables,
    },
  });
  let output = '';
  const waiting = new Map<string, () => void>();
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      output += `${line}\n`;
      for (const [words, done] of waiting) if (line.startsWith(words)) done();
    });
  }
  const ended = new Promise<number | string | null>((done) =>
    child.once('close', (code, signal) => done(code ?? signal)),
  );
  endWithUs(child.pid as number, ended, 'INT');
  const end = () => {
    child.kill('SIGINT');
    return ended;
  };
  left.add(end);
  ended.then(() => left.delete(end));
  return {
    output: () => output,
    line: (words) =>
      Promise.race([
        new Promise<void>((done) => {
          if (`\n${output}`.includes(`\n${words}`)) done();
          else waiting.set(words, done);
        }),
        ended.then((code) => {
          throw new Error(`ended with ${code} before "${words}":\n${output}`);
        }),
      ]),
    ended,
    signal: (signal) => void child.kill(signal),
  };
}

/** The ten seconds of a second start on a machine of its own; on one that is busy, as many times longer as work waits. */
const startMs = () => 10_000 * Math.max(1, (loadavg()[0] ?? 0) / availableParallelism());

async function firstCall({ base_url, sandbox_key }: UpFile): Promise<number> {
  const answer = await fetch(`${base_url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${sandbox_key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hello' }] }),
  });
  const body = await answer.text();
  if (answer.status === 200) expect(body).toContain('Hello');
  return answer.status;
}

interface Status {
  readonly ok: boolean;
  readonly programs: readonly { name: string; ready: boolean; detail: string | null }[];
}

/** `svcctl status --json` on the data directory; its exit code must say the same. */
async function status(): Promise<Status> {
  const env = {
    PATH: process.env['PATH'] ?? '',
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? join(dataDir, 'compile'),
    SVC_DATA_DIR: dataDir,
  };
  return new Promise((done, fail) => {
    execFile(
      process.execPath,
      ['cli/main.ts', 'status', '--json'],
      { cwd: root, env },
      (error, stdout, stderr) => {
        try {
          const reported = JSON.parse(stdout) as Status;
          expect(error === null).toBe(reported.ok);
          done(reported);
        } catch {
          fail(new Error(`status: ${stdout}${stderr}`));
        }
      },
    );
  });
}

const fileNow = () => readUpFile(dataDir) as UpFile;
const pidOf = (name: string) => fileNow().processes.find((one) => one.name === name)?.pid as number;
const running = (file: UpFile) =>
  file.processes.filter(({ pid }) => startOf(pid) !== null).map(({ name }) => name);
const everything = ['postgres', 'gateway', 'rails', 'portal', 'temporal', 'admin', 'worker'];

async function json(url: string, options: RequestInit = {}): Promise<Record<string, unknown>> {
  const answer = await fetch(url, options);
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${text}`);
  return JSON.parse(text) as Record<string, unknown>;
}

const post = (body: object, headers: Record<string, string> = {}): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
});

async function untilTrue(what: string, test: () => Promise<boolean> | boolean): Promise<void> {
  const deadline = performance.now() + 40_000;
  while (!(await test())) {
    if (performance.now() > deadline) throw new Error(`not in time: ${what}`);
    await new Promise((done) => setTimeout(done, 50));
  }
}

/** Buys credits with the live key and pays at the simulated checkout, as a browser's button does. Returns its id. */
async function topUp({ base_url, live_key }: UpFile): Promise<string> {
  const authorization = `Bearer ${live_key}`;
  const { topup, checkout_url } = await json(
    `${base_url}/v1/credits/topups`,
    post({ amount_minor: 2500 }, { authorization, 'idempotency-key': 'up-test-1' }),
  );
  const { id } = topup as { id: string };
  const paid = await fetch(`${checkout_url}/pay`, { method: 'POST', redirect: 'manual' });
  expect(paid.status).toBe(303);
  const url = `${base_url}/v1/credits/topups/${id}`;
  await untilTrue('the top-up is paid and booked', async () => {
    return (await json(url, { headers: { authorization } }))['status'] === 'paid';
  });
  return id;
}

/** The same in rupees, by the page to pay on and the checkout of rail-a. */
async function topUpInIndia({ base_url, demo_in }: UpFile): Promise<void> {
  const authorization = `Bearer ${demo_in.live_key}`;
  const { topup, checkout_url } = await json(
    `${base_url}/v1/credits/topups`,
    post({ amount_minor: 100_000 }, { authorization }),
  );
  const page = await (await fetch(checkout_url as string)).text();
  const fields = [...page.matchAll(/name="([^"]+)" value="([^"]*)"/g)].map(([, name, value]) => [
    name,
    value,
  ]);
  const opens = /action="([^"]+)"/.exec(page)?.[1] as string;
  const body = new URLSearchParams(fields as [string, string][]);
  const opened = await fetch(opens, { method: 'POST', body, redirect: 'manual' });
  const at = new URL(opened.headers.get('location') as string, opens);
  expect((await fetch(`${at}/upi`, { method: 'POST' })).status).toBe(200);
  const { id } = topup as { id: string };
  await untilTrue('the top-up in rupees is paid and booked', async () => {
    const read = await json(`${base_url}/v1/credits/topups/${id}`, { headers: { authorization } });
    return read['status'] === 'paid';
  });
  // Its document is registered at the simulated portal, because the demo organization is a business.
  await untilTrue('the invoice has its number of the portal', async () => {
    const { data } = await json(`${base_url}/v1/invoices`, { headers: { authorization } });
    const [invoice] = data as { irn_status: string; irn: string | null }[];
    return invoice?.irn_status === 'generated' && /^[0-9a-f]{64}$/.test(invoice.irn ?? '');
  });
}

/** Its workflow, as Temporal's own pages see it. */
function workflowOf(file: UpFile, topup_id: string): Promise<Record<string, unknown>> {
  return json(`${file.temporal_ui_url}/api/v1/namespaces/svc/workflows/topup-${topup_id}`);
}

test('every program starts after the first call, works, and keeps its data over a restart', async () => {
  const port = String(await freePort());
  const first = up({ SVC_PORT: port });
  await first.line('Logs are in');
  const early = fileNow();
  expect(early).toMatchObject({
    base_url: `http://127.0.0.1:${port}`,
    org_id: expect.stringMatching(/^org_/),
    project_id: expect.stringMatching(/^prj_/),
    live_key: expect.stringMatching(/^svc-live-/),
    sandbox_key: expect.stringMatching(/^svc-test-/),
  });
  for (const secret of ['up.json', 'demo.json', 'addresses.json'])
    expect(statSync(join(dataDir, secret)).mode & 0o077).toBe(0);
  expect(await firstCall(early)).toBe(200);

  const second = up({ SVC_PORT: port });
  expect(await second.ended).toBe(1);
  expect(second.output()).toContain('It already runs');

  await first.line('all ');
  const file = fileNow();
  expect(running(file)).toEqual(everything);
  const reported = await status();
  expect(reported.programs.filter(({ ready }) => !ready)).toEqual([]);
  expect(reported.ok).toBe(true);

  const { email, password } = file.console_login;
  const { token } = await json(
    `${file.admin_url}/v1/auth/login`,
    post({ email, password, transport: 'bearer' }),
  );
  const session = await json(`${file.admin_url}/v1/auth/session`, {
    headers: { authorization: `Bearer ${token}` },
  });
  expect(JSON.stringify(session)).toContain(email);
  const page = await fetch(`${file.admin_url}/`);
  expect(page.headers.get('content-type')).toContain('text/html');
  expect((await fetch(`${file.staff_url}/readyz`)).status).toBe(200);

  const topup_id = await topUp(file);
  await topUpInIndia(file);
  await untilTrue('its workflow exists', () =>
    workflowOf(file, topup_id).then(
      () => true,
      () => false,
    ),
  );

  for (const name of ['worker', 'gateway']) {
    process.kill(pidOf(name), 'SIGKILL');
    await first.line(`${name.padEnd(10)} ready again`);
  }
  expect(first.output()).toContain('it ended (signal SIGKILL); next start in 1 s');
  expect(await firstCall(file)).toBe(200);

  const last = fileNow();
  first.signal('SIGINT');
  expect(await first.ended).toBe(0);
  expect(running(last)).toEqual([]);
  expect(existsSync(join(dataDir, 'up.json'))).toBe(false);

  // A busy machine only makes a start longer, so one quick one of three is proof.
  const startAgain = async () => {
    const began = performance.now();
    const program = up({ SVC_PORT: port });
    await program.line('Logs are in');
    expect(await firstCall(fileNow())).toBe(200);
    return { program, took_ms: performance.now() - began };
  };
  let { program: again, took_ms } = await startAgain();
  for (let i = 0; i < 2 && took_ms >= startMs(); i++) {
    again.signal('SIGTERM');
    expect(await again.ended).toBe(0);
    ({ program: again, took_ms } = await startAgain());
  }
  expect(took_ms).toBeLessThan(startMs());
  const { live_key, sandbox_key, org_id } = fileNow();
  expect({ live_key, sandbox_key, org_id }).toEqual({
    live_key: file.live_key,
    sandbox_key: file.sandbox_key,
    org_id: file.org_id,
  });
  await again.line('temporal   ready');
  expect(await workflowOf(fileNow(), topup_id)).toMatchObject({ workflowExecutionInfo: {} });
  again.signal('SIGTERM');
  expect(await again.ended).toBe(0);
}, 240_000);

test('without a workflow server calls work, and the output says what is missing and what to do', async () => {
  const started = up({ SVC_TEMPORAL_BIN: '/nonexistent' });
  await started.line('Logs are in');
  expect(await firstCall(fileNow())).toBe(200);
  await started.line('all ');
  expect(started.output()).toContain('temporal   NOT RUNNING: SVC_TEMPORAL_BIN names /nonexistent');
  expect(started.output()).toContain('make tools');
  const { ok, programs } = await status();
  expect(ok).toBe(false);
  const detail = expect.stringContaining('SVC_TEMPORAL_BIN');
  expect(programs).toContainEqual(expect.objectContaining({ name: 'temporal', ready: false, detail }));
  expect(programs).toContainEqual(expect.objectContaining({ name: 'admin', ready: true }));
  started.signal('SIGINT');
  expect(await started.ended).toBe(0);
}, 120_000);

test('a port in use is reported with the variable to change, and no process is left running', async () => {
  const { createServer } = await import('node:http');
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  const { port } = server.address() as { port: number };
  const refused = up({ SVC_PORT: String(port) });
  expect(await refused.ended).toBe(1);
  expect(refused.output()).toContain(`Port ${port} is in use by process ${process.pid}`);
  expect(refused.output()).toContain('SVC_PORT=');
  expect(existsSync(join(dataDir, 'up.lock'))).toBe(false);

  const without = up({ SVC_ADMIN_PORT: String(port) });
  await without.line('admin      NOT RUNNING');
  expect(without.output()).toContain('SVC_ADMIN_PORT=');
  expect(await firstCall(fileNow())).toBe(200);
  without.signal('SIGINT');
  expect(await without.ended).toBe(0);
  server.close();
}, 120_000);

test('Ctrl-C while further programs are starting stops them, too', async () => {
  const started = up({});
  await started.line('temporal   ready');
  const file = fileNow();
  const children = readFileSync(join(dataDir, 'children.json'), 'utf8');
  for (const name of ['children.json', 'temporal.db', 'up.json']) {
    expect([name, statSync(join(dataDir, name)).mode & 0o077]).toEqual([name, 0]);
  }
  started.signal('SIGINT');
  expect(await started.ended).toBe(0);
  expect(running(file)).toEqual([]);
  const { children: all } = JSON.parse(children) as { children: { name: string; pid: number }[] };
  expect(all.filter(({ pid }) => startOf(pid) !== null)).toEqual([]);
}, 120_000);

test('when the database dies, that is reported and the other programs are stopped', async () => {
  const started = up({});
  await started.line('rails      ready');
  const file = fileNow();
  process.kill(pidOf('postgres'), 'SIGKILL');
  expect(await started.ended).toBe(1);
  expect(started.output()).toContain('PostgreSQL ended');
  expect(running(file)).toEqual([]);
}, 120_000);

test('processes of a killed start end too, and the next start continues with its data', async () => {
  const killed = up({});
  await killed.line('rails      ready');
  const file = fileNow();
  killed.signal('SIGKILL');
  await killed.ended;
  await untilTrue('nothing of it runs', () => running(file).length === 0);
  const next = up({});
  await next.line('Logs are in');
  expect(fileNow().sandbox_key).toBe(file.sandbox_key);
  next.signal('SIGINT');
  expect(await next.ended).toBe(0);
}, 120_000);

test('an error in the configuration is reported before anything is started', async () => {
  const refused = up({ SVC_PROT: '8080' });
  expect(await refused.ended).toBe(1);
  expect(refused.output()).toContain('SVC_PROT: unknown setting');
  expect(readFileSync(join(dataDir, 'log/gateway.log'), 'utf8')).not.toContain('SVC_PROT');
});
