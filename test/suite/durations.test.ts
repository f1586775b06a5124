import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { longestFiles, mergeDurations, readDurations } from './durations.ts';
import { longestFirst } from './sequencer.ts';

const took = (wall_ms: number, cpu_ms = 0) => ({ wall_ms, cpu_ms });

test('a run overwrites what it measured, keeps the rest and drops files that no longer exist', () => {
  const kept = { 'a.test.ts': took(1), 'b.test.ts': took(2), 'gone.test.ts': took(3) };
  const merged = mergeDurations(kept, { 'b.test.ts': took(5) }, (file) => file !== 'gone.test.ts');
  expect(merged).toEqual({ 'a.test.ts': took(1), 'b.test.ts': took(5) });
});

test('a missing or truncated file of durations is read as empty', () => {
  const dir = mkdtempSync(join(tmpdir(), 'svc-durations-'));
  writeFileSync(join(dir, 'cut.json'), '{"a.test.ts": {"wall');
  expect(readDurations(join(dir, 'cut.json'))).toEqual({});
  expect(readDurations(join(dir, 'none.json'))).toEqual({});
  rmSync(dir, { recursive: true });
});

test('the longest files of a run are listed with their processor time, and only files of the run', () => {
  const durations = {
    'a.test.ts': took(1_000),
    'b.test.ts': took(12_340, 2_500),
    'c.test.ts': took(3_000, 100),
    'other.test.ts': took(90_000),
  };
  expect(longestFiles(durations, ['a.test.ts', 'b.test.ts', 'c.test.ts', 'unknown.test.ts'], 2)).toEqual([
    '  12.3 s, processor    2.5 s  b.test.ts',
    '   3.0 s, processor    0.1 s  c.test.ts',
  ]);
});

test('files run longest first, by their last duration here, else by the committed one', () => {
  const files = ['short.test.ts', 'unknown.test.ts', 'long.test.ts', 'told.test.ts'];
  const durations = { 'short.test.ts': took(10), 'long.test.ts': took(9_000), 'told.test.ts': took(20) };
  const reported = { 'told.test.ts': 400, 'unknown.test.ts': 5 };
  expect(longestFirst(files, durations, reported)).toEqual([
    'long.test.ts',
    'unknown.test.ts',
    'told.test.ts',
    'short.test.ts',
  ]);
  expect(longestFirst(files, {}, {})).toEqual(files);
});
