// The verifier on a dump of the books of verify.test.ts (which says how it is written anew), one thing of it changed. The list of what
// is found is whole: what is said too much leads astray whoever looks for the cause.
import { expect, test } from 'vitest';
import { A, B, type Case, findingsAfter } from '../testing/dump.ts';

const RUN = { run: '0b4f8f5e-5f3c-4f0a-9d9f-2a1b7c8d9e0f' };

const LOTS: Case[] = [
  [
    'the name of a lot',
    (t) => t.set('lot', { ...A, lot_no: '5' }, { lot_id: 'lot_01M8HWNWBJY52J0DZ010B2RXV8' }),
    '1: hash',
  ],
  [
    'a grant for a payment',
    (t) => t.set('lot', { ...A, lot_no: '1' }, { is_grant: 'true' }),
    '1: hash restore granted',
  ],
  [
    'a payment for a grant',
    (t) => t.set('lot', { ...A, lot_no: '5' }, { is_grant: 'false' }),
    '1: hash restore',
  ],
  ['the end of a lot', (t) => t.set('lot', { ...A, lot_no: '3' }, { expires_at: 'infinity' }), '1: hash'],
  [
    'an end for a lot that has none',
    (t) => t.set('lot', { ...A, lot_no: '1' }, { expires_at: '1795983232314000' }),
    '1: hash restore burn',
  ],
  ['the amount of a lot', (t) => t.set('lot', { ...A, lot_no: '1' }, { amount: '5001' }), '1: lot lot'],
  [
    'the amount of a used lot',
    (t) => t.set('lot', { ...A, lot_no: '3' }, { amount: '299' }),
    '1: lot burn burn lot granted',
  ],
  ['the burned part of a lot', (t) => t.set('lot', { ...A, lot_no: '1' }, { burned: '846' }), '1: lot'],
  ['the mark that a lot is open', (t) => t.set('lot', { ...A, lot_no: '1' }, { is_open: 'false' }), '1: lot'],
  [
    'the mark that a used lot is not',
    (t) => t.set('lot', { ...A, lot_no: '3' }, { is_open: 'true' }),
    '1: lot',
  ],
  [
    'the entry of a lot',
    (t) => t.set('lot', { ...A, lot_no: '5' }, { seq: '12', origin_seq: '12' }),
    '1: hash lot burn restore lot lot lot granted',
  ],
  ['a lot that is gone', (t) => t.remove('lot', { ...A, lot_no: '5' }), '1: hash lot burn restore'],
  [
    'a lot twice',
    (t) => t.add('lot', { ...A, lot_no: '5' }, { lot_no: '8' }),
    '1: hash lot burn lot lot granted lot',
  ],
  [
    'the origin of credit that was put back',
    (t) => t.set('lot', { ...A, lot_no: '7' }, { origin_seq: '15' }),
    '1: hash restore',
  ],
  [
    'the origin of credit that was never taken',
    (t) => t.set('lot', { ...A, lot_no: '7' }, { origin_seq: '2' }),
    '1: hash restore',
  ],
  [
    'the amount of credit that was put back',
    (t) => t.set('lot', { ...A, lot_no: '6' }, { amount: '31' }),
    '1: hash restore restore lot',
  ],
  [
    'the end of credit that was put back',
    (t) => t.set('lot', { ...A, lot_no: '6' }, { expires_at: '1795983232370000' }),
    '1: hash restore burn lot',
  ],
  [
    'the kind of credit that was put back',
    (t) => t.set('lot', { ...A, lot_no: '6' }, { is_grant: 'true' }),
    '1: hash restore burn granted lot',
  ],
  [
    'a part of what was put back is gone',
    (t) => t.remove('lot', { ...A, lot_no: '6' }),
    '1: hash restore lot',
  ],
  [
    'credit that was put back without a debit',
    (t) => t.set('entry', { ...A, seq: '14' }, { ref_id: 'gift_2' }),
    '1: hash restore restore restore',
  ],
  [
    'credit that another kind of debit took',
    (t) => t.set('entry', { ...A, seq: '14' }, { kind: '3' }),
    '1: hash restore restore restore',
  ],
];

const BURNS: Case[] = [
  ['the end of a burn', (t) => t.set('burn', { ...A, block_no: '8' }, { to_micro: '779' }), '1: burn burn'],
  [
    'the end of a burn that has none',
    (t) => t.set('burn', { ...A, block_no: '8' }, { to_micro: '480' }),
    '1: burn burn burn',
  ],
  [
    'the start of a burn',
    (t) => t.set('burn', { ...A, block_no: '8' }, { from_micro: '481' }),
    '1: burn burn',
  ],
  [
    'the lot of a burn',
    (t) => t.set('burn', { ...A, block_no: '8' }, { lot_no: '3' }),
    '1: burn burn burn lot lot granted',
  ],
  [
    'an unknown lot for a burn',
    (t) => t.set('burn', { ...A, block_no: '8' }, { lot_no: '9' }),
    '1: burn burn burn',
  ],
  [
    'a lot that comes later for a burn',
    (t) => t.set('burn', { ...A, block_no: '8' }, { lot_no: '5', from_micro: '0', to_micro: '300' }),
    '1: burn burn burn',
  ],
  [
    'more than a lot has for a burn',
    (t) => t.set('burn', { ...A, block_no: '6', lot_no: '3' }, { to_micro: '301' }),
    '1: burn burn burn lot lot granted',
  ],
  [
    'a burn out of order',
    (t) => {
      t.set('burn', { ...A, block_no: '5', lot_no: '3' }, { lot_no: '1' });
      t.set('burn', { ...A, block_no: '6', lot_no: '1' }, { from_micro: '240', to_micro: '440' });
      t.set('burn', { ...A, block_no: '6', lot_no: '3' }, { from_micro: '0', to_micro: '60' });
    },
    '1: burn burn burn burn burn burn lot lot granted lot',
  ],
  [
    'a lot left before it is used up',
    (t) => {
      t.set('burn', { ...A, block_no: '6', lot_no: '1' }, { to_micro: '210' });
      t.set('burn', { ...A, block_no: '6', lot_no: '3' }, { to_micro: '290' });
    },
    '1: burn burn burn burn burn lot lot granted lot',
  ],
  [
    'an expiry of another lot',
    (t) => t.set('burn', { ...A, block_no: '4' }, { lot_no: '3' }),
    '1: burn burn burn burn burn burn burn lot lot granted lot',
  ],
  [
    'an expiry that burns a lot that is not there',
    (t) => t.set('burn', { ...A, block_no: '4' }, { lot_no: '9' }),
    '1: burn burn burn burn burn burn burn lot lot granted lot',
  ],
  ['an expiry of no lot', (t) => t.set('entry', { ...A, seq: '4' }, { ref_id: null }), '1: hash burn'],
  [
    'a call for the burn of a debit',
    (t) => t.set('burn', { ...A, block_no: '10', lot_no: '1' }, { seq: null }),
    '1: burn',
  ],
  ['a debit for the burn of a call', (t) => t.set('burn', { ...A, block_no: '8' }, { seq: '11' }), '1: burn'],
  [
    'another debit for a burn',
    (t) => t.set('burn', { ...A, block_no: '10', lot_no: '1' }, { seq: '13' }),
    '1: burn',
  ],
  [
    'a burn of a block that is not there',
    (t) => t.set('burn', { ...A, block_no: '4' }, { block_no: '0' }),
    '1: burn burn burn burn burn burn burn burn burn burn lot lot granted lot',
  ],
  [
    'a burn behind the last block',
    (t) => t.set('burn', { ...B, block_no: '2' }, { block_no: '3' }),
    '2: burn burn lot lot lot',
  ],
  ['a burn that is gone', (t) => t.remove('burn', { ...A, block_no: '8' }), '1: burn burn'],
];

const TOTALS: Case[] = [
  ['the spend of a day', (t) => t.set('win', { ...A, kind: '1' }, { spent: '1144' }), '1: window'],
  ['what a day holds', (t) => t.set('win', { ...A, kind: '1' }, { held: '154' }), '1: window'],
  ['the spend of a month', (t) => t.set('win', { ...A, kind: '2' }, { spent: '1144' }), '1: window'],
  ['what a month holds', (t) => t.set('win', { ...A, kind: '2' }, { held: '154' }), '1: window'],
  ['a window that is gone', (t) => t.remove('win', { ...B, kind: '2' }), '2: window'],
  [
    'a window of nothing',
    (t) => t.add('win', { ...A, kind: '1' }, { start: '2026-11-29', spent: '0', held: '0' }),
    '',
  ],
  [
    'a window of calls that are not there',
    (t) => t.add('win', { ...A, kind: '1' }, { start: '2026-11-29', spent: '1', held: '0' }),
    '1: window',
  ],
  ['the spend of a run', (t) => t.set('run', RUN, { spent: '66' }), '1: run'],
  ['what a run holds', (t) => t.set('run', RUN, { held: '79' }), '1: run'],
  ['the first block of a run', (t) => t.set('run', RUN, { after_block: '12' }), '1: run'],
  ['a run that is gone and holds something', (t) => t.remove('run', RUN), '1: run'],
  [
    'a run that is gone and holds nothing',
    (t) => {
      t.remove('run', RUN);
      t.set('hold', RUN, { amount: '0' });
    },
    '1: window window hold',
  ],
  [
    'a hold of nothing, whose key and project need no window',
    (t) => t.set('hold', RUN, { amount: '0', key_no: '12', project_no: '12' }),
    '1: window window run hold',
  ],
  ['a hold', (t) => t.set('hold', RUN, { amount: '79' }), '1: window window run hold'],
  ['the key of a hold', (t) => t.set('hold', RUN, { key_no: '12' }), '1: window window'],
  ['the project of a hold', (t) => t.set('hold', RUN, { project_no: '12' }), '1: window window'],
  ['the run of a hold', (t) => t.set('hold', RUN, { run: null }), '1: run'],
  ['a hold that is gone', (t) => t.remove('hold', RUN), '1: window window run hold'],
  ['what is available', (t) => t.set('book', A, { available: '4031' }), '1: balance lot'],
  ['less than nothing available', (t) => t.set('book', B, { available: '-1', held: '1' }), '2: balance hold'],
  ['what is held', (t) => t.set('book', A, { held: '156' }), '1: balance hold lot'],
  ['what is granted', (t) => t.set('book', A, { granted: '1' }), '1: granted'],
  ['the last entry of a book', (t) => t.set('book', A, { seq: '17' }), '1: seq'],
  ['the last block of a book', (t) => t.set('book', A, { block_no: '13' }), '1: block'],
  ['the head of a book', (t) => t.set('book', A, { head: '00'.repeat(32) }), '1: hash'],
  ['the current lot of a book', (t) => t.set('book', A, { current_lot_no: '6' }), '1: lot'],
  ['a current lot where none is left', (t) => t.set('book', B, { current_lot_no: '2' }), '2: lot'],
  ['no current lot where one is left', (t) => t.set('book', A, { current_lot_no: null }), '1: lot'],
  ['a last book that is gone', (t) => t.remove('book', B), `2:${' owner'.repeat(10)}`],
];

test.each([...LOTS, ...BURNS, ...TOTALS])('%s', async (_, change, findings) => {
  expect(await findingsAfter(change)).toBe(findings);
});
