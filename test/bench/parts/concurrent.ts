// A thousand streams at once, ten chunks a second each: what a chunk costs among so many, and what they hold in memory.
import { cpuMicros, memoryKb } from '../machine.ts';
import { runJob } from '../measure.ts';
import { CHUNKS } from '../replies.ts';
import type { Scenario } from '../scenarios.ts';
import { type Running, type Stack, variantOf } from '../stack.ts';

export interface ConcurrentFigures {
  readonly name: Running['name'];
  readonly cpu_us: number;
  readonly per_second: number;
  readonly busy: number;
  /** Resident memory at its peak beyond what the process held at rest, per stream. */
  readonly kb_per_stream: number;
  readonly calls: number;
}

const slow: Scenario = {
  name: 'concurrent',
  title: 'concurrent streams',
  group: 'stream',
  path: '/v1/chat/completions',
  bare_path: '/v1/chat/completions',
  model: 'bench/slow',
  upstream_model: 'bench-slow',
  stream: true,
  prompt: '4k',
  units_per_call: CHUNKS,
  job: (target) => ({ kind: 'closed', target, calls: 1000, in_flight: 1000 }),
};

/** In a fresh process, after a few quick streams that pay for compiling: `count` streams at once, each once. */
export async function measureConcurrent(
  stack: Stack,
  name: Running['name'],
  count: number,
): Promise<ConcurrentFigures> {
  const run = await stack.start(name);
  try {
    const { target } = variantOf(run, slow, stack.keys.live_key);
    const quick = { ...target, model: target.model.replace('slow', 'burst') };
    const warm = await runJob(stack.load, { kind: 'closed', target: quick, calls: 200, in_flight: 50 });
    const rest = memoryKb(run.pid).now;
    const cpu = cpuMicros(run.pid);
    const result = await runJob(stack.load, { kind: 'closed', target, calls: count, in_flight: count });
    const spent = cpuMicros(run.pid) - cpu;
    const chunks = result.calls * CHUNKS;
    return {
      name,
      cpu_us: spent / chunks,
      per_second: chunks / result.seconds,
      busy: spent / 1e6 / result.seconds,
      kb_per_stream: Math.max(0, memoryKb(run.pid).peak - rest) / count,
      calls: warm.calls + result.calls,
    };
  } finally {
    await run.stop();
  }
}
