// A program that runs the jobs of an installation and nothing else, as a worker does: made to be killed. It says on
// standard output when it leads.
import { createPool } from '@svc/core/db/index.ts';
import { openEgress } from '@svc/core/egress/index.ts';
import { readConfig, silentLog } from '@svc/core/kernel/index.ts';
import { openMailTransport } from '@svc/core/mail/index.ts';
import { startJobs } from '@svc/core/operations/index.ts';
import { openMoneyIn } from '@svc/core/topups/index.ts';

const config = readConfig();
const url = config.database_url as string;
const jobs = startJobs({
  pool: createPool(url, { max: 6, role: 'svc_runtime' }),
  direct_url: url,
  log: silentLog,
  request_log: { write() {}, async flush() {} },
  money_in: openMoneyIn(config),
  cell: 'test',
  root_key: Buffer.alloc(32, 7),
  egress: openEgress(config),
  mail: await openMailTransport(config),
});
let said = false;
setInterval(() => {
  if (jobs.leading !== said) process.stdout.write(jobs.leading ? 'leads\n' : 'leads no more\n');
  said = jobs.leading;
}, 20);
