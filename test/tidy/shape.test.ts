// The rules of shape, each shown what keeps it and what breaks it.
import { describe, expect, test } from 'vitest';
import { foldersExplained, invariantsOnce } from './shape.ts';
import { type Source, shown } from './sources.ts';

const file = (path: string, text = ''): Source => ({ path, text });
const six = (folder: string) => ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => file(`${folder}/${name}.ts`));

describe('folders', () => {
  test('six files that nothing explains are a fault, five are not', () => {
    expect(shown(foldersExplained(six('core/a')))).toEqual([
      'core/a:1 6 files, and no README here or above says what the folder is',
    ]);
    expect(foldersExplained(six('core/a').slice(1))).toEqual([]);
  });

  test('a README in the folder explains it, and so does one above that names it', () => {
    expect(foldersExplained([...six('core/a'), file('core/a/README.md', '# a')])).toEqual([]);
    expect(foldersExplained([...six('core/a/raw'), file('core/README.md', 'holds `raw/`')])).toEqual([]);
  });

  test('a name that only ends alike explains nothing', () => {
    const faults = foldersExplained([...six('core/a/raw'), file('core/README.md', 'holds `draw/`')]);
    expect(faults).toHaveLength(1);
  });

  test('folders of data need no README', () => {
    expect(foldersExplained(six('core/a/fixtures'))).toEqual([]);
  });
});

test('an invariant whose name is given away already is a fault', () => {
  const readmes = [file('core/a/README.md', '- **X1** One.'), file('core/b/README.md', 'B\n\n> **X1** Two.')];
  expect(shown(invariantsOnce(readmes))).toEqual([
    'core/b/README.md:3 invariant X1 stands in core/a/README.md too',
  ]);
  expect(invariantsOnce(readmes.slice(0, 1))).toEqual([]);
});
