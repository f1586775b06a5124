// What a plain call allocates in the young generation, which is what the collector is started by.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../../support/programs/until.ts';
import { runJob } from '../measure.ts';
import { scenarios } from '../scenarios.ts';
import { type Running, type Stack, variantOf } from '../stack.ts';

export interface AllocationFigures {
  readonly name: Running['name'];
  /** Of a call with a prompt of 4k tokens, of one with 100k. */
  readonly kb: number;
  readonly kb_100k: number;
  readonly calls: number;
}

const COUNTER = new URL('./allocation-count.ts', import.meta.url).pathname;

/** In a fresh process, after calls that pay for compiling. */
export async function measureAllocation(
  stack: Stack,
  name: Running['name'],
  quick: boolean,
): Promise<AllocationFigures> {
  const file = join(stack.dir, `allocated-${name.replace(' ', '-')}`);
  const run = await stack.start(name, { preload: COUNTER, env: { BENCH_ALLOCATION_FILE: file } });
  let calls = 0;
  const kbOf = async (scenario: string, count: number) => {
    const found = scenarios.find((each) => each.name === scenario);
    if (found === undefined) throw new Error(`no scenario ${scenario}`);
    const { target } = variantOf(run, found, stack.keys.live_key);
    const job = { kind: 'closed', target, calls: count, in_flight: 8 } as const;
    calls += (await runJob(stack.load, job)).calls;
    for (const path of [file, `${file}.begun`]) rmSync(path, { force: true });
    process.kill(run.pid, 'SIGUSR2');
    await until('the counting has begun', () => existsSync(`${file}.begun`));
    calls += (await runJob(stack.load, job)).calls;
    process.kill(run.pid, 'SIGUSR2');
    await until('the sum is written', () => existsSync(file));
    return Number(readFileSync(file, 'utf8')) / count / 1024;
  };
  try {
    const kb = await kbOf('plain', quick ? 500 : 3_000);
    const kb_100k = await kbOf('plain_100k', quick ? 50 : 300);
    return { name, kb, kb_100k, calls };
  } finally {
    await run.stop();
  }
}
