// Memory: what a process holds at rest, and what each idle open stream adds to it.
import { memoryKb } from '../machine.ts';
import { runJob } from '../measure.ts';
import type { Scenario } from '../scenarios.ts';
import { type Running, type Stack, variantOf } from '../stack.ts';

export interface IdleFigures {
  readonly name: Running['name'];
  readonly rest_mb: number;
  readonly kb_per_stream: number;
}

const idle: Scenario = {
  name: 'idle',
  title: 'idle streams',
  group: 'stream',
  path: '/v1/chat/completions',
  bare_path: '/v1/chat/completions',
  model: 'bench/idle',
  upstream_model: 'bench-idle',
  stream: true,
  prompt: '4k',
  units_per_call: 1,
  job: (target) => ({ kind: 'hold', target, count: 1000 }),
};

const SETTLE_MS = 4_000;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * In a fresh process: memory at rest, and what the second `count` streams add after the first `count` are open. The
 * first ones pay for compiled code and grown pools, and fill what earlier calls left free.
 */
export async function measureIdle(stack: Stack, name: Running['name'], count: number): Promise<IdleFigures> {
  const run = await stack.start(name);
  try {
    await pause(1_000);
    const rest_mb = memoryKb(run.pid).now / 1024;
    const { target } = variantOf(run, idle, stack.keys.live_key);
    const resident: number[] = [];
    for (let i = 0; i < 2; i++) {
      await runJob(stack.load, { kind: 'hold', target, count });
      await pause(SETTLE_MS);
      resident.push(memoryKb(run.pid).now);
    }
    await runJob(stack.load, { kind: 'close' });
    const [first = 0, second = 0] = resident;
    return { name, rest_mb, kb_per_stream: (second - first) / count };
  } finally {
    await run.stop();
  }
}
