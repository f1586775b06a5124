// What tests do with disputes over rail-b, and how they look at them.
import type { Id } from '@svc/core/kernel/index.ts';
import { type Dispute, disputesOf, listStaffItems, type Topup } from '@svc/core/topups/index.ts';
import type { World } from './world.ts';

/** The acts and looks, in `world`. */
export function disputesIn({ pool, sim, rows, deliverNews }: World) {
  const disputeOf = async (topup: Topup) => (await disputesOf(pool, topup.id))[0] as Dispute;
  return {
    payment: (topup: Topup) => topup.payment_ref as string,
    disputeOf,
    /** The payer disputes a payment, whole or in part, and the rail's events come. */
    async dispute(topup: Topup, amount?: number): Promise<{ ref: string; id: Id<'dispute'> }> {
      const part = amount === undefined ? {} : { amount };
      const { id: ref } = sim.store.disputing.open(topup.payment_ref as string, part);
      await deliverNews();
      return { ref, id: (await disputeOf(topup)).id };
    },
    /** The bank decides, and the rail's events come, `times` each. */
    async end(ref: string, as: 'won' | 'lost', times = 1): Promise<void> {
      sim.store.disputing.move(ref, as);
      await deliverNews(times);
    },
    items: async (kind: string, subject: string) =>
      (await listStaffItems(pool, 500)).filter((item) => item.kind === kind && item.subject === subject),
    /** What disputes moved on the book of a top-up, oldest first. */
    async entries(topup: Topup) {
      const moved = await rows<{ kind: string; amount: number }>(
        `select k.name as kind, e.amount from ledger.entry e join ledger.entry_kind k on k.kind = e.kind
          where e.book_id = $1 and e.ref_type = 'dispute' order by e.seq`,
        [topup.book_id],
      );
      return moved.map(({ kind, amount }) => [kind, amount]);
    },
    async mails(id: string) {
      const sent = await rows<{ template: string; data: object }>(
        'select template, data from mail where reference = $1 order by created_at, template',
        [id],
      );
      return sent.map(({ template, data }) => [template, data]);
    },
  };
}
