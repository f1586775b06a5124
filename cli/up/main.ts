// `make up`: database, migrations, demo organisations, gateway, in this order; then it waits, and stops everything
// in reverse order. The first call must work without reading anything but what is printed here.
import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Config, ConfigError, readConfig, readSecretVariable } from '@svc/core/kernel/index.ts';
import { freePort, startPostgres } from '../tools/postgres.ts';
import { type Child, identify, logTail, reapOrphans, type Started, startChild } from './child.ts';
import { clusterDirectory } from './cluster.ts';
import { guide } from './guide.ts';
import { Interrupted, type Interruption, watchInterruption } from './interruption.ts';
import { dropLock, takeLock } from './lock.ts';
import { isFree, whoListens } from './ports.ts';
import { say, step } from './progress.ts';
import { type Demo, LIVE_GRANT_MICRO_USD, seedDemo } from './seed.ts';
import { readUpFile, type UpFile, upPath, writeUpFile } from './up-file.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const READY_DEADLINE_MS = 60_000;
/** How long calls may go on after Ctrl-C; a deployment waits longer (SVC_DRAIN_SECONDS). */
const DRAIN_SECONDS = '5';
/** Variables of the shipped providers, to say whether live calls can be answered (docs/providers.md). */
const PROVIDER_VARIABLES = [
  ...['OPENAI', 'ANTHROPIC', 'GEMINI', 'MISTRAL', 'XAI', 'GROQ', 'TOGETHER', 'FIREWORKS', 'CEREBRAS'],
  ...['COHERE', 'MOONSHOT', 'ZAI', 'OPENROUTER'],
].map((vendor) => `${vendor}_API_KEY`);

/** A start that cannot go on for a reason that the person at the terminal can mend. */
class CannotStart extends Error {}

interface Stop {
  readonly name: string;
  run(): Promise<void>;
}

interface Running {
  /** Rejects never; resolves with a sentence when a program ended by itself. */
  readonly failed: Promise<string>;
}

interface Start {
  readonly config: Config;
  readonly dataDir: string;
  readonly interruption: Interruption;
  /** What has been started, last first to stop. */
  readonly stops: Stop[];
}

interface Database {
  readonly url: string;
  readonly process: { pid: number; address: string } | null;
  readonly failed: Promise<string>;
}

const never = new Promise<string>(() => {});

function hold(start: Start): void {
  const { dataDir } = start;
  const lock = join(dataDir, 'up.lock');
  const holder = takeLock(lock);
  if (holder !== null) {
    const address = readUpFile(dataDir)?.base_url;
    throw new CannotStart(
      `It already runs on ${dataDir}: process ${holder.pid}${address ? `, ${address}` : ', still starting'}.\n` +
        'Stop it with Ctrl-C there, or start a second one beside it: ' +
        'SVC_DATA_DIR=.svc2 SVC_PORT=8090 make up',
    );
  }
  start.stops.push({ name: 'lock', run: async () => dropLock(lock) });
}

/** The port to listen on, free now. @throws CannotStart naming the variable to change. */
async function choosePort(config: Config): Promise<number> {
  if (config.port === 0) return freePort();
  if (await isFree(config.host, config.port)) return config.port;
  const who = whoListens(config.port);
  throw new CannotStart(
    `Port ${config.port} is in use${who === null ? '' : ` by ${who}`}. ` +
      `Choose another one: SVC_PORT=${config.port + 10} make up`,
  );
}

async function startDatabase(start: Start): Promise<Database> {
  const { config, dataDir } = start;
  if (config.database_url !== null) {
    say('database', 'the one of SVC_DATABASE_URL');
    return { url: config.database_url, process: null, failed: never };
  }
  const { database } = await step('database', 'starting PostgreSQL', async () => {
    // The same port as last time where it is free, so that an address noted down stays true.
    const portFile = join(dataDir, 'postgres.port');
    const last = Number(readText(portFile) ?? 0);
    const port = last > 0 && (await isFree('127.0.0.1', last)) ? last : 0;
    const database = await startPostgres({
      dir: clusterDirectory(dataDir),
      port,
      log: join(dataDir, 'log/postgres.log'),
      progress: (message) => say('database', message),
    }).catch((error: Error) => {
      throw new CannotStart(error.message.trimEnd());
    });
    start.stops.push({ name: 'PostgreSQL', run: () => database.stop() });
    writeFileSync(portFile, String(database.port));
    return { database, done: `PostgreSQL on 127.0.0.1:${database.port}` };
  });
  return {
    url: database.url,
    process: { pid: database.pid, address: `127.0.0.1:${database.port}` },
    failed: database.ended.then(
      (words) => `PostgreSQL ended. The last it said:\n${words.trimEnd().split('\n').slice(-8).join('\n')}`,
    ),
  };
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

async function prepareDatabase(start: Start, url: string): Promise<Demo> {
  const { migrate } = await import('@svc/core/db/index.ts');
  await step('schema', 'migrating', async () => {
    const applied = await migrate(url).catch((error: Error) => {
      throw new CannotStart(
        `The database at ${new URL(url).host} cannot be brought to this release: ${error.message}`,
      );
    });
    return { done: applied.length === 0 ? 'up to date' : `${applied.length} migrations applied` };
  });
  start.interruption.check();
  const { demo } = await step('demo', 'creating demo organisations', async () => {
    const demo = await seedDemo(url, start.dataDir);
    return { demo, done: demo.fresh ? 'organisations and keys created' : 'organisations and keys as before' };
  });
  return demo;
}

/** Waits until `base` answers /readyz with 200. @throws CannotStart with the end of the log when it ends or takes too long. */
async function untilReady(gateway: Child, base: string, interruption: Interruption): Promise<void> {
  const deadline = performance.now() + READY_DEADLINE_MS;
  let detail = 'no answer';
  for (;;) {
    interruption.check();
    if (gateway.hasEnded()) {
      const how = await gateway.ended;
      throw new CannotStart(`The gateway ended while starting (${how}):\n${logTail(gateway.log)}`);
    }
    try {
      const answer = await fetch(`${base}/readyz`, { signal: AbortSignal.timeout(2_000) });
      detail = `${answer.status} ${await answer.text()}`;
      if (answer.status === 200) return;
    } catch {
      // Not listening yet.
    }
    if (performance.now() > deadline)
      throw new CannotStart(`The gateway is not ready after ${READY_DEADLINE_MS / 1000} s: ${detail}`);
    await new Promise((done) => setTimeout(done, 25));
  }
}

async function startGateway(start: Start, port: number, databaseUrl: string): Promise<Child> {
  const { config, dataDir, stops, interruption } = start;
  const metricsFree = config.metrics_port === 0 || (await isFree(config.metrics_host, config.metrics_port));
  const { gateway } = await step('gateway', 'starting', async () => {
    const gateway = await startChild({
      name: 'gateway',
      // A small young generation keeps an idle stream small; without pretenuring ended calls die in it.
      args: ['--max-semi-space-size=8', '--no-allocation-site-pretenuring', join(root, 'gateway/main.ts')],
      cwd: root,
      log: join(dataDir, 'log/gateway.log'),
      env: {
        SVC_DEV: '1',
        SVC_DRAIN_SECONDS: DRAIN_SECONDS,
        // Its journal is found again under the same name.
        SVC_PROCESS_NAME: 'gateway',
        ...process.env,
        SVC_DATA_DIR: dataDir,
        SVC_DATABASE_URL: databaseUrl,
        SVC_PORT: String(port),
        SVC_METRICS_PORT: metricsFree ? String(config.metrics_port) : '0',
      },
    });
    stops.push({ name: 'gateway', run: () => stopChild(gateway, interruption) });
    writeFileSync(join(dataDir, 'children.json'), JSON.stringify([identify(gateway)]));
    await untilReady(gateway, localAddress(config, port), interruption);
    return { gateway, done: `listening on ${config.host}:${port}` };
  });
  return gateway;
}

/** Where this machine reaches the gateway, whatever address it listens on. */
function localAddress(config: Config, port: number): string {
  const host = config.host === '0.0.0.0' || config.host === '::' ? '127.0.0.1' : config.host;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

async function stopChild(child: Child, interruption: Interruption): Promise<void> {
  if (child.hasEnded()) return;
  child.signal('SIGTERM');
  const note = setTimeout(
    () => say('stopping', `${child.name} finishes its running calls; Ctrl-C again ends them now`),
    1_000,
  );
  await Promise.race([child.ended, interruption.second]);
  clearTimeout(note);
  if (child.hasEnded()) return;
  child.signal('SIGKILL');
  await child.ended;
}

async function reapEarlier(dataDir: string): Promise<void> {
  const text = readText(join(dataDir, 'children.json'));
  if (text === null) return;
  const names = await reapOrphans(JSON.parse(text) as Started[]);
  if (names.length > 0) say('cleanup', `ended what a killed start had left behind: ${names.join(', ')}`);
  rmSync(join(dataDir, 'children.json'), { force: true });
}

async function bringUp(start: Start): Promise<Running> {
  const { config, dataDir, interruption } = start;
  hold(start);
  rmSync(upPath(dataDir), { force: true });
  await reapEarlier(dataDir);
  const port = await choosePort(config);
  const database = await startDatabase(start);
  interruption.check();
  const demo = await prepareDatabase(start, database.url);
  interruption.check();
  const gateway = await startGateway(start, port, database.url);
  const file: UpFile = {
    base_url: config.base_url ?? localAddress(config, port),
    sandbox_key: demo.sandbox_key,
    live_key: demo.live_key,
    org_id: demo.org_id,
    project_id: demo.project_id,
    database_url: database.url,
    processes: [
      ...(database.process === null ? [] : [{ name: 'postgres', ...database.process }]),
      { name: 'gateway', pid: gateway.pid, address: `${config.host}:${port}` },
    ],
  };
  start.stops.push({ name: 'up.json', run: async () => rmSync(upPath(dataDir), { force: true }) });
  // Renamed into place by its writer: whoever waits for the file never reads half of it.
  writeUpFile(dataDir, file);
  process.stdout.write(
    guide({
      ...file,
      live_grant: `${LIVE_GRANT_MICRO_USD / 1_000_000} USD granted`,
      log_dir: join(dataDir, 'log'),
      live_providers: PROVIDER_VARIABLES.filter((name) => readSecretVariable(name) !== null).concat(
        config.providers_file === null ? [] : [config.providers_file],
      ),
    }),
  );
  const gatewayFailed = gateway.ended.then(
    (how) => `The gateway ended (${how}). The end of ${gateway.log}:\n${logTail(gateway.log)}`,
  );
  return { failed: Promise.race([database.failed, gatewayFailed]) };
}

async function stopAll(stops: Stop[]): Promise<boolean> {
  let clean = true;
  for (let stop = stops.pop(); stop !== undefined; stop = stops.pop()) {
    try {
      await stop.run();
      if (stop.name !== 'lock' && stop.name !== 'up.json') say('stopped', stop.name);
    } catch (error) {
      clean = false;
      say('stopping', `${stop.name}: ${(error as Error).message}`);
    }
  }
  return clean;
}

/** Runs until told to stop or until a program ends by itself; returns the exit code. */
async function main(): Promise<number> {
  const interruption = watchInterruption();
  // A closed terminal or pipe must not end this process before what it started.
  process.stdout.on('error', () => {});
  let config: Config;
  try {
    config = readConfig();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return 1;
  }
  const dataDir = resolve(root, config.data_dir);
  mkdirSync(join(dataDir, 'log'), { recursive: true });
  // PostgreSQL may run as another user and must get through; what is secret in here is mode 0600 by itself.
  chmodSync(dataDir, statSync(dataDir).mode | 0o011);
  const start: Start = { config, dataDir, interruption, stops: [] };
  let code = 0;
  try {
    const running = await bringUp(start);
    const end = await Promise.race([
      interruption.first.then(() => null),
      running.failed.then((sentence) => sentence),
    ]);
    if (end !== null) {
      process.stderr.write(`\n${end}\n`);
      code = 1;
    }
  } catch (error) {
    if (!(error instanceof Interrupted)) {
      code = 1;
      const known = error instanceof CannotStart;
      process.stderr.write(`\n${known ? error.message : ((error as Error).stack ?? String(error))}\n`);
    }
  }
  process.stdout.write('\n');
  const clean = await stopAll(start.stops);
  return clean ? code : 1;
}

process.exit(await main());
