// The part of `make check` about packages of others: their licenses, and what is known against them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nowMs } from '@svc/core/kernel/index.ts';
import { askAudit, readAudit } from './audit.ts';
import { licenseFaults, lockedPackages } from './licenses.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const say = (text: string) => process.stdout.write(`${text}\n`);

const packages = lockedPackages(readFileSync(join(root, 'package-lock.json'), 'utf8'));
const licenses = licenseFaults(packages);
for (const fault of licenses) say(`licenses: ${fault}`);
say(`licenses: ${packages.length} packages, ${licenses.length} faults`);

const audit = readAudit(await askAudit(root), new Date(nowMs()).toISOString().slice(0, 10));
if (audit.kind === 'open') say(`npm audit: nothing was checked, the registry did not answer: ${audit.why}`);
else {
  for (const fault of audit.faults) say(`npm audit: ${fault}`);
  say(`npm audit: ${audit.faults.length} that are high or critical`);
}
const faults = licenses.length + (audit.kind === 'answered' ? audit.faults.length : 0);
process.exitCode = faults === 0 ? 0 : 1;
