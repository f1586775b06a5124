// The oracle on evidence made by hand: it must accept what is allowed and name what is not.
import { describe, expect, test } from 'vitest';
import { endNotKept, isAfter, type Seen, type Witness } from './caller.ts';
import { type Charge, judge, type LedgerState } from './oracle.ts';
import type { PlannedCall } from './plan.ts';
import type { Served } from './provider.ts';

const ID = '01M7ZVTX4KWQ2WBFX302SD0WRA';
const OTHER = '01M7ZVTX4KWQ2WBFX302SD0WRB';

const charge = (options: Partial<Charge> = {}): Charge => ({
  ...{ request_id: ID, book_id: 1, key_no: 1, cost: 100, charged: 100, entries: 1 },
  ...{ written_off: 0, estimated: false },
  ...options,
});

const witness = (seen: Seen): Witness => ({
  seen,
  ids: seen.request_id === null ? [] : [seen.request_id],
  ...{ spared: true, holds_at_risk: false, again: null, late: false },
  call: {
    no: 1,
    model: 'crash/full',
    behaviour: 'ok',
    over_report: 0,
    key: 'k',
    habit: 'once',
  } as PlannedCall,
});
const budgetRefusal: Seen = { kind: 'refused', request_id: OTHER, status: 402, code: 'budget_exhausted' };
const final: Seen = { kind: 'final', request_id: ID, cost_micro_usd: 100 };
const finished: Served = { attempts: 1, finished: true, cost_micro_usd: 100 };

function faultsOf(
  seen: readonly Seen[],
  charges: readonly Charge[],
  served: Served = finished,
  how: Partial<Witness> = {},
): string[] {
  const charged = charges.reduce((sum, one) => sum + one.charged, 0);
  const state: LedgerState = {
    charges: new Map(charges.map((one) => [one.request_id, one])),
    books: [{ book_id: 1, available: 1_000 - charged, held: 0, credited: 1_000, charged }],
    windows: [{ kind: 1, subject: 1, spent: charged, held: 0, hard_cap: 150 }],
    holds: 0,
    top_ups: [],
  };
  const verified = { ok: true, books: 1, entries: 0, meters: 0, findings: [], more: 0 };
  const witnesses = seen.map((one) => ({ ...witness(one), ...how }));
  return judge({
    witnesses,
    served: new Map([[1, served]]),
    state,
    verified: [verified],
    round: {
      before: { charges: new Map(), books: [], windows: [], holds: 0, top_ups: [] },
      seen: [...witnesses, { ...witness(budgetRefusal), call: { key: 'k' } as PlannedCall }],
      holds_may_be_lost: false,
      budget_keys: ['k'],
      top_ups: [],
    },
  });
}

describe('is accepted', () => {
  test.each<[string, Seen[], Charge[], Served?]>([
    ['a final answer charged once', [final], [charge()]],
    [
      'an error that is not charged',
      [{ kind: 'refused', request_id: ID, status: 502, code: 'upstream_error' }],
      [],
    ],
    ['a lost connection without a charge', [{ kind: 'lost', request_id: ID }], []],
    ['a lost connection whose answer was complete', [{ kind: 'lost', request_id: ID }], [charge()]],
    ['the same where the caller never learnt the id', [{ kind: 'lost', request_id: null }], [charge()]],
    [
      'an estimate for a caller that left',
      [{ kind: 'left', request_id: ID }],
      [charge({ estimated: true, cost: 70, charged: 70 })],
      { ...finished, finished: false },
    ],
  ])('%s', (_, seen, charges, served) => {
    expect(faultsOf(seen, charges, served)).toEqual([]);
  });
});

describe('is found', () => {
  test.each<[string, Seen[], Charge[], Served?]>([
    ['a final answer that was not charged', [final], []],
    ['a final answer charged with another cost', [final], [charge({ cost: 90, charged: 90 })]],
    ['a charge that took less than its cost without a write-off', [final], [charge({ charged: 90 })]],
    ['two entries for one call', [final], [charge({ entries: 2 })]],
    ['money written off without a lost hold', [final], [charge({ charged: 90, written_off: 10 })]],
    [
      'a hard budget that was overrun',
      [{ kind: 'lost', request_id: ID }],
      [charge({ cost: 160, charged: 160 })],
      { ...finished, cost_micro_usd: 160 },
    ],
    [
      'an error that was charged',
      [{ kind: 'refused', request_id: ID, status: 502, code: 'upstream_error' }],
      [charge()],
    ],
    [
      'a lost call charged though the provider never finished',
      [{ kind: 'lost', request_id: ID }],
      [charge()],
      { ...finished, finished: false },
    ],
    [
      'a caller that left an answer that its provider finished, uncharged',
      [{ kind: 'left', request_id: ID }],
      [],
    ],
    ['the same where it never learnt the id', [{ kind: 'left', request_id: null }], []],
    [
      'an estimate where the provider finished and bills whole',
      [{ kind: 'left', request_id: ID }],
      [charge({ estimated: true, cost: 70, charged: 70 })],
    ],
    ['an estimate for a caller that stayed', [final], [charge({ estimated: true })]],
    ['a charge that belongs to no call', [final], [charge(), charge({ request_id: OTHER })]],
    [
      'one lost call that explains two charges',
      [{ kind: 'lost', request_id: null }],
      [charge(), charge({ request_id: OTHER })],
    ],
  ])('%s', (_, seen, charges, served) => {
    expect(faultsOf(seen, charges, served)).not.toEqual([]);
  });
});

test('a caller that left a try without an id owes nothing more where another try under its key was charged', () => {
  expect(faultsOf([{ kind: 'left', request_id: null }], [charge()], finished, { ids: [ID] })).toEqual([]);
});

test('an answer that was not kept is the end of the try that had it, and one charge of a try without an id is its own', () => {
  const not_kept: Seen = {
    ...{ kind: 'refused', request_id: OTHER, status: 409, code: 'idempotency_replay_unavailable' },
  };
  const lost: Seen = { kind: 'lost', request_id: ID };
  const left: Seen = { kind: 'left', request_id: null };
  expect(endNotKept(not_kept, [lost])).toEqual(lost);
  expect(endNotKept(not_kept, [lost, left])).toEqual(left);
  expect(endNotKept(budgetRefusal, [lost])).toBeNull();
  const end = endNotKept(not_kept, [left]) as Seen;
  expect(faultsOf([end], [charge()])).toEqual([]);
  expect(faultsOf([end], [charge(), charge({ request_id: OTHER })])).not.toEqual([]);
});

test('an answer under a key is free where another execution has the key and its gateway may have lost its lease, and only there', () => {
  const again: Seen = { ...final, request_id: OTHER };
  const free = charge({ cost: 0, charged: 0, entries: 0 });
  const keyed = { again, ids: [ID, OTHER], call: { ...witness(final).call, habit: 'keyed' as const } };
  const faults = (key_at_risk: boolean, charges: Charge[]) =>
    faultsOf([final], charges, finished, { ...keyed, key_at_risk });
  expect(faults(true, [free, charge({ request_id: OTHER })])).toEqual([]);
  expect(faults(false, [free, charge({ request_id: OTHER })])).not.toEqual([]);
  expect(faults(true, [charge(), charge({ request_id: OTHER })])).not.toEqual([]);
  expect(faults(true, [charge({ request_id: OTHER })])).not.toEqual([]);
});

test("a client's late retry is a call of its own beside one that it left, of which it knows no id", () => {
  const left = { again: { kind: 'left', request_id: null } as const, ids: [ID] };
  const retries = { ...witness(final).call, habit: 'retries' as const };
  const estimate = charge({ request_id: OTHER, cost: 40, charged: 40, estimated: true });
  const faults = (late: boolean) =>
    faultsOf([final], [charge(), estimate], finished, { ...left, late, call: retries });
  expect(faults(true)).toEqual([]);
  expect(faults(false)).not.toEqual([]);
});

test('of two calls that began within a millisecond their ids say which was first', () => {
  const at = (end: string): Seen => ({ ...final, request_id: `${ID.slice(0, -1)}${end}` });
  expect(isAfter(at('C'), at('B'))).toBe(true);
  expect(isAfter(at('B'), at('C'))).toBe(false);
  expect(isAfter(at('C'), { kind: 'lost', request_id: null })).toBe(false);
});
