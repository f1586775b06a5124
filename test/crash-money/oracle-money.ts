// What must be true of disputes, plans, grants, documents and of all credit together.
import type { Promised } from './customer.ts';
import type { RailBooks } from './rail-books.ts';
import type { StaffActs } from './staff.ts';
import type { World } from './world.ts';

interface DisputeRow {
  readonly id: string;
  readonly rail: string;
  readonly ref: string;
  readonly status: string;
  readonly amount: number;
  readonly credits: number;
  readonly written_off: number | null;
  readonly moved: number;
  readonly lost: number;
}

const DISPUTES = `
  select d.id, d.gateway as rail, d.gateway_ref as ref, d.status, d.amount_minor::float8 as amount,
         d.credits_micro::float8 as credits, d.written_off_micro::float8 as written_off,
         (select coalesce(sum(e.amount), 0)::float8 from ledger.entry e
           where e.ref_type = 'dispute' and e.ref_id = d.id) as moved,
         (select coalesce(sum(w.amount), 0)::float8
            from ledger.entry e join ledger.writeoff w on w.book_id = e.book_id and w.seq = e.seq
           where e.ref_type = 'dispute' and e.ref_id = d.id) as lost
    from dispute d`;

/** Each dispute of a rail is here once, with its end; its credits were taken or lost, or are back. */
export async function judgeDisputes(world: World, books: RailBooks): Promise<string[]> {
  const rows = await world.rows<DisputeRow>(DISPUTES);
  const faults: string[] = [];
  for (const { rail, ref, amount, status } of books.disputes) {
    const found = rows.filter((row) => row.rail === rail && row.ref === ref);
    if (found.length !== 1 || found[0]?.status !== status || found[0].amount !== amount)
      faults.push(`dispute ${ref} of ${amount} (${status}) is here as ${JSON.stringify(found)}`);
  }
  for (const { id, status, credits, written_off, moved, lost } of rows) {
    const [taken, gone] = status === 'lost' ? [credits, written_off] : [0, lost];
    if (moved - lost !== -taken || lost !== gone)
      faults.push(`${id} (${status}) of ${credits} moved ${moved}, ${lost} is lost, and says ${written_off}`);
  }
  return faults;
}

/** A fee is taken once, with what comes with it; one that was not paid moved nothing. */
export async function judgePlans(world: World, promised: Promised): Promise<string[]> {
  const rows = await world.rows<{ org_id: string; paid: object; moved: object }>(`
    select o.id as org_id,
           (select jsonb_build_object('fees', count(*), 'fee', coalesce(-sum(fee_micro), 0),
                     'credits', count(*) filter (where included_micro > 0), 'credit', coalesce(sum(included_micro), 0))
              from plan_charge c where c.org_id = o.id and c.status = 'paid') as paid,
           (select jsonb_build_object(
                     'fees', count(*) filter (where k.name = 'plan_fee'),
                     'fee', coalesce(sum(e.amount) filter (where k.name = 'plan_fee'), 0),
                     'credits', count(*) filter (where k.name = 'plan_credit'),
                     'credit', coalesce(sum(e.amount) filter (where k.name = 'plan_credit'), 0))
              from ledger.entry e join ledger.entry_kind k on k.kind = e.kind
             where e.book_id = o.live_book_id and e.ref_type = 'plan') as moved
      from org o`);
  const faults = rows
    .filter(({ paid, moved }) => JSON.stringify(paid) !== JSON.stringify(moved))
    .map(
      ({ org_id, paid, moved }) =>
        `${org_id} paid ${JSON.stringify(paid)} and moved ${JSON.stringify(moved)}`,
    );
  const charged = await world.rows<{ org_id: string }>(
    `select distinct org_id from plan_charge where plan_id = 'team' and status = 'paid'`,
  );
  const payers = new Set(charged.map(({ org_id }) => org_id));
  const enrolled = await world.rows<{ id: string }>(
    `select id from org where plan_since < created_at or plan_id = 'enterprise'`,
  );
  for (const { id } of enrolled) payers.add(id);
  for (const org_id of promised.plans)
    if (!payers.has(org_id)) faults.push(`${org_id} was told that it is on team, and paid nothing for it`);
  return faults;
}

/** A grant that was answered was booked, once. */
export async function judgeGrants(world: World, { granted }: StaffActs): Promise<string[]> {
  const rows = await world.rows<{ reference: string; org_id: string; amount: number }>(`
    select e.ref_id as reference, o.id as org_id, e.amount::float8 as amount
      from ledger.entry e join ledger.entry_kind k on k.kind = e.kind join org o on o.live_book_id = e.book_id
     where k.name = 'grant' and e.ref_type = 'staff' order by e.ref_id`);
  const found = rows.map(({ reference, org_id, amount }) => `${reference} ${org_id} ${amount}`).sort();
  const wanted = [...granted]
    .map(([reference, { org_id, amount_micro }]) => `grant ${reference} ${org_id} ${amount_micro}`)
    .sort();
  return found.join() === wanted.join() ? [] : [`granted was ${wanted.join()}, booked is ${found.join()}`];
}

/** In each currency: what the rails keep = documents − credit notes − lost disputes + what waits for the staff. */
export async function judgeDocuments(world: World, { kept }: RailBooks): Promise<string[]> {
  const topups = await world.rows<{ id: string; currency: string; status: string }>(
    'select id, currency, status from topup',
  );
  const at_rails = new Map<string, number>();
  for (const { id, currency, status } of topups) {
    const minor = status === 'review' ? 0 : (kept.get(id)?.minor ?? 0);
    at_rails.set(currency, (at_rails.get(currency) ?? 0) + minor);
  }
  const documents = await world.rows<{ currency: string; minor: number }>(`
    select currency, sum(minor)::float8 as minor from (
      select currency, case when kind = 'credit_note' then -total_minor else total_minor end as minor from invoice
       union all
      select currency, -amount_minor from dispute where status = 'lost') all_of_them
     group by currency`);
  const gaps = await world.rows(`
    select c.series, c.fy, c.last_no::float8 as last_no, count(i.id)::int as documents
      from invoice_counter c left join invoice i on i.number like c.series || '/' || c.fy || '/%'
     group by c.supplier, c.series, c.fy, c.last_no having count(i.id) <> c.last_no`);
  return [
    ...documents
      .filter(({ currency, minor }) => at_rails.get(currency) !== minor)
      .map(
        ({ currency, minor }) => `rails keep ${at_rails.get(currency)} ${currency}, documents say ${minor}`,
      ),
    ...gaps.map((gap) => `documents have a gap: ${JSON.stringify(gap)}`),
  ];
}

/** All credit there is = sold − given back − lost + granted + plans' credit − their fees − given and not redeemed − expired. */
export async function judgeCredits(world: World): Promise<string[]> {
  const [row] = await world.rows<{ there: number; follows: number }>(`
    select (select sum(available + held)::float8 from ledger.book where environment = 1) as there,
           ((select coalesce(sum(credits_micro), 0) from topup where status = 'paid')
          - (select coalesce(sum(r.credits_micro), 0) from refund r where status <> 'failed')
          - (select coalesce(sum(d.credits_micro), 0) from dispute d where status = 'lost')
          + (select coalesce(sum(w.amount), 0) from ledger.writeoff w
               join ledger.entry e on e.book_id = w.book_id and e.seq = w.seq
              where e.ref_type in ('refund', 'dispute'))
          + (select coalesce(sum(included_micro - fee_micro), 0) from plan_charge where status = 'paid')
          - (select coalesce(sum(amount_micro_usd), 0) from gift where status = 'open')
          + (select coalesce(sum(e.amount), 0) from ledger.entry e join ledger.entry_kind k on k.kind = e.kind
               join ledger.book b on b.book_id = e.book_id
              where b.environment = 1 and k.name in ('grant', 'expire')))::float8 as follows`);
  if (row === undefined || row.there === row.follows) return [];
  return [`there is ${row.there} of credit, from what was bought and given follows ${row.follows}`];
}
