import { expect, test } from 'vitest';
import { whyPostgresEnded } from './last-words.ts';

test('a full disk is told in a sentence, anything else in the words of the server', () => {
  const full = [
    'LOG:  database system is ready to accept connections',
    'PANIC:  could not write to file "pg_wal/xlogtemp.4711": No space left on device',
    'LOG:  server process (PID 4711) was terminated by signal 6: Aborted',
  ].join('\n');
  const said = whyPostgresEnded(full, '/srv/svc');
  expect(said).toContain('the disk of /srv/svc is full');
  expect(said).not.toContain('PANIC');
  const other = whyPostgresEnded('a\nFATAL:  lock file is gone\n', '/srv/svc');
  expect(other).toBe('PostgreSQL ended. The last it said:\na\nFATAL:  lock file is gone');
});
