// Where the embedded database keeps its files: normally <data dir>/postgres. PostgreSQL refuses to run as root, so
// for root the server runs as another user, who may be unable to enter a private home directory. The files are then
// in /var/tmp, and the data directory remembers where. Deleting the data directory still means starting afresh.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { secureText } from '@svc/core/kernel/index.ts';
import { asRoot, reachableByOthers } from '../tools/postgres.ts';

const NAME = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** The directory for the cluster of `dataDir` (absolute), decided once and then kept. */
export function clusterDirectory(dataDir: string): string {
  const inside = join(dataDir, 'postgres');
  if (!asRoot() || reachableByOthers(dataDir)) return inside;
  const pointer = join(dataDir, 'postgres.location');
  try {
    return readFileSync(pointer, 'utf8').trim();
  } catch {
    const outside = `/var/tmp/svc-0/cluster-${secureText(NAME, 12)}`;
    mkdirSync(outside, { recursive: true, mode: 0o755 });
    writeFileSync(pointer, `${outside}\n`);
    return outside;
  }
}
