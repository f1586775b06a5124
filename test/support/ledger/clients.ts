// Clients of a ledger behind a proxy. The clock of their intervals is the test's.
import { createPool } from '@svc/core/db/index.ts';
import { type LedgerOptions, readBalance } from '@svc/core/ledger/index.ts';
import { startProxy } from '@svc/core/ledger/testing/proxy.ts';
import {
  journalDirectory,
  keptLog,
  makeBook,
  openOwner,
  openTestLedger,
  subjectOf,
  until,
} from '@svc/core/ledger/testing/testing.ts';
import { afterAll, afterEach, beforeEach, vi } from 'vitest';
import { createTestLedger } from '../shards.ts';

const PATIENCE = { hold_ms: 300, settle_ms: 100 };

/** A ledger with nobody on it yet; for one file of tests, after which it goes. */
export async function startClients() {
  const url = await createTestLedger();
  const db = createPool(url);
  const owner = await openOwner(url);
  const journal = journalDirectory();
  const { log, lines } = keptLog();

  beforeEach(() => {
    lines.length = 0;
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });
  afterAll(async () => {
    await Promise.all([owner.end(), db.end()]);
    journal.remove();
  });

  const said = (message: string) => lines.filter(({ msg }) => msg === message);
  return {
    ...{ url, db, owner, journal, log, lines, said },
    /** The log has said so. */
    reported: (message: string) => until(() => said(message).length > 0),
    /** A client that is impatient unless `options` say otherwise, and a book of 1,000 micro-dollars. */
    async open(options: Partial<LedgerOptions> = {}) {
      const proxy = await startProxy(url);
      const ledger = await openTestLedger(proxy.url, journal.dir, { patience: PATIENCE, log, ...options });
      const book = await makeBook(db, { amount: 1_000 });
      const close = async () => {
        await ledger.close();
        proxy.close();
      };
      return { proxy, ledger, book, subject: subjectOf(book), close };
    },
    heldOf: async (book: number) => (await readBalance(db, book)).held_micro_usd as number,
    async leaseOf(lease_id: number): Promise<{ renewed: Date; ended: boolean } | undefined> {
      const { rows } = await db.query<{ renewed: Date; ended: boolean }>({
        name: 'test.lease',
        text: `select expires_at as renewed, expires_at <= clock_timestamp() as ended from ledger.lease where lease_id = $1`,
        values: [lease_id],
      });
      return rows[0];
    },
  };
}
