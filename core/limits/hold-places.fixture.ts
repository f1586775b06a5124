// A process that takes places and never leaves them: `hold-places.fixture.ts REDIS_URL SUBJECT COUNT LEASE_MS`.
import { createLog } from '../kernel/index.ts';
import { isRefusal, openRedisLimits } from './index.ts';

const [url, subject, count, lease_ms] = process.argv.slice(2) as [string, string, string, string];
const store = await openRedisLimits({ url, log: createLog('error', 'fixture'), lease_ms: Number(lease_ms) });
for (let i = 0; i < Number(count); i++) {
  if (isRefusal(await store.enter(JSON.parse(subject)))) throw new Error('refused');
}
process.send?.('holding');
setInterval(() => {}, 1_000);
