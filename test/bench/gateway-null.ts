// The gateway with a ledger that accepts everything; the difference to the gateway is the cost of the ledger client.
// Only the benchmark starts it; no setting of the product does.
import { createLog, readConfig } from '@svc/core/kernel/index.ts';
import { openNullLedger } from '@svc/core/ledger/index.ts';
import { startGateway } from '../../gateway/start.ts';

const config = readConfig();
const gateway = await startGateway({ config, log: createLog('warn', 'gateway'), ledgers: openNullLedger() });
process.once('SIGTERM', () => {
  void gateway.stop().then(() => process.exit(0));
});
