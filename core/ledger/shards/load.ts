// Reads, every few minutes, how many calls each ledger takes.
import type { Placement, Pool } from '../../db/index.ts';
import { now } from '../../kernel/index.ts';
import { addReading, purgeReadings, readCount } from './load-store.ts';

/** A day, and what a reading may be late by. */
const KEPT_MS = 25 * 3_600_000;

/**
 * Takes a reading of every ledger; returns how many were taken. A job. One that is away has none, and keeps none of the others
 * from theirs. @throws what failed first, after all have been asked.
 */
export async function measureLoad(pool: Pool): Promise<number> {
  const at = now();
  await purgeReadings(pool, new Date(at.getTime() - KEPT_MS));
  const measure = async (placement: Placement) => {
    const { shard, places } = placement;
    const counted = await readCount(pool.shards.at(shard));
    const place = places.find(({ url }) => url === placement.url)?.name ?? shard;
    await addReading(pool, { shard, place, at, counted });
  };
  const ended = await Promise.allSettled(pool.shards.placements.map(measure));
  const failed = ended.find((one) => one.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return ended.length;
}
