// `make bench`: side by side in one run, a bare Node reverse proxy, the gateway without ledger, the gateway.
// Ratios to the bare proxy are what is compared over time; absolute figures say something about this machine.
//   node test/bench/main.ts [--quick] [--only plain,stream,…] [--scenario chat_raw] [--rounds N] [--dir D] [--json F]
import { rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { measureDecisions } from '../../core/routing/thousand.fixture.ts';
import { type Bar, verdictOf } from './bars.ts';
import { barsOf, type Results } from './judge.ts';
import { benchLedger, formatLedgerBench } from './ledger.ts';
import { cpuMicros, memoryKb, pinned, probeFdatasync } from './machine.ts';
import { compare, type Figures, type Variant } from './measure.ts';
import { type AllocationFigures, measureAllocation } from './parts/allocation.ts';
import { measureCallbacks } from './parts/callbacks.ts';
import { type ConcurrentFigures, measureConcurrent } from './parts/concurrent.ts';
import { type IdleFigures, measureIdle } from './parts/idle.ts';
import { measureStoredRows } from './parts/stored-rows.ts';
import { measureTenants } from './parts/tenants.ts';
import { comparesLedger, type Scenario, scenarios } from './scenarios.ts';
import { type Running, type Stack, startStack, variantOf } from './stack.ts';
import { show, tableOf } from './table.ts';
import { type Verified, verify } from './verify.ts';

const groups = [
  'plain',
  'waiting',
  'latency',
  'stream',
  'burst',
  'idle',
  'concurrent',
  'allocation',
  'tenants',
  'callbacks',
  'pairs',
  'rows',
  'routing',
] as const;
type Group = (typeof groups)[number];
const names: readonly Variant['name'][] = ['bare', 'null ledger', 'gateway'];

interface Options {
  readonly quick: boolean;
  readonly rounds: number;
  readonly only: ReadonlySet<Group>;
  /** One scenario alone, by its name. */
  readonly scenario: string | null;
  readonly dir: string;
  readonly json: string | null;
}

function readOptions(): Options {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string', default: groups.join(',') },
      scenario: { type: 'string' },
      rounds: { type: 'string' },
      dir: { type: 'string', default: join(tmpdir(), `svc-bench-${process.pid}`) },
      json: { type: 'string' },
    },
  });
  const only = values.only.split(',') as Group[];
  const unknown = only.filter((group) => !groups.includes(group));
  if (unknown.length > 0) throw new Error(`--only knows ${groups.join(', ')}, not ${unknown.join(', ')}`);
  return {
    quick: values.quick,
    rounds: Number(values.rounds ?? (values.quick ? 2 : 3)),
    scenario: values.scenario ?? null,
    only: new Set(only),
    dir: values.dir,
    json: values.json ?? null,
  };
}

const say = (line = '') => process.stdout.write(`${line}\n`);

function printFigures(scenario: Scenario, figures: ReadonlyMap<string, Figures>): void {
  say(`\n${scenario.title}`);
  const bare = figures.get('bare') as Figures;
  const unit = scenario.units_per_call === 1 ? 'call' : 'chunk';
  const rows = [...figures].map(([name, f]) => [
    name,
    f.cpu_us,
    `${show(f.cpu_us / bare.cpu_us)} x`,
    f.postgres_us,
    f.per_second,
    f.p50_ms,
    f.p99_ms,
    f.ttft_p50_ms,
    f.reads,
    `${Math.round(f.busy * 100)} %`,
  ]);
  const head = ['', `CPU µs/${unit}`, 'to bare', 'PostgreSQL µs/call', `${unit}s/s`, 'p50 ms', 'p99 ms'];
  say(tableOf([...head, 'first byte p50', 'reads/answer', 'core busy'], rows));
}

async function runScenarios(stack: Stack, options: Options, results: Results): Promise<void> {
  const wanted = options.scenario;
  const chosen = scenarios.filter(
    ({ group, name }) => options.only.has(group) && (wanted === null || name === wanted),
  );
  if (chosen.length === 0) return;
  const runs: Running[] = [];
  try {
    for (const name of names) runs.push(await stack.start(name));
    for (const scenario of chosen) {
      const figures = await compare({
        load: stack.load,
        postgres_pid: stack.postgres.pid,
        rounds: options.rounds,
        units_per_call: scenario.units_per_call,
        variants: runs
          .filter(({ name }) => name !== 'null ledger' || comparesLedger(scenario))
          .map((run) => variantOf(run, scenario, stack.keys.live_key)),
        job: (target) => scenario.job(target, options.quick),
      });
      results.figures.set(scenario.name, figures);
      results.gateway_calls += figures.get('gateway')?.calls ?? 0;
      printFigures(scenario, figures);
    }
    const rows = runs.map((run) => {
      const { now, peak } = memoryKb(run.pid);
      return [run.name, now / 1024, peak / 1024, cpuMicros(run.pid) / 1e6];
    });
    say(`\nmemory after all of this\n${tableOf(['', 'resident MB', 'peak MB', 'CPU s in all'], rows)}`);
  } finally {
    for (const run of runs) await run.stop();
  }
}

async function runIdle(stack: Stack, options: Options, results: Results): Promise<void> {
  if (!options.only.has('idle')) return;
  const count = options.quick ? 300 : 1000;
  const all: IdleFigures[] = [];
  for (const name of names) all.push(await measureIdle(stack, name, count));
  results.idle = all;
  say(`\nmemory of the second ${count} of open idle streams, 16 KB prompt, fresh processes, equal flags`);
  say(
    tableOf(
      ['', 'at rest MB', 'KB a stream'],
      all.map((f) => [f.name, f.rest_mb, f.kb_per_stream]),
    ),
  );
}

async function runConcurrent(stack: Stack, options: Options, results: Results): Promise<void> {
  if (!options.only.has('concurrent')) return;
  const count = options.quick ? 100 : 1000;
  const all: ConcurrentFigures[] = [];
  for (const name of ['bare', 'gateway'] as const) all.push(await measureConcurrent(stack, name, count));
  results.concurrent = all;
  say(`\n${count} streams at once, ten chunks a second each, chat over chat (raw lane), fresh processes`);
  say(
    tableOf(
      ['', 'CPU µs/chunk', 'chunks/s', 'peak KB a stream', 'core busy'],
      all.map((f) => [f.name, f.cpu_us, f.per_second, f.kb_per_stream, `${Math.round(f.busy * 100)} %`]),
    ),
  );
}

async function runAllocation(stack: Stack, options: Options, results: Results): Promise<void> {
  if (!options.only.has('allocation')) return;
  const all: AllocationFigures[] = [];
  for (const name of names) all.push(await measureAllocation(stack, name, options.quick));
  results.allocation = all;
  say('\nyoung heap that a plain call allocates, 8 in flight, fresh processes');
  say(
    tableOf(
      ['', 'KB, 4k-token prompt', 'KB, 100k'],
      all.map((f) => [f.name, f.kb, f.kb_100k]),
    ),
  );
}

async function runStoredRows(stack: Stack, options: Options, results: Results): Promise<void> {
  if (!options.only.has('rows')) return;
  const found = await measureStoredRows(stack, options.quick ? 20 : 100);
  results.stored_rows = found;
  say(`\n${found.rows} rows of calls with an attempt each stored, in batches of 500`);
  say(tableOf(['PostgreSQL µs/row'], [[found.postgres_us]]));
}

async function runTenants(stack: Stack, options: Options, results: Results): Promise<void> {
  if (!options.only.has('tenants')) return;
  const found = await measureTenants(stack, options.quick ? 6 : 20);
  results.tenants = found;
  say(
    `\none organization's calls, 50 a second, while another sends the worst bodies (${found.bodies}) on six connections`,
  );
  const head = ['calls p50 ms', 'p99 ms', '/healthz p99 ms', 'calls p99 without them', 'calls failed'];
  const { calls_p50_ms, calls_p99_ms, health_p99_ms, quiet_p99_ms, failed } = found;
  say(tableOf(head, [[calls_p50_ms, calls_p99_ms, health_p99_ms, quiet_p99_ms, failed]]));
}

async function runCallbacks(stack: Stack, options: Options, results: Results): Promise<void> {
  if (!options.only.has('callbacks')) return;
  const found = await measureCallbacks(stack, { seconds: options.quick ? 5 : 20, rounds: options.rounds });
  results.callbacks = found;
  say('\n2,000 callbacks of a rail a second, six of ten repeats, two ignored, two forged, and 50 calls');
  const head = ['callbacks/s', 'gateway CPU µs each', 'calls p99 ms', 'failed'];
  say(tableOf(head, [[found.per_second, found.cpu_us, found.calls_p99_ms, found.failed]]));
}

function runRouting(options: Options, results: Results): void {
  if (!options.only.has('routing')) return;
  results.decisions = measureDecisions(options.quick ? 300 : 3_000);
  say('\nrouting decisions over 1,000 endpoints, median');
  say(tableOf(['', 'µs'], Object.entries(results.decisions)));
}

function printVerdicts(bars: readonly Bar[]): void {
  say('\nbars of the design');
  const rows = bars.map((bar) => [
    bar.title,
    bar.measured,
    bar.unit,
    `${bar.at_least === true ? '≥' : '≤'} ${show(bar.bar)}`,
    show(bar.goal),
    verdictOf(bar),
  ]);
  say(tableOf(['', 'measured', '', 'bar', 'goal', 'reached'], rows));
}

function printVerified(verified: Verified, calls: number): void {
  say(
    `\nledger verify: ${verified.ok ? 'ok' : 'FAULT'}, ${verified.settled_calls} calls settled of ${calls} sent`,
  );
  for (const fault of verified.faults) say(`  ${fault}`);
}

async function main(): Promise<number> {
  const options = readOptions();
  say(`Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model ?? 'unknown CPU'}`);
  say(
    pinned
      ? 'gateway and bare proxy on core 0; upstream, load and PostgreSQL on core 1'
      : 'processes are not pinned (no taskset or one core): ratios hold, absolute figures less so',
  );
  const stack = await startStack(options.dir);
  const results: Results = {
    ...{ figures: new Map(), idle: [], concurrent: [], pairs: [], gateway_calls: 0, disk: null },
    ...{ decisions: {}, tenants: null, callbacks: null, allocation: [], stored_rows: null },
  };
  let sound = true;
  try {
    results.disk = probeFdatasync(options.dir, options.quick ? 200 : 1000);
    say(
      `fdatasync of 8 KB on this disk: p50 ${show(results.disk.p50_ms)} ms, p99 ${show(results.disk.p99_ms)} ms`,
    );
    say(`medians of ${options.rounds} interleaved rounds`);
    await runScenarios(stack, options, results);
    const verified = await verify(stack, results.gateway_calls);
    printVerified(verified, results.gateway_calls);
    sound = verified.ok;
    await runIdle(stack, options, results);
    await runConcurrent(stack, options, results);
    await runAllocation(stack, options, results);
    await runTenants(stack, options, results);
    await runCallbacks(stack, options, results);
    if (options.only.has('pairs')) {
      results.pairs = await benchLedger({ seconds: options.quick ? 2 : 6 });
      say('\nhold + settle pairs, PostgreSQL on one core, Node on the other, verified after each run');
      say(formatLedgerBench(results.pairs));
    }
    await runStoredRows(stack, options, results);
    runRouting(options, results);
    const after = await verify(stack, null);
    sound &&= after.ok;
    say(`\nledger verify at the end: ${after.ok ? 'ok' : 'FAULT'}`);
    printVerdicts(barsOf(results));
    if (options.json !== null) writeFileSync(options.json, `${JSON.stringify(plainOf(results), null, 2)}\n`);
  } finally {
    await stack.stop();
    rmSync(options.dir, { recursive: true, force: true });
  }
  return sound ? 0 : 1;
}

function plainOf(results: Results): unknown {
  const figures = [...results.figures].map(([name, map]) => [name, Object.fromEntries(map)]);
  return { ...results, figures: Object.fromEntries(figures) };
}

process.exitCode = await main();
