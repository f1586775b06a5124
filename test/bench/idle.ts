// Memory: what a process holds at rest, and what 1,000 open streams that say nothing add to it.
import { memoryKb } from './machine.ts';
import { runJob } from './measure.ts';
import type { Scenario } from './scenarios.ts';
import { type Running, type Stack, variantOf } from './stack.ts';

export interface IdleFigures {
  readonly name: Running['name'];
  readonly rest_mb: number;
  readonly kb_per_stream: number;
}

const warm: Scenario = {
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

/** In a fresh process: after 200 calls, then with `count` streams open for four seconds. */
export async function measureIdle(stack: Stack, name: Running['name'], count: number): Promise<IdleFigures> {
  const run = await stack.start(name);
  try {
    await pause(1_000);
    const rest_mb = memoryKb(run.pid).now / 1024;
    const { target } = variantOf(run, warm, stack.keys.live_key);
    const whole = name === 'bare' ? 'bench-whole' : 'bench/whole';
    await runJob(stack.load, {
      kind: 'closed',
      target: { ...target, model: whole, stream: false },
      calls: 200,
      in_flight: 8,
    });
    await pause(1_000);
    const before = memoryKb(run.pid).now;
    await runJob(stack.load, { kind: 'hold', target, count });
    await pause(SETTLE_MS);
    const kb_per_stream = (memoryKb(run.pid).now - before) / count;
    await runJob(stack.load, { kind: 'close' });
    return { name, rest_mb, kb_per_stream };
  } finally {
    await run.stop();
  }
}
