import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { licenseFaults, lockedPackages, staleReadings } from './licenses.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const packages = lockedPackages(readFileSync(join(root, 'package-lock.json'), 'utf8'));

test('every package that is installed may be passed on, and what was read by hand is still there', () => {
  expect(packages.length).toBeGreaterThan(800);
  expect(licenseFaults(packages)).toEqual([]);
  expect(staleReadings(packages)).toEqual([]);
});

test.each([
  ['AGPL-3.0-only', 'has the license "AGPL-3.0-only"'],
  ['MIT AND GPL-3.0-or-later', 'has the license "MIT AND GPL-3.0-or-later"'],
  ['SEE LICENSE IN LICENSE', 'has the license "SEE LICENSE IN LICENSE"'],
  ['', 'says no license'],
])('a package under "%s" is refused by name', (license, said) => {
  const [fault] = licenseFaults([{ name: 'some-package', version: '1.2.3', license }]);
  expect(fault).toContain(`some-package 1.2.3 ${said}`);
});

test.each(['MIT', 'MIT OR GPL-3.0-only', '(MIT AND Apache-2.0)'])(
  'a package under "%s" is allowed',
  (license) => {
    expect(licenseFaults([{ name: 'some-package', version: '1.2.3', license }])).toEqual([]);
  },
);

test('a package that was read by hand is read again when its version changes', () => {
  const fault = licenseFaults([{ name: 'unionfs', version: '5.0.0', license: '' }]);
  expect(fault).toEqual([expect.stringContaining('where 4.6.0 was read by hand')]);
});
