// A process that works on certificates and nothing else: made to be killed.
import { readFileSync } from 'node:fs';
import { createPool } from '@svc/core/db/index.ts';
import { silentLog } from '@svc/core/kernel/index.ts';
import { CertificateIssuer } from '@svc/core/storefronts/index.ts';

const [url, directory_url, ca_file, key] = process.argv.slice(2) as [string, string, string, string];
const issuer = new CertificateIssuer({
  db: createPool(url, { max: 4, role: 'svc_runtime' }),
  root_key: Buffer.from(key, 'hex'),
  log: silentLog,
  settings: { directory_url, email: null, ca: [readFileSync(ca_file, 'utf8')], eab: null },
});
await issuer.run();
process.stdout.write('done\n');
