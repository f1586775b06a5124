// Interleaved rounds: the machine drifts, so variants are compared within a round and medians taken over rounds.
import type { ChildProcess } from 'node:child_process';
import type { Job, JobResult, Message, Target } from './load-jobs.ts';
import { cpuMicros, treeCpuMicros } from './machine.ts';

export interface Variant {
  readonly name: 'bare' | 'null ledger' | 'gateway';
  readonly pid: number;
  /** The target as this variant is addressed (port, key and model differ). */
  readonly target: Target;
}

export interface Figures {
  readonly cpu_us: number;
  readonly postgres_us: number;
  readonly per_second: number;
  readonly p50_ms: number;
  readonly p99_ms: number;
  readonly ttft_p50_ms: number;
  readonly reads: number;
  /** Share of its core that the process used. */
  readonly busy: number;
  readonly calls: number;
}

/** Sends one job to the load generator. @throws Error naming the first answer that was not as it should be. */
export function runJob(load: ChildProcess, job: Job): Promise<JobResult> {
  return new Promise((resolve, reject) => {
    const onExit = () => reject(new Error('the load generator has ended'));
    load.once('exit', onExit);
    load.once('message', (message: Message) => {
      load.off('exit', onExit);
      if (message.ok) resolve(message.result);
      else reject(new Error(message.fault));
    });
    load.send(job);
  });
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2;
}

function shuffled<T>(items: readonly T[]): T[] {
  const out = [...items];
  for (let i = out.length - 1; i > 0; i--) {
    const j = Math.floor(Math.random() * (i + 1));
    [out[i], out[j]] = [out[j] as T, out[i] as T];
  }
  return out;
}

async function once(
  args: { load: ChildProcess; postgres_pid: number; units_per_call: number },
  variant: Variant,
  job: Job,
): Promise<Figures> {
  const cpu = cpuMicros(variant.pid);
  const postgres = treeCpuMicros(args.postgres_pid);
  const result = await runJob(args.load, job);
  const spent = cpuMicros(variant.pid) - cpu;
  const units = result.calls * args.units_per_call;
  return {
    cpu_us: spent / units,
    postgres_us:
      variant.name === 'gateway' ? (treeCpuMicros(args.postgres_pid) - postgres) / result.calls : 0,
    per_second: units / result.seconds,
    p50_ms: result.p50_ms,
    p99_ms: result.p99_ms,
    ttft_p50_ms: result.ttft_p50_ms,
    reads: result.reads,
    busy: spent / 1e6 / result.seconds,
    calls: result.calls,
  };
}

/**
 * Runs `job` against each variant once to warm it, then `rounds` times in random order; medians per variant.
 * `calls` is the sum over all rounds and the warm-up.
 */
export async function compare(args: {
  load: ChildProcess;
  postgres_pid: number;
  rounds: number;
  /** What CPU is divided by: 1 for calls, 100 for streams of 100 chunks. */
  units_per_call: number;
  variants: readonly Variant[];
  job: (target: Target) => Job;
}): Promise<Map<Variant['name'], Figures>> {
  const rounds = new Map<Variant['name'], Figures[]>(args.variants.map((v) => [v.name, []]));
  for (let round = 0; round <= args.rounds; round++) {
    for (const variant of shuffled(args.variants)) {
      const figures = await once(args, variant, args.job(variant.target));
      (rounds.get(variant.name) as Figures[]).push(figures);
    }
  }
  const medians = new Map<Variant['name'], Figures>();
  for (const [name, all] of rounds) {
    const counted = all.slice(1);
    const of = (field: keyof Figures) => median(counted.map((figures) => figures[field]));
    medians.set(name, {
      cpu_us: of('cpu_us'),
      postgres_us: of('postgres_us'),
      per_second: of('per_second'),
      p50_ms: of('p50_ms'),
      p99_ms: of('p99_ms'),
      ttft_p50_ms: of('ttft_p50_ms'),
      reads: of('reads'),
      busy: of('busy'),
      calls: all.reduce((sum, figures) => sum + figures.calls, 0),
    });
  }
  return medians;
}
