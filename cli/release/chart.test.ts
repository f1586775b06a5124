import { mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { atFileEnd } from '@svc/test/support/ends.ts';
import { toolPath } from '@svc/test/support/engine.ts';
import { expect, test } from 'vitest';
import { packChart } from './chart.ts';
import { output } from './run.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const helm = await toolPath('helm');
const top = mkdtempSync(join(tmpdir(), 'svc-chart-'));
atFileEnd(() => rm(top, { recursive: true, force: true }));
const digest = `sha256:${'a'.repeat(64)}`;

async function packed(name: 'svc' | 'svc-crds', folder: string): Promise<string> {
  const [scratch, into] = [join(top, folder, 'scratch'), join(top, folder, 'out')];
  mkdirSync(scratch, { recursive: true });
  mkdirSync(into, { recursive: true });
  const image = name === 'svc' ? { repository: 'registry.example/svc', digest } : null;
  return packChart({ helm, root, name, version: '7.8.9', image, scratch, into, time: 1_795_000_000 });
}

test('the chart of a release runs the image of the release, by its digest', async () => {
  const path = await packed('svc', 'one');
  const values = join(root, 'charts/values/minimal.yaml');
  const rendered = await output(helm, ['template', 'svc', path, '--values', values], { cwd: top });
  const images = new Set([...rendered.matchAll(/^\s*image: "?([^"\n]+)"?$/gm)].map(([, image]) => image));
  expect([...images]).toEqual([`registry.example/svc@${digest}`]);
  expect(await output(helm, ['show', 'chart', path], { cwd: top })).toMatch(
    /appVersion: 7\.8\.9[\s\S]*version: 7\.8\.9/,
  );
});

test('a chart that is packed twice has the same bytes', async () => {
  const [one, other] = [await packed('svc-crds', 'two'), await packed('svc-crds', 'three')];
  expect(readFileSync(one).equals(readFileSync(other))).toBe(true);
});
