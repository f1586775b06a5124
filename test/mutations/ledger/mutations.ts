// Deliberately broken ledgers. Each mutation changes one place of one SQL function; the tests of the ledger must notice
// every one. A mutation that survives is a missing test.

export interface Mutation {
  readonly name: string;
  readonly function: string;
  readonly from: string;
  readonly to: string;
  /** `model`: sequences against the model; `interleave`: two processes on one book. */
  readonly caught_by: 'model' | 'interleave';
  /** A constraint that would catch it by itself, dropped so that the tests are what is tested. */
  readonly without?: string;
}

/** A pause between reading a book and writing it, so that two processes meet there; with the lock it would do no harm. */
const PAUSE = '; perform pg_sleep(0.002)';

export const MUTATIONS: readonly Mutation[] = [
  {
    name: 'a hold does not count what is held in a budget window',
    function: 'hold_run',
    from: 'then w.cap - w.spent - w.held',
    to: 'then w.cap - w.spent',
    caught_by: 'model',
  },
  {
    name: 'a hold looks at the key and not at the project',
    function: 'hold_run',
    from: 'and a <= v_room[p] and a >= 0',
    to: 'and a >= 0',
    caught_by: 'model',
  },
  {
    name: 'a hold is not taken from the balance',
    function: 'hold_run',
    from: 'set available = u.a, held = t.held + (t.available - u.a)',
    to: 'set held = t.held + (t.available - u.a)',
    caught_by: 'model',
  },
  {
    name: 'a hold is decided without the lock of its book',
    function: 'hold_run',
    from: 'order by book_id for no key update) x',
    to: `order by book_id) x${PAUSE}`,
    caught_by: 'interleave',
  },
  {
    name: 'a settle sent again is charged again',
    function: 'settle_run',
    from: `when q.is_metered then 'd'`,
    to: `when false then 'd'`,
    caught_by: 'model',
    without: 'alter table ledger.meter drop constraint request_is_metered_once',
  },
  {
    name: 'a write-off is not recorded',
    function: 'settle_run',
    from: 'if v_off then insert into ledger.writeoff',
    to: 'if false then insert into ledger.writeoff',
    caught_by: 'model',
  },
  {
    name: 'the spend of a window is not moved',
    function: 'settle_run',
    from: 'set spent = w.spent + u.spend',
    to: 'set spent = w.spent',
    caught_by: 'model',
  },
  {
    name: 'what was held in a window is not given back at settle',
    function: 'settle_run',
    from: 'held = w.held - u.unheld',
    to: 'held = w.held',
    caught_by: 'model',
  },
  {
    name: 'a seq is left out',
    function: 'settle_run',
    from: 'if c > 0 then s := s + 1;',
    to: 'if c > 0 then s := s + 2;',
    caught_by: 'model',
  },
  {
    name: 'a call of cost 0 makes an entry',
    function: 'settle_run',
    from: 'if c > 0 then s := s + 1;',
    to: 'if c >= 0 then s := s + 1;',
    caught_by: 'model',
    without: 'alter table ledger.meter drop constraint entry_iff_it_cost_something',
  },
  {
    name: 'a burn range ends one too far',
    function: 'settle_run',
    from: 'select u.lot_no, u.upto - u.t, u.upto, p_books',
    to: 'select u.lot_no, u.upto - u.t, u.upto + 1, p_books',
    caught_by: 'model',
  },
  {
    name: 'a grant that burns stays granted',
    function: 'settle_run',
    from: 'if r.is_grant then',
    to: 'if false then',
    caught_by: 'model',
  },
  {
    name: 'the blocks are not chained',
    function: 'settle_run',
    from: 'sha256(v_head[b] || int8send',
    to: `sha256('' || int8send`,
    caught_by: 'model',
  },
  {
    name: 'numbers of two calls change places beside a duplicate',
    function: 'settle_run',
    from: '(p_nums[(x.j - 1) * 12 + y] order by x.i, y)',
    to: '(p_nums[(x.i - 1) * 12 + y] order by x.i, y)',
    caught_by: 'model',
  },
  {
    name: 'other units of two calls change places beside a duplicate',
    function: 'settle_run',
    from: 'then array_agg(v_units[j]) end',
    to: 'then v_units end',
    caught_by: 'model',
  },
  {
    name: 'other units are not kept',
    function: 'settle_run',
    from: 'v_units[u.o / 12]::int[]',
    to: 'null',
    caught_by: 'model',
  },
  {
    name: 'a hash leaves other units out',
    function: 'settle_run',
    from: `case when v_units is null then '' else ledger.units_send(v_units[lo:hi]) end`,
    to: `''::bytea`,
    caught_by: 'model',
  },
  {
    name: 'a settle is booked without the lock of its book',
    function: 'settle_run',
    from: 'order by book_id for no key update) x',
    to: `order by book_id) x${PAUSE}`,
    caught_by: 'interleave',
  },
  {
    name: 'paid credit burns before granted',
    function: 'burn_lots',
    from: 'order by x.expires_at, x.is_grant desc, x.origin_seq, x.seq',
    to: 'order by x.expires_at, x.is_grant, x.origin_seq, x.seq',
    caught_by: 'model',
  },
  {
    name: 'the lot to burn first is the oldest',
    function: 'first_lot',
    from: 'order by expires_at, is_grant desc, origin_seq, seq limit 1',
    to: 'order by origin_seq, seq limit 1',
    caught_by: 'model',
  },
  {
    name: 'a release does not give back',
    function: 'release_run',
    from: 'held = t.held - x.a, available = t.available + x.a',
    to: 'held = t.held - x.a',
    caught_by: 'model',
    without: 'alter table ledger.book drop constraint granted_is_part_of_the_balance',
  },
  {
    name: 'an extension passes a hard budget',
    function: 'extend',
    from: 'if v_room is not true then',
    to: 'if false then',
    caught_by: 'model',
  },
  {
    name: 'an expiry takes what holds need',
    function: 'expire_lot',
    from: 'least(l.amount - l.burned, v.available)',
    to: 'l.amount - l.burned',
    caught_by: 'model',
  },
  {
    name: 'a credit sent again is credited again',
    function: 'credit',
    from: 'if found then return; end if;',
    to: '',
    caught_by: 'model',
    without: 'drop index ledger.entry_moves_once_per_reference',
  },
  {
    name: 'a debit of paid credit reaches grants',
    function: 'burn_lots',
    from: 'and not (p_paid_only and x.is_grant)',
    to: '',
    caught_by: 'model',
  },
  {
    name: 'a debit of one lot reaches others',
    function: 'debit',
    from: 'v_origin, v.seq + 1)',
    to: 'null, v.seq + 1)',
    caught_by: 'model',
  },
  {
    name: 'a debit that may take less writes the rest off',
    function: 'debit',
    from: `and p_short = 'write_off'`,
    to: '',
    caught_by: 'model',
  },
  {
    name: 'what a debit took comes back as new credit',
    function: 'restore',
    from: 'v.seq + 1, r.origin_seq, r.is_grant',
    to: 'v.seq + 1, v.seq + 1, r.is_grant',
    caught_by: 'model',
  },
  {
    name: 'what a debit took comes back without an end',
    function: 'restore',
    from: 'r.is_grant, r.expires_at, r.created_at, r.amount);',
    to: `r.is_grant, 'infinity', r.created_at, r.amount);`,
    caught_by: 'model',
  },
  {
    name: 'what a debit took comes back as often as it is asked for',
    function: 'restore',
    from: `if found then o_status := 'replay'; return; end if;`,
    to: '',
    caught_by: 'model',
    without: 'drop index ledger.entry_moves_once_per_reference',
  },
  {
    name: 'a lost dispute takes its credit beside what was held for it',
    function: 'charge_back',
    from: 'perform ledger.restore(p_book, 17::smallint, 18::smallint, p_ref_type, p_ref_id, p_lot_ids, p_now);',
    to: '',
    caught_by: 'model',
  },
  {
    name: 'what a lost dispute does not find is not written off',
    function: 'charge_back',
    from: `'write_off'`,
    to: `'take_less'`,
    caught_by: 'model',
  },
  {
    name: 'a sweep forgets the windows',
    function: 'release_run',
    from: 'set held = w.held - x.a',
    to: 'set held = w.held',
    caught_by: 'model',
  },
  {
    name: 'a changed budget does not reach the window that runs',
    function: 'set_budget',
    from: 'set cap = p_cap, hard = p_hard, alerted = w.alerted',
    to: 'set alerted = w.alerted',
    caught_by: 'model',
  },
];
