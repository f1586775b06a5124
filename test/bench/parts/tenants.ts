// What another organization notices when six connections of one free key send the worst bodies that are allowed.
import { type FloodFigures, flood, quantile, worstBodies } from '../../concurrency/flood.ts';
import { provision } from '../../support/provision.ts';
import { pinTree } from '../machine.ts';
import type { Stack } from '../stack.ts';

export interface TenantFigures {
  readonly bodies: number;
  readonly failed: number;
  readonly calls_p50_ms: number;
  readonly calls_p99_ms: number;
  readonly health_p99_ms: number;
  /** The same calls without the flood. */
  readonly quiet_p99_ms: number;
}

/** Requests a minute and calls at once of the hostile key: those of the plan that costs nothing. */
const PLAN = { rpm: 300, concurrency: 20 };

/** Measures a fresh gateway for so many seconds, without and with the flood. */
export async function measureTenants(stack: Stack, seconds: number): Promise<TenantFigures> {
  const hostile = await provision({
    ...{ database_url: stack.database_url, slug: 'hostile', live_micro_usd: 1_000_000 },
    keys: [{ name: 'free', environment: 'test', ...PLAN }],
  });
  // The callers' own work is not to take the gateway's core.
  pinTree(process.pid, 'rest');
  const run = await stack.start('gateway');
  const per_second = 50;
  const measured = (connections: number): Promise<FloodFigures> =>
    flood({
      ...{ port: run.port, bodies: worstBodies('sandbox/echo'), connections, per_second },
      hostile_key: hostile.keys[0]?.secret ?? '',
      ...{ other_key: stack.keys.live_key, model: 'bench/whole', calls: seconds * per_second },
    });
  try {
    await measured(0);
    const quiet = await measured(0);
    const loud = await measured(6);
    return {
      bodies: loud.sent,
      failed: loud.failed,
      calls_p50_ms: quantile(loud.calls_ms, 0.5),
      calls_p99_ms: quantile(loud.calls_ms, 0.99),
      health_p99_ms: quantile(loud.health_ms, 0.99),
      quiet_p99_ms: quantile(quiet.calls_ms, 0.99),
    };
  } finally {
    await run.stop();
  }
}
