// The gateway with a ledger that says yes to everything: what the ledger client costs is the difference.
// An entry of the bench only; no setting of the product leads here.
import { createLog, readConfig } from '@svc/core/kernel/index.ts';
import { openNullLedger } from '@svc/core/ledger/index.ts';
import { startGateway } from '../../gateway/start.ts';

const config = readConfig();
const gateway = await startGateway({ config, log: createLog('warn', 'gateway'), ledgers: openNullLedger() });
process.once('SIGTERM', () => {
  void gateway.stop().then(() => process.exit(0));
});
