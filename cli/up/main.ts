// `make up`: starts database, migrations, demo organizations and gateway, in this order, and then everything else in
// the background. Waits, and stops everything in reverse order. What is printed here is all one must read to make the
// first call.
import { chmodSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Config, ConfigError, readConfig, readSecretVariable } from '@svc/core/kernel/index.ts';
import { shownSettings } from '../shown-settings.ts';
import { chooseAddresses, localAddress, sharedEnvironment } from './addresses.ts';
import { startBackground } from './background.ts';
import { Board } from './board.ts';
import { guardChildren, reapOrphans } from './child.ts';
import { prepareDatabase, startDatabase } from './database.ts';
import { guide } from './guide.ts';
import { Interrupted, watchInterruption } from './interruption.ts';
import { Keeper, StartFailed } from './keeper.ts';
import { dropLock, takeLock } from './lock.ts';
import { type Facts, gatewayProgram } from './programs.ts';
import { say, step } from './progress.ts';
import { type Demo, LIVE_GRANT_MICRO_USD } from './seed.ts';
import { CannotStart, root, type Start, type Stop } from './start.ts';
import { readUpFile, type UpBase, upPath } from './up-file.ts';

/** Variables of the shipped providers (docs/providers.md), to say whether live calls can be answered. */
const PROVIDER_VARIABLES = [
  ...['OPENAI', 'ANTHROPIC', 'GEMINI', 'MISTRAL', 'XAI', 'GROQ', 'TOGETHER', 'FIREWORKS', 'CEREBRAS'],
  ...['COHERE', 'MOONSHOT', 'ZAI', 'OPENROUTER'],
].map((vendor) => `${vendor}_API_KEY`);

interface Running {
  /** Never rejects. Resolves with a sentence when a program that everything needs has ended by itself. */
  readonly failed: Promise<string>;
  /** Stops the background from starting anything more. */
  abort(): void;
}

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
  start.stops.push({ name: 'lock', quiet: true, run: async () => dropLock(lock) });
  const dismiss = guardChildren(dataDir);
  start.stops.push({ name: 'guard', quiet: true, run: async () => dismiss() });
}

async function reapEarlier(dataDir: string): Promise<void> {
  const names = await reapOrphans(dataDir);
  if (names.length > 0) say('cleanup', `ended what a killed start had left behind: ${names.join(', ')}`);
  rmSync(join(dataDir, 'children.json'), { force: true });
}

/** Starts the gateway, which is restarted whenever it ends. @throws CannotStart when its first start fails. */
async function startGateway(start: Start, facts: Facts): Promise<void> {
  const { config, addresses } = facts;
  const gateway = new Keeper(await gatewayProgram(facts), start);
  await step('gateway', 'starting', async () => {
    start.stops.push({ name: 'gateway', run: () => gateway.stop() });
    await gateway.start().catch((error: Error) => {
      throw error instanceof StartFailed ? new CannotStart(`The gateway: ${error.message}`) : error;
    });
    return { done: `listening on ${config.host}:${addresses.gateway}` };
  });
  gateway.keep();
}

function announce(start: Start, parts: { facts: Facts; demo: Demo; databaseUrl: string }): void {
  const { config, dataDir, board } = start;
  const { facts, demo, databaseUrl } = parts;
  const { addresses, env } = facts;
  const base: UpBase = {
    base_url: config.base_url ?? localAddress(config, addresses.gateway),
    sandbox_key: demo.sandbox_key,
    live_key: demo.live_key,
    org_id: demo.org_id,
    project_id: demo.project_id,
    console_login: demo.console_login,
    demo_in: { live_key: demo.indian.live_key, console_login: demo.indian.console_login },
    database_url: databaseUrl,
    settings: shownSettings(readConfig(env)),
  };
  start.stops.push({
    name: 'up.json',
    quiet: true,
    async run() {
      board.withdraw();
      rmSync(upPath(dataDir), { force: true });
    },
  });
  // up.json is renamed into place, so a script that waits for the file never reads half of it.
  board.announce(base);
  process.stdout.write(
    guide({
      ...base,
      console_url: addresses.taken['admin'] === undefined ? localAddress(config, addresses.admin) : null,
      has_simulated_rail: addresses.rails.a !== null || addresses.rails.b !== null,
      live_grant: `${LIVE_GRANT_MICRO_USD / 1_000_000} USD granted`,
      log_dir: join(dataDir, 'log'),
      live_providers: PROVIDER_VARIABLES.filter((name) => readSecretVariable(name) !== null).concat(
        config.providers_file === null ? [] : [config.providers_file],
      ),
    }),
  );
}

async function bringUp(start: Start): Promise<Running> {
  const { config, dataDir, interruption } = start;
  hold(start);
  rmSync(upPath(dataDir), { force: true });
  await reapEarlier(dataDir);
  const chosen = await chooseAddresses(config, dataDir);
  const database = await startDatabase(start);
  interruption.check();
  const has_portal = chosen.portal !== null;
  const demo = await prepareDatabase(start, { url: database.direct_url, has_portal });
  // Where staff have set a supplier, its documents are real ones, and nothing simulated is beside them.
  const addresses = demo.has_supplier ? { ...chosen, portal: null } : chosen;
  interruption.check();
  const env = sharedEnvironment({ addresses, dataDir, databaseUrl: database.url });
  const facts: Facts = { config, dataDir, addresses, env };
  await startGateway(start, facts);
  announce(start, { facts, demo, databaseUrl: database.direct_url });
  const background = startBackground(start, facts);
  return { failed: database.failed, abort: () => background.abort() };
}

async function stopAll(stops: Stop[]): Promise<boolean> {
  let clean = true;
  for (let stop = stops.pop(); stop !== undefined; stop = stops.pop()) {
    try {
      await stop.run();
      if (stop.quiet !== true) say('stopped', stop.name);
    } catch (error) {
      clean = false;
      say('stopping', `${stop.name}: ${(error as Error).message}`);
    }
  }
  return clean;
}

/** Runs until a stop is requested or the database ends by itself; returns the exit code. */
async function main(): Promise<number> {
  const interruption = watchInterruption();
  // When the terminal or pipe closes, this process must live on to stop the programs it has started.
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
  // PostgreSQL may run as another user, who must be able to enter the directory; secret files in it have mode 0600.
  chmodSync(dataDir, statSync(dataDir).mode | 0o011);
  const start: Start = { config, dataDir, interruption, board: new Board(dataDir), stops: [] };
  let code = 0;
  try {
    const running = await bringUp(start);
    const end = await Promise.race([
      interruption.first.then(() => null),
      running.failed.then((sentence) => sentence),
    ]);
    running.abort();
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
