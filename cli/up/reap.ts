// Started by the guard of child.ts when a `make up` was killed, to end the programs that it had started.
// `node cli/up/reap.ts DATA_DIRECTORY PID`, where PID is the pid of the killed `make up`.
import { reapOrphans } from './child.ts';

const [dataDir = '', pid = ''] = process.argv.slice(2);
await reapOrphans(dataDir, Number(pid));
