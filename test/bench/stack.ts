// Everything the bench runs: upstream, load generator, bare proxy, PostgreSQL and the gateways, each a process.
import type { ChildProcess } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Postgres } from '@svc/cli/tools/postgres.ts';
import { migrate } from '@svc/core/db/index.ts';
import pg from 'pg';
import { type GatewayProcess, NODE_FLAGS, startGatewayProcess } from '../support/gateway.ts';
import { startTestPostgres } from '../support/postgres.ts';
import { type Provisioned, provision } from '../support/provision.ts';
import type { Target } from './load-jobs.ts';
import { endProcess, firstLine, pinned, pinTree, startNode } from './machine.ts';
import type { Variant } from './measure.ts';
import type { Scenario } from './scenarios.ts';

const here = (file: string) => new URL(file, import.meta.url).pathname;
/** Far above what a run can spend: no figure may be that of a refusal. */
const CREDIT_MICRO = 1_000_000_000_000;

const embeddings = `
  - id: bench/embed
    name: bench embed
    context_length: 1000000
    modalities: { in: [text], out: [embedding] }
    endpoints:
      - { provider: bench, upstream_model: bench-embed, region: local, price: { input: "0.02", output: "0" } }`;

function providersFile(port: number): string {
  const model = (vendor: string, name: string) => `
  - id: ${vendor}/${name}
    name: ${vendor} ${name}
    context_length: 1000000
    max_output: 16384
    modalities: { in: [text], out: [text] }
    capabilities: { tools: true, json_schema: true, cache: true }
    endpoints:
      - provider: ${vendor}
        upstream_model: bench-${name}
        region: local
        cancel_billing: stops
        price: { input: "2.50", output: "10.00", cache_read: "1.25", cache_write: "3.125" }`;
  const provider = (id: string, kind: string, base: string, key = 'BENCH_API_KEY') => `
  - id: ${id}
    name: Bench ${kind}
    kind: ${kind}
    base_url: http://127.0.0.1:${port}${base}
    api_key_env: ${key}
    regions: [local]
    data_policy: { trains: false, retention_days: 0, zdr: true }
    terms_url: https://bench.example/terms`;
  const names = ['whole', 'paced', 'burst', 'idle', 'slow', 'delayed'];
  const vendors = ['bench', 'bencha', 'benchr', 'benchg', 'benchb'];
  return `version: 1
providers:${provider('bench', 'openai', '/v1')}${provider('bencha', 'anthropic', '/v1')}
${provider('benchr', 'openai-responses', '/v1')}${provider('benchg', 'gemini', '/v1beta')}
${provider('benchb', 'bedrock', '', 'BENCH_BEDROCK_KEY')}
models:${vendors.flatMap((vendor) => names.map((name) => model(vendor, name))).join('')}${embeddings}
`;
}

export const RAIL_SECRET = 'whsec_of_the_benchmark';
/** A rail whose callbacks are taken; nobody listens there. */
const RAIL = {
  SVC_RAIL_B_BASE_URL: 'http://127.0.0.1:9',
  SVC_RAIL_B_KEY_SECRET: 'sk_test_bench',
  SVC_RAIL_B_WEBHOOK_SECRET: RAIL_SECRET,
};

export interface Stack {
  /** What a part writes goes here. */
  readonly dir: string;
  readonly load: ChildProcess;
  readonly postgres: Postgres;
  readonly database_url: string;
  readonly keys: Provisioned;
  /** Starts a variant; the caller ends it. */
  start(name: Variant['name'], more?: Start): Promise<Running>;
  stop(): Promise<void>;
}

/** What a process is started with beside its flags. */
export interface Start {
  /** A file that is loaded before the program. */
  readonly preload: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface Running {
  readonly name: Variant['name'];
  readonly pid: number;
  readonly port: number;
  stop(): Promise<void>;
}

const preloads = (more?: Start) => (more === undefined ? [] : ['--import', more.preload]);

async function startBare(origin: string, more?: Start): Promise<Running> {
  const child = startNode({
    core: 'gateway',
    flags: [...NODE_FLAGS, ...preloads(more)],
    file: here('proxy.ts'),
    args: [origin],
    env: { ...process.env, ...more?.env },
  });
  const { port } = await firstLine<{ port: number }>(child);
  return { name: 'bare', pid: child.pid as number, port, stop: () => endProcess(child) };
}

function running(name: Variant['name'], gateway: GatewayProcess): Running {
  return {
    name,
    pid: gateway.pid,
    port: gateway.port,
    stop: async () => {
      await gateway.stop();
    },
  };
}

/** Brings up what all variants share. `dir` is made anew; its disk is the one measured. */
export async function startStack(dir: string): Promise<Stack> {
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });
  const postgres = await startTestPostgres({
    dir: join(dir, 'postgres'),
    settings: { shared_buffers: '256MB', max_wal_size: '4GB' },
  });
  pinTree(postgres.pid, 'rest');
  const admin = new pg.Client({ connectionString: postgres.url });
  await admin.connect();
  await admin.query('create database bench');
  await admin.end();
  const database_url = postgres.urlOf('bench');
  await migrate(database_url);
  const keys = await provision({ database_url, live_micro_usd: CREDIT_MICRO });
  const upstream = startNode({ core: 'rest', file: here('upstream.ts') });
  const { port } = await firstLine<{ port: number }>(upstream);
  const load = startNode({ core: 'rest', file: here('load.ts') });
  const providers = providersFile(port);

  const start = async (name: Variant['name'], more?: Start): Promise<Running> => {
    if (name === 'bare') return startBare(`http://127.0.0.1:${port}`, more);
    const gateway = await startGatewayProcess({
      database_url,
      providers,
      data_dir: join(dir, name.replace(' ', '-')),
      env: { BENCH_API_KEY: 'sk-bench', BENCH_BEDROCK_KEY: 'bedrock-api-key-bench', ...RAIL, ...more?.env },
      flags: preloads(more),
      prefix: pinned ? ['taskset', '-c', '0'] : [],
      ...(name === 'null ledger' ? { entry: here('gateway-null.ts') } : {}),
    });
    return running(name, gateway);
  };
  return {
    dir,
    load,
    postgres,
    database_url,
    keys,
    start,
    stop: async () => {
      await Promise.all([endProcess(load), endProcess(upstream)]);
      await postgres.stop();
    },
  };
}

/** How `scenario` addresses a running variant. */
export function variantOf(run: Running, scenario: Scenario, key: string): Variant {
  const bare = run.name === 'bare';
  const target: Target = {
    port: run.port,
    path: bare ? scenario.bare_path : scenario.path,
    key,
    model: bare ? scenario.upstream_model : scenario.model,
    stream: scenario.stream,
    prompt: scenario.prompt,
  };
  return { name: run.name, pid: run.pid, target };
}
