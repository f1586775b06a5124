// Writes the generated definitions into their chart: `node operator/definition/write-crd.ts`.
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { accessKinds, plurals } from '../access/types.ts';
import { accessYaml } from './access-crds.ts';
import { routingPolicyYaml } from './crd.ts';

const folder = new URL('../../charts/svc-crds/templates/', import.meta.url);
mkdirSync(folder, { recursive: true });
const files = [
  ['routingpolicies', routingPolicyYaml()],
  ...accessKinds.map((kind) => [plurals[kind], accessYaml(kind)]),
] as const;
for (const [name, text] of files) {
  const file = new URL(`${name}.yaml`, folder);
  writeFileSync(file, text as string);
  process.stdout.write(`${fileURLToPath(file)}\n`);
}
