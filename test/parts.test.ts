import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { filesOf, needsKubernetes } from './parts.ts';

const root = fileURLToPath(new URL('../', import.meta.url));

/** The files of a mode, as vitest finds them. */
function filesIn(mode: string): string[] {
  const { include, exclude } = filesOf(mode);
  return globSync(include, { cwd: root, exclude }).sort();
}

test('every test file is in exactly one of the two parts', () => {
  const parts = [...filesIn('most'), ...filesIn('kubernetes')].sort();
  expect(parts).toEqual(filesIn('test'));
  expect(parts).toContain('test/support/kubernetes.kube.test.ts');
  expect(parts).toContain('test/parts.test.ts');
});

test('no file of the first part uses the Kubernetes API', () => {
  const users = filesIn('most').filter((path) =>
    /from '[^']*\/kubernetes(-server)?\.ts'/.test(readFileSync(join(root, path), 'utf8')),
  );
  expect(users, `belongs in ${needsKubernetes.join(' or ')}`).toEqual([]);
});
