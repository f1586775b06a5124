// Gifts: credit that an organization takes out of its own, and that another redeems, perhaps two at once, or that goes back.
import { cancelGift, makeGift } from '@svc/core/gifts/give.ts';
import { settleGifts } from '@svc/core/gifts/index.ts';
import type { Context, Id } from '@svc/core/kernel/index.ts';
import { findOrg, type Org } from '@svc/core/orgs/index.ts';
import { redeem } from '@svc/core/redeem/redeem.ts';
import { DATABASE_URL, LEDGER_URL } from '../engine/database.ts';
import type { Loop } from '../engine/loop.ts';
import { insist, pause, TRIES, unlessRefused, type Within } from './payments.ts';
import { withClient } from './verdict.ts';

const GIFTS_MAX = 2;
const MICRO = { min: 1_000_000, max: 3_000_000 };
/** A gift that was not shown for so long goes back. */
const PENDING_MS = 10 * 60_000;

export interface GiftParts {
  readonly loop: Loop;
  readonly inGateway: Within;
  readonly inWorker: Within;
  readonly givers: readonly Id<'org'>[];
  readonly takers: readonly Id<'org'>[];
}

const orgOf = async (context: Context, id: Id<'org'>) => (await findOrg(context.db, id)) as Org;

/** Who gives in a run, and who takes. */
export class Gifts {
  readonly #parts: GiftParts;

  constructor(parts: GiftParts) {
    this.#parts = parts;
  }

  async all(): Promise<void> {
    const { draw } = this.#parts.loop;
    await Promise.all(Array.from({ length: draw.int(0, GIFTS_MAX) }, () => this.#give(draw.unit() * 2_000)));
  }

  async #give(after_ms: number): Promise<void> {
    const { loop, inGateway, givers, takers } = this.#parts;
    const { draw } = loop;
    await pause(after_ms);
    const giver = draw.pick(givers);
    const wanted = { amount_micro_usd: draw.int(MICRO.min, MICRO.max), note: 'simulated' };
    // Who is told nothing does not know of a gift, which goes back by itself.
    const made = await inGateway(async (context) =>
      makeGift(context, await orgOf(context, giver), wanted),
    ).catch(() => null);
    loop.note(`${giver} gives ${wanted.amount_micro_usd}: ${made === null ? 'no' : made.gift.id}`);
    if (made === null) return;
    const { gift, code } = made;
    const cancels = () =>
      this.#try(async (context) => cancelGift(context, await orgOf(context, giver), gift.id));
    const redeems = () => {
      const taker = draw.pick(takers);
      return this.#try(async (context) => redeem(context, await orgOf(context, taker), code));
    };
    await pause(draw.unit() * 1_500);
    const fate = draw.weighted({ nothing: 10, cancelled: 20, redeemed: 30, twice: 20, both: 20 });
    const moves = { nothing: [], cancelled: [cancels], redeemed: [redeems], twice: [redeems, redeems] };
    await Promise.all((fate === 'both' ? [cancels, redeems] : moves[fate]).map((move) => move()));
  }

  #try(work: (context: Context) => Promise<unknown>): Promise<unknown> {
    return insist(this.#parts.inGateway, (context) => unlessRefused(work(context)), TRIES);
  }

  /** Gifts whose code nobody was shown go back. */
  async end(): Promise<void> {
    const { loop, inWorker } = this.#parts;
    loop.now_ms += PENDING_MS;
    await insist(inWorker, async (context) => ({ done: await settleGifts(context) }), 60);
  }
}

interface GiftRow {
  readonly id: string;
  readonly status: string;
  readonly amount: number;
  readonly giver: number;
  readonly taker: number | null;
}

const GIFTS_SQL = `
  select g.id, g.status, g.amount_micro_usd as amount, o.live_book_id as giver, t.live_book_id as taker
    from gift g join org o on o.id = g.org_id left join org t on t.id = g.redeemed_by`;

interface Booked {
  readonly id: string;
  readonly book_id: number;
  readonly amount: number;
  /** Of what was taken, how much had been given to the giver. */
  readonly granted: number;
}

const BOOKED_SQL = `
  select e.ref_id as id, e.book_id, sum(e.amount)::bigint as amount,
         coalesce(sum((select count(*) from ledger.burn b join ledger.lot l using (lot_no)
                        where b.book_id = e.book_id and b.seq = e.seq and l.is_grant)), 0)::int as granted
    from ledger.entry e where e.ref_type = 'gift' group by e.ref_id, e.book_id`;

/** Compares gifts with the ledger. */
export async function judgeGifts(): Promise<string[]> {
  const gifts = await withClient(DATABASE_URL, (client) => client.query<GiftRow>(GIFTS_SQL));
  const { rows } = await withClient(LEDGER_URL, (client) => client.query<Booked>(BOOKED_SQL));
  const known = new Map(gifts.rows.map((gift) => [gift.id, gift]));
  const faults: string[] = [];
  for (const { id, book_id, granted } of rows) {
    const gift = known.get(id);
    if (gift === undefined) faults.push(`gift ${id} is in the ledger, and has no row`);
    else if (book_id !== gift.giver && book_id !== gift.taker)
      faults.push(`gift ${id} moved credit of book ${book_id}, which has no part in it`);
    if (granted > 0) faults.push(`gift ${id} was made of granted credit`);
  }
  for (const { id, status, amount, giver, taker } of known.values()) {
    const at = (book: number | null) => rows.find((row) => row.id === id && row.book_id === book);
    const [gave, got] = [at(giver)?.amount ?? 0, taker === null ? 0 : (at(taker)?.amount ?? 0)];
    const due = { open: [-amount, 0], redeemed: [-amount, amount], cancelled: [0, 0] }[status];
    if (due === undefined) faults.push(`gift ${id} is ${status} when all is over`);
    else if (gave !== due[0] || got !== due[1])
      faults.push(`gift ${id} of ${amount} is ${status}: its giver has ${gave}, its taker ${got}`);
  }
  return faults;
}
