// The ledger that benchmarks put in place of the real one, to see what money costs.
import { MAIN } from '../db/index.ts';
import { type MicroUsd, Spread } from '../kernel/index.ts';
import { ledgersOf } from './shards/ledgers.ts';
import type { LedgerClient, Ledgers } from './types.ts';

/** One shard, `main`, of a ledger that grants everything and keeps nothing, for benchmarks; answers once per turn of the event loop. */
export function openNullLedger(): Ledgers {
  let waiting: (() => void)[] = [];
  const next = <T>(value: T) =>
    new Promise<T>((resolve) => {
      if (waiting.length === 0) {
        setImmediate(() => {
          const all = waiting;
          waiting = [];
          for (const done of all) done();
        });
      }
      waiting.push(() => resolve(value));
    });
  const empty = 0 as MicroUsd;
  const client: LedgerClient = {
    hold: () => next({ status: 'ok' }),
    extend: () => next('ok'),
    settle: ({ cost_micro_usd }) => next({ status: 'settled', charged_micro_usd: cost_micro_usd }),
    release() {},
    availableHint: () => Number.MAX_SAFE_INTEGER,
    balance: () =>
      next({
        available_micro_usd: Number.MAX_SAFE_INTEGER as MicroUsd,
        held_micro_usd: empty,
        granted_micro_usd: empty,
      }),
    run: () => next(null),
    pending: 0,
    healthy: true,
    figures: {
      journaled: 0,
      batches: { hold: { sent: 0, items: 0 }, settle: { sent: 0, items: 0 } },
      settle_delays: new Spread(),
    },
    close: async () => {},
  };
  return ledgersOf(new Map([[MAIN, client]]));
}
