// What shadows at the platform's expense are held in: not the balance of an organization, but what staff allowed for it in
// a day. A copy asks it as any call asks the ledger.
import { type Log, type MicroUsd, microUsd, Spread } from '../../../kernel/index.ts';
import type { Grant } from '../../../keys/index.ts';
import type { LedgerClient, Ledgers } from '../../../ledger/index.ts';
import type { Spending } from '../../../policies/index.ts';
import type { Clock } from '../clock.ts';

/** The allowances of an installation. */
export interface AllowanceBook {
  /**
   * Books what is reserved and spent on the day of `at`. With `within_allowance` nothing is booked, and false answered,
   * where the allowance does not cover it.
   */
  spend(spending: Spending, within_allowance: boolean): Promise<boolean>;
  left(org_id: Grant['org_id'], at: Date): Promise<number>;
}

const NOTHING = 0 as MicroUsd;

/** The ledger of one copy; what it reserves and spends belongs to the day on which it began. */
class AllowanceLedger implements LedgerClient {
  readonly pending = 0;
  readonly healthy = true;
  readonly figures = {
    journaled: 0,
    batches: { hold: { sent: 0, items: 0 }, settle: { sent: 0, items: 0 } },
    settle_delays: new Spread(),
  };
  private readonly book: AllowanceBook;
  private readonly org_id: Grant['org_id'];
  private readonly at: Date;
  private readonly log: Log;
  private held = 0;

  constructor(book: AllowanceBook, org_id: Grant['org_id'], { at, log }: { at: Date; log: Log }) {
    this.book = book;
    this.org_id = org_id;
    this.at = at;
    this.log = log;
  }

  async hold({ amount_micro_usd }: Parameters<LedgerClient['hold']>[0]) {
    if (!(await this.reserve(amount_micro_usd))) return { status: 'insufficient_credits' as const };
    return { status: 'ok' as const };
  }

  async extend(_subject: unknown, _id: unknown, total_micro_usd: MicroUsd) {
    return (await this.reserve(total_micro_usd - this.held)) ? 'ok' : 'insufficient_credits';
  }

  async settle({ cost_micro_usd, request_id }: Parameters<LedgerClient['settle']>[0]) {
    // What cannot be booked stays reserved for the day, so that the allowance still holds.
    await this.end(cost_micro_usd, 1).catch((error: unknown) =>
      this.log.error({ request_id, cost_micro_usd, error }, 'the cost of a shadow was not booked'),
    );
    return { status: 'settled' as const, charged_micro_usd: cost_micro_usd };
  }

  release(): void {
    this.end(0, 0).catch((error: unknown) =>
      this.log.warn({ error }, 'what a shadow had reserved stays reserved today'),
    );
  }

  availableHint(): null {
    return null;
  }

  async balance() {
    const left = microUsd(await this.book.left(this.org_id, this.at));
    return { available_micro_usd: left, held_micro_usd: NOTHING, granted_micro_usd: NOTHING };
  }

  async run(): Promise<null> {
    return null;
  }

  async close(): Promise<void> {}

  private async reserve(more: number): Promise<boolean> {
    const { org_id, at } = this;
    if (more <= 0) return true;
    const reserved = { org_id, at, reserved_micro_usd: more, cost_micro_usd: 0, runs: 0 };
    if (!(await this.book.spend(reserved, true))) return false;
    this.held += more;
    return true;
  }

  private async end(cost_micro_usd: number, runs: number): Promise<void> {
    const { org_id, at, held } = this;
    this.held = 0;
    await this.book.spend({ org_id, at, reserved_micro_usd: -held, cost_micro_usd, runs }, false);
  }
}

/** The ledgers of one copy for `org_id`: one, whatever the shard. */
export function allowanceLedgers(
  book: AllowanceBook,
  org_id: Grant['org_id'],
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): Ledgers {
  const ledger = new AllowanceLedger(book, org_id, { at: new Date(clock.nowMs()), log });
  return {
    at: () => ledger,
    ...{ figures: new Map(), pending: 0, away: [], healthy: true },
    close: () => ledger.close(),
  };
}
