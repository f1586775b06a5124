// What a batcher does when the place of its ledger refuses or does not answer.
import type { Placement } from '../../db/index.ts';
import type { Log } from '../../kernel/index.ts';

/** Looks whether the ledger is elsewhere than at `tried`, and says so. Never rejects. */
export function followWith(
  placement: Placement,
  log: Log,
): (tried: string, refused: boolean) => Promise<boolean> {
  const { shard } = placement;
  return async (tried, refused) => {
    try {
      const is_elsewhere = await placement.follow(tried, refused);
      if (is_elsewhere) log.info({ shard }, 'ledger: it has moved, calls follow');
      return is_elsewhere;
    } catch (error) {
      log.error({ shard, error }, 'ledger: it has moved to where this process cannot follow');
      return false;
    }
  };
}
