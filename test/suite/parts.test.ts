import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { filesIn, needsKubernetes, root, under } from './parts.ts';

test('every test file is in exactly one of the two parts', () => {
  const parts = [...filesIn('most'), ...filesIn('kubernetes')].sort();
  expect(parts).toEqual(filesIn('test'));
  expect(parts).toContain('test/support/kubernetes.kube.test.ts');
  expect(parts).toContain('test/suite/parts.test.ts');
});

test('no file of the first part uses the Kubernetes API', () => {
  const users = filesIn('most').filter((path) =>
    /from '[^']*\/kubernetes(-server)?\.ts'/.test(readFileSync(join(root, path), 'utf8')),
  );
  expect(users, `belongs in ${needsKubernetes.join(' or ')}`).toEqual([]);
});

test('a folder selects the files below it, and a file itself', () => {
  const files = [
    'core/keys/a.test.ts',
    'core/keys-old/b.test.ts',
    'core/keys/deep/c.test.ts',
    'cli/d.test.ts',
  ];
  expect(under(['core/keys'], files)).toEqual(['core/keys/a.test.ts', 'core/keys/deep/c.test.ts']);
  expect(under(['./core/keys/', 'cli/d.test.ts'], files)).toEqual([
    'core/keys/a.test.ts',
    'core/keys/deep/c.test.ts',
    'cli/d.test.ts',
  ]);
  expect(under(['key', 'core/keys/a'], files)).toEqual([]);
});
