// What is killed in a round, and when.
import { copyFileSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Draw } from './draw.ts';
import type { World } from './world.ts';

export const faultKinds = ['gateway', 'postgres', 'settling', 'both', 'worker'] as const;
export type FaultKind = (typeof faultKinds)[number];

/** Whether a fault of `kind` kills PostgreSQL: holds that it acknowledged in its last moments may be lost. */
export function killsPostgres(kind: FaultKind): boolean {
  return kind !== 'gateway' && kind !== 'worker';
}

/** Whether a fault of `kind` kills a gateway. */
export function killsGateway(kind: FaultKind): boolean {
  return kind !== 'postgres' && kind !== 'worker';
}

export interface PlannedFault {
  readonly kind: FaultKind;
  /** The fault happens when this many callers have seen the end of their call ... */
  readonly after_ends: number;
  /** ... after this delay. */
  readonly delay_ms: number;
  readonly gateway: 0 | 1;
  /** How long PostgreSQL stays away. */
  readonly away_ms: number;
}

/** Draws when and how long a fault of `kind` strikes in a round of `calls` calls. */
export function planFault(draw: Draw, calls: number, kind: FaultKind): PlannedFault {
  return {
    kind,
    after_ends: draw.int(1, Math.max(1, Math.floor(calls * 0.6))),
    delay_ms: draw.int(0, 40),
    gateway: draw.pick([0, 1] as const),
    // Settles wait a second before they go to the journal.
    away_ms: kind === 'settling' ? draw.int(1_500, 2_500) : draw.int(50, 1_200),
  };
}

/**
 * Gives each journal of a dead process a twin under another name: every settle in it will be sent twice, as after a
 * lost COMMIT answer or a disk that forgot an acknowledgement. A settle that is repeated must change nothing.
 */
function doubleJournals(dir: string): void {
  // Made when a settle first had to wait.
  if (!existsSync(dir)) return;
  for (const file of readdirSync(dir)) {
    const owner = file.slice(0, file.lastIndexOf('~'));
    if (file.endsWith('.journal')) copyFileSync(join(dir, file), join(dir, `${owner}~twin.journal`));
  }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Kills what `fault` says and starts it again. `settling` stops PostgreSQL, lets answers end and be journaled,
 * and kills their gateway before PostgreSQL returns: the journal alone knows of them, and knows them twice.
 */
export async function strike(
  world: World,
  fault: PlannedFault,
  sabotage?: (world: World, fault: PlannedFault) => void,
): Promise<void> {
  await pause(fault.delay_ms);
  if (fault.kind === 'worker') {
    await world.killWorker();
    await pause(fault.away_ms);
    sabotage?.(world, fault);
    return world.startWorker();
  }
  if (fault.kind === 'gateway') {
    await world.killGateway(fault.gateway);
    await pause(fault.away_ms / 4);
    sabotage?.(world, fault);
    await world.startGateway(fault.gateway);
    return;
  }
  if (fault.kind === 'both') await Promise.all([world.killPostgres(), world.killGateway(fault.gateway)]);
  else await world.killPostgres();
  await pause(fault.away_ms);
  if (fault.kind === 'settling') {
    await world.killGateway(fault.gateway);
    doubleJournals(join(world.dataDir(fault.gateway), 'journal'));
  }
  sabotage?.(world, fault);
  await world.startPostgres();
  if (killsGateway(fault.kind)) await world.startGateway(fault.gateway);
}
