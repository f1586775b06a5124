// What to tell of a PostgreSQL that ended by itself.

const LINES = 8;

/** A sentence for the cause that people meet, and the last lines of the server where there is no such. */
export function whyPostgresEnded(words: string, data_dir: string): string {
  if (/No space left on device/i.test(words))
    return [
      `PostgreSQL ended: the disk of ${data_dir} is full.`,
      'Nothing that was confirmed is lost. Free some space there and run `make up` again; `svcctl doctor` says how much is left.',
    ].join(' ');
  const last = words.trimEnd().split('\n').slice(-LINES).join('\n');
  return `PostgreSQL ended. The last it said:\n${last}`;
}
