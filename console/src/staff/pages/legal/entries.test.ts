import { expect, test } from 'vitest';
import { readEntries } from './entries.ts';

test('a line is an entry, and empty lines are none', () => {
  const { entries } = readEntries('cloud; Example Cloud; hosting; Germany; hosting of the database\n\n');
  expect(entries).toMatchObject([{ id: 'cloud', name: 'Example Cloud', purpose: 'hosting of the database' }]);
});

test.for(['cloud; Cloud', 'Cloud One; x; y; z; w', 'a;b;c;d;e;f', ';;;;'])('%s is none', (line) => {
  expect(readEntries(`ok; a; b; c; d\n${line}`)).toMatchObject({
    entries: null,
    fault: `Not an entry: ${line}`,
  });
});
