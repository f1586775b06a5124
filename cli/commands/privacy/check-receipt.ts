// Recomputes the digest of an erasure from the ids of its calls, which only an export made before it still has.
import { readFileSync } from 'node:fs';
import { isId } from '@svc/core/kernel/index.ts';
import { digestOfIds, getRequest } from '@svc/core/privacy/index.ts';
import { type Command, UsageError } from '../../command.ts';
import { staffContext } from '../../context.ts';
import { withDatabase } from '../../installation.ts';

/** The ids in a file: one a line, or the lines of an NDJSON export. */
function idsIn(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) => (line.startsWith('{') ? String(JSON.parse(line).request_id) : line));
}

export const command: Command = {
  flags: {
    request: { type: 'text', doc: 'the erasure', value: 'dsr_…', required: true },
    ids: { type: 'text', doc: 'request ids, one a line, or an NDJSON export', value: 'FILE', required: true },
  },
  example: 'svcctl privacy check-receipt --request dsr_01KACZ3V8S6T5R4Q3P2N1M0K9J --ids subject.ndjson',
  async run(input) {
    const id = input.get('request');
    if (!isId('data_subject_request', id)) throw new UsageError('--request is an id that begins with dsr_');
    const ids = idsIn(readFileSync(input.get('ids'), 'utf8'));
    return withDatabase(async (pool) => {
      const { digest, records } = await getRequest(await staffContext(pool), { id, org_id: null });
      if (digest === null) throw new UsageError(`${id} has no receipt`);
      const found = digestOfIds(ids);
      const ok = found === digest;
      const text = ok
        ? `the receipt holds: ${records} calls, ${digest}`
        : `the receipt does not hold: it says ${digest} over ${records} calls, the file gives ${found} over ${ids.length}`;
      return { ok, json: { id, digest, found, ok, records, given: ids.length }, text };
    });
  },
};
