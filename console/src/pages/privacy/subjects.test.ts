import { expect, test } from 'vitest';
import { checkSubject, erasureText, exportText } from './subjects.ts';

test('an id is typed twice for an erasure, once for an export, with its spaces', () => {
  expect(checkSubject('', '')).toHaveProperty('user');
  for (const again of ['', 'user-4', 'User-42', 'user-42 '])
    expect(checkSubject('user-42', again)).toHaveProperty('confirm');
  expect(checkSubject('user-42', 'user-42')).toBeNull();
  // Two spellings of Unicode are one end user.
  expect(checkSubject('Zo\u00eb', 'Zoe\u0308')).toBeNull();
  expect([checkSubject('', null), checkSubject('user-42', null)]).toEqual([{ user: 'Enter the id.' }, null]);
});

test('it says what has become of an erasure and of an export', () => {
  const receipt = {
    __typename: 'ErasureReceipt',
    ...{ records: 2, method: 'unlink', payloadsDeleted: 1, completedAt: '', digest: '' },
  } as const;
  const done = { status: 'COMPLETED', receipt } as const;
  expect(erasureText(done)).toBe('Done: 2 calls unlinked, content of 1 call deleted.');
  expect(erasureText({ ...done, receipt: { ...receipt, records: 0 } })).toMatch(/no call of this end user/);
  expect(erasureText({ status: 'RUNNING', receipt: null })).toMatch(/goes on by itself/);
  expect(erasureText({ status: 'FAILED', receipt: null })).toMatch(/has failed/);
  expect([exportText(0), exportText(1)]).toEqual([
    'Nothing is stored of this end user; the file is empty.',
    'Saved a file with 1 call.',
  ]);
});
