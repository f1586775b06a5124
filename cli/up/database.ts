// The database of `make up`: embedded unless SVC_DATABASE_URL names one, migrated to this release, and with the demo
// organizations in it.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { configuredDatabase, type DatabaseAddresses } from '@svc/core/db/index.ts';
import { startPostgres } from '../tools/postgres.ts';
import { clusterDirectory } from './cluster.ts';
import { whyPostgresEnded } from './last-words.ts';
import { isFree } from './ports.ts';
import { say, step } from './progress.ts';
import { type Demo, seedDemo } from './seed.ts';
import { CannotStart, readText, type Start } from './start.ts';

interface Database extends DatabaseAddresses {
  /** Resolves with a sentence when the server has ended; never resolves for a server that the user runs. */
  readonly failed: Promise<string>;
}

const never = new Promise<string>(() => {});

/**
 * Starts PostgreSQL on the data directory, or uses the configured one. @throws CannotStart with the server's output.
 */
export async function startDatabase(start: Start): Promise<Database> {
  const { config, dataDir, board } = start;
  const configured = configuredDatabase(config);
  if (configured !== null) {
    say('database', 'the one of SVC_DATABASE_URL');
    return { ...configured, failed: never };
  }
  const { database } = await step('database', 'starting PostgreSQL', async () => {
    // The port of the last start if it is free, so that the address stays the same.
    const portFile = join(dataDir, 'postgres.port');
    const last = Number(readText(portFile) ?? 0);
    const port = last > 0 && (await isFree('127.0.0.1', last)) ? last : 0;
    const database = await startPostgres({
      dir: clusterDirectory(dataDir),
      port,
      log: join(dataDir, 'log/postgres.log'),
      progress: (message) => say('database', message),
    }).catch((error: Error) => {
      const isFull = /No space left on device/i.test(error.message);
      throw new CannotStart(isFull ? whyPostgresEnded(error.message, dataDir) : error.message.trimEnd());
    });
    start.stops.push({ name: 'PostgreSQL', run: () => database.stop() });
    writeFileSync(portFile, String(database.port));
    return { database, done: `PostgreSQL on 127.0.0.1:${database.port}` };
  });
  board.started('postgres', database.pid);
  board.set({
    name: 'postgres',
    state: 'ready',
    address: `127.0.0.1:${database.port}`,
    pid: database.pid,
    health_url: null,
    detail: null,
  });
  return {
    ...{ url: database.url, direct_url: database.url },
    failed: database.ended.then((words) => whyPostgresEnded(words, dataDir)),
  };
}

/** Migrates and seeds the database. @throws CannotStart when it cannot be migrated to this release. */
export async function prepareDatabase(
  start: Start,
  { url, has_portal }: { url: string; has_portal: boolean },
): Promise<Demo> {
  const { migrate } = await import('@svc/core/db/index.ts');
  await step('schema', 'migrating', async () => {
    const { applied } = await migrate(url).catch((error: Error) => {
      throw new CannotStart(
        `The database at ${new URL(url).host} cannot be brought to this release: ${error.message}`,
      );
    });
    return { done: applied.length === 0 ? 'up to date' : `${applied.length} migrations applied` };
  });
  start.interruption.check();
  const { demo } = await step('demo', 'creating demo organizations', async () => {
    const demo = await seedDemo(url, { dataDir: start.dataDir, has_portal });
    return { demo, done: demo.fresh ? 'organizations and keys created' : 'organizations and keys as before' };
  });
  return demo;
}
