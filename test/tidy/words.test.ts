import { expect, test } from 'vitest';
import { shown } from './sources.ts';
import { plainNames } from './words.ts';

const faults = (text: string) => shown(plainNames([{ path: 'core/keys/a.ts', text }]));

test('a name with a banned word is a fault, wherever in the name it stands', () => {
  const names = ['wish', 'ownWishes', 'told_ids', 'isTold', 'last_told', 'toldAway', 'dearest', 'WishList'];
  for (const name of names) expect(faults(`const ${name} = 1;\n`), name).toHaveLength(1);
  expect(faults('const dearest = 1;\n')).toEqual([
    'core/keys/a.ts:1 a name says expensive, or greatest: dearest',
  ]);
});

test('other words that hold its letters pass, and so do comments and texts', () => {
  const text = `// They are told what they wish.\nconst endearing = 'told';\nconst swish = scaffoldTool;\n`;
  expect(faults(text)).toEqual([]);
});
