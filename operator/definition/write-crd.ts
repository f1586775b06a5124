// Writes the generated definition into its chart: `node operator/definition/write-crd.ts`.
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { routingPolicyYaml } from './crd.ts';

const file = new URL('../../charts/svc-crds/templates/routingpolicies.yaml', import.meta.url);
mkdirSync(new URL('.', file), { recursive: true });
writeFileSync(file, routingPolicyYaml());
process.stdout.write(`${fileURLToPath(file)}\n`);
