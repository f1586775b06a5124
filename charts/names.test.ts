// Names of what the chart renders: none twice, and none that the API server refuses.
import { join } from 'node:path';
import { runHelm } from '@svc/test/support/kubernetes.ts';
import { expect, test } from 'vitest';
import { charts, type Manifest, objectsOf, renderObjects, svc, valueSets } from './render.ts';

const placeOf = ({ kind, metadata }: Manifest) => `${kind} ${metadata['namespace'] ?? ''}/${metadata.name}`;

test.each([
  ...valueSets.map((values) => [values, {}] as const),
  [
    'operator-only',
    { 'operator.watchNamespaces': ['kube-system', 'team-a'], 'operator.clusterId': '' },
  ] as const,
])('no object of %s stands there twice (%j)', async (values, set) => {
  const places = (await renderObjects(values, { set })).map(placeOf);
  expect(places.filter((place, i) => places.indexOf(place) !== i)).toEqual([]);
});

const renderAs = (release: string) =>
  runHelm(['template', release, svc, '--values', join(charts, 'values/minimal.yaml')]);

test('Services of a release with dots in its name have valid names', async () => {
  const { stdout } = await renderAs('llm.eu.1');
  const services = objectsOf(stdout).filter(({ kind }) => kind === 'Service');
  expect(services.map(({ metadata }) => metadata.name)).toContain('llm-eu-1-svc-gateway');
  for (const { metadata } of services) expect(metadata.name).toMatch(/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/);
});

test('the error for a release that begins with a digit says what to set', async () => {
  const { code, stderr } = await renderAs('1llm');
  expect(code).not.toBe(0);
  expect(stderr.replaceAll('\n', ' ')).toContain('fullnameOverride: the release 1llm begins with a digit');
});
