// A client for each ledger of the installation. A call goes to that of its organization; the others know nothing of it.
import { MAIN, type Placement } from '../../db/index.ts';
import { openLedger } from '../client.ts';
import type { LedgerClient, LedgerOptions, Ledgers } from '../types.ts';

/** `clients` by shard, as one. */
export function ledgersOf(clients: ReadonlyMap<string, LedgerClient>): Ledgers {
  const all = [...clients];
  return {
    at(shard) {
      const client = clients.get(shard);
      if (client === undefined) throw new Error(`no shard of the ledger is called ${shard}`);
      return client;
    },
    get figures() {
      return new Map(all.map(([name, { figures }]) => [name, figures]));
    },
    get pending() {
      return all.reduce((sum, [, client]) => sum + client.pending, 0);
    },
    get away() {
      return all.filter(([, client]) => !client.healthy).map(([name]) => name);
    },
    get healthy() {
      return all.some(([, client]) => client.healthy);
    },
    async close() {
      await Promise.all(all.map(([, client]) => client.close()));
    },
  };
}

/** Where the journals of a shard are: those of the product's own ledger in the directory itself. */
function journalDirectoryOf(journal_dir: string, shard: string): string {
  return shard === MAIN ? journal_dir : `${journal_dir}-${shard}`;
}

/**
 * Opens the ledgers of `placements`, each with its lease, its connections and its journal. Beside `main` one may be away:
 * its organizations wait for it, those of the others do not.
 * @throws Error when `main` cannot be reached or one of them cannot be used; none is left open then.
 */
export async function openLedgers(
  placements: readonly Placement[],
  options: Omit<LedgerOptions, 'url' | 'placement'>,
): Promise<Ledgers> {
  const clients = new Map<string, LedgerClient>();
  try {
    for (const placement of placements) {
      const { shard, url } = placement;
      const journal_dir = journalDirectoryOf(options.journal_dir, shard);
      const own = { url, placement, journal_dir, may_be_away: shard !== MAIN };
      clients.set(shard, await openLedger({ ...options, ...own }));
    }
  } catch (error) {
    await ledgersOf(clients).close();
    throw error;
  }
  return ledgersOf(clients);
}
