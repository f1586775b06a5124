// A process that moves a ledger and is killed by its own hand right after a step: argv has the installation's address, those of the
// two places as name=address, and the step.
import { createPool } from '@svc/core/db/index.ts';
import { moveLedger } from '@svc/core/ledger/index.ts';

const [, , url = '', old = '', fresh = '', last = ''] = process.argv;
const place = (text: string) => ({
  name: text.slice(0, text.indexOf('=')),
  url: text.slice(text.indexOf('=') + 1),
});
const pool = createPool(url, { max: 2 });
const [from, to] = [place(old), place(fresh)];
await moveLedger({
  ...{ db: pool, shard: 'a', from, to },
  source_url: from.url,
  freeze_ms_max: 900,
  onStep(step) {
    if (step === last) process.kill(process.pid, 'SIGKILL');
  },
});
await pool.end();
