// Runs once per test run: starts PostgreSQL with a migrated template database that test files clone, and offers the
// engines that are started when the first file asks for them.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Postgres } from '@svc/cli/tools/postgres.ts';
import { migrate, migrateLedger } from '@svc/core/db/index.ts';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { hostAnswerCheck } from '../answers/host.ts';
import { startClickHouse } from '../sim/clickhouse/start.ts';
import { cluster, sharded, usualLedgers, withClient } from './books.ts';
import { type EngineHost, hostEngines, type Shared } from './engines.ts';
import { ENTRY, NODE_FLAGS } from './entry.ts';
import { startKubernetes } from './kubernetes-server.ts';
import { startTestPostgres } from './postgres.ts';
import { startTemporal } from './temporal-server.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    postgres: string;
    /** Socket of the process that checks answers. */
    answers: string;
  }
}

/**
 * Starts the gateway without a configuration. It ends at once and so writes the compile cache, which a killed process
 * does not.
 */
async function compileGateway(cache: string | undefined): Promise<void> {
  if (cache === undefined) return;
  const env = { PATH: process.env['PATH'], NODE_COMPILE_CACHE: cache };
  await once(spawn(process.execPath, [...NODE_FLAGS, ENTRY], { env, stdio: 'ignore' }), 'exit');
}

function hostShared(dir: string): Promise<EngineHost> {
  return hostEngines(dir, {
    async temporal(): Promise<Shared> {
      const { address, namespace, ui_url, stop } = await startTemporal();
      return { access: { address, namespace, ui_url }, stop };
    },
    async clickhouse(): Promise<Shared> {
      const { url, stop } = await startClickHouse();
      return { access: { url }, stop };
    },
    async kubernetes(): Promise<Shared> {
      const { url, token, ca_file, kubeconfig, stop } = await startKubernetes();
      return { access: { url, token, ca_file, kubeconfig }, stop };
    },
  });
}

interface Templates extends Pick<Postgres, 'stop'> {
  /** Address of the first of them. */
  readonly url: string;
}

/** A server of this run, with the templates that databases of tests are clones of. */
async function startTemplates(dir: string): Promise<Templates> {
  // These tests do not depend on durability; the crash test has its own server with fsync on.
  const server = await startTestPostgres({
    dir,
    settings: {
      ...{ fsync: 'off', full_page_writes: 'off', max_connections: '300' },
      // A database lives for seconds; vacuuming all of them would only slow the tests down.
      autovacuum: 'off',
    },
  });
  const admin = new pg.Client({ connectionString: server.url });
  await admin.connect();
  await admin.query('create database svc_template');
  await migrate(server.urlOf('svc_template'));
  if (sharded) await admin.query('create database svc_template_b');
  for (const { url } of usualLedgers(server.urlOf('svc_template'))) await migrateLedger(url);
  await admin.end();
  return { url: server.urlOf('svc_template'), stop: () => server.stop() };
}

/** The template that databases in a cluster are cloned from, without what makes them part of it. */
async function templateIn(coordinator: string): Promise<Templates> {
  const name = `svc_template_${process.pid}`;
  const { href: url } = new URL(`/${name}`, coordinator);
  const run = (text: string) => withClient(coordinator, (client) => client.query(text));
  await run(`create database ${name}`);
  await migrate(url);
  return { url, stop: async () => void (await run(`drop database if exists ${name} with (force)`)) };
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const compiled = compileGateway(project.config.env['NODE_COMPILE_CACHE']);
  const dir = mkdtempSync(join(tmpdir(), 'svc-test-'));
  const server = cluster[0] === undefined ? await startTemplates(dir) : await templateIn(cluster[0]);
  await compiled;
  project.provide('postgres', server.url);
  const engines = await hostShared(dir);
  project.provide('engines', engines.socket);
  const answers = await hostAnswerCheck(dir);
  project.provide('answers', answers.socket);
  return async () => {
    await answers.stop();
    await engines.stop();
    await server.stop();
    rmSync(dir, { recursive: true, force: true });
  };
}
