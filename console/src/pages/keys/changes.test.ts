import { expect, test } from 'vitest';
import type { KeyRowFragment } from '../../api/gen/graphql.ts';
import { changesOf, dollarsOf } from './changes.ts';

const row = {
  name: 'backend',
  scopes: ['INFERENCE'],
  budget: { dailyMicro: '12500000', hard: true },
  limits: { rpm: 120, tpm: null, concurrency: null },
} as unknown as KeyRowFragment;
const form = { name: 'backend', budget: '12.50', hard: true, rpm: '120', tpm: '', concurrency: '' };
const only = new Set(['INFERENCE'] as const);

test('a form that was not touched changes nothing', () => {
  expect(changesOf(row, form, only)).toEqual({ faults: {}, patch: {} });
});

test('only what was changed is sent, and an emptied field takes the bound away', () => {
  const { patch } = changesOf(
    row,
    { ...form, name: ' search ', budget: '', rpm: '', tpm: '1,200' },
    new Set(['READ_USAGE', 'INFERENCE'] as const),
  );
  expect(patch).toEqual({
    name: 'search',
    scopes: ['INFERENCE', 'READ_USAGE'],
    budget: { dailyMicro: null },
    limits: { rpm: null, tpm: 1200 },
  });
  expect(changesOf(row, { ...form, hard: false }, only).patch).toEqual({ budget: { hard: false } });
});

test('what cannot be meant is refused at its field', () => {
  const typed = { ...form, name: ' ', budget: 'ten', rpm: '0', tpm: '1.5', concurrency: '-1' };
  const { faults } = changesOf(row, typed, new Set());
  expect(Object.keys(faults).sort()).toEqual(['budget', 'concurrency', 'name', 'rpm', 'scopes', 'tpm']);
});

test('a budget stands in its field as it would be typed', () => {
  expect(['12500000', '25000000', '1', '0', null].map(dollarsOf)).toEqual([
    '12.50',
    '25',
    '0.000001',
    '0',
    '',
  ]);
});
