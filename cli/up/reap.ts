// Started by the guard of child.ts when a `make up` was killed: ends what it had started.
// `node cli/up/reap.ts DATA_DIRECTORY PID`, the pid being that of the killed one.
import { reapOrphans } from './child.ts';

const [dataDir = '', pid = ''] = process.argv.slice(2);
await reapOrphans(dataDir, Number(pid));
