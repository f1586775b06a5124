// Calls as a file for a spreadsheet. Pure.
import type { FeedRowFragment } from '../../api/gen/graphql.ts';
import { plainText } from '../../ui/format/money.ts';
import { instantOf } from '../../ui/format/time.ts';

const columns: readonly (readonly [
  name: string,
  read: (row: FeedRowFragment, names: ReadonlyMap<string, string>) => unknown,
])[] = [
  ['id', ({ id }) => id],
  ['time_utc', ({ ts }) => instantOf(ts).toISOString()],
  ['status', ({ status }) => status.toLowerCase()],
  ['http_status', ({ httpStatus }) => httpStatus],
  ['error_code', ({ errorCode }) => errorCode],
  ['model', ({ model }) => model],
  ['provider', ({ provider }) => provider],
  ['region', ({ region }) => region],
  ['key', ({ keyId }, names) => names.get(keyId)],
  ['key_id', ({ keyId }) => keyId],
  ['attempts', ({ attempts }) => attempts],
  ['input_tokens', ({ inputTokens }) => inputTokens],
  ['output_tokens', ({ outputTokens }) => outputTokens],
  ['cost_usd', ({ costMicro }) => plainText(costMicro)],
  ['first_token_ms', ({ ttftMs }) => ttftMs],
  ['total_ms', ({ durationMs }) => durationMs],
];

/** A value as a cell. What a spreadsheet would run as a formula is made text, since people choose the names. */
function cell(value: unknown): string {
  const text = value === null || value === undefined ? '' : String(value);
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** `rows` with a head; lines end as RFC 4180 has it. `names` are of keys by id. */
export function csvOf(rows: readonly FeedRowFragment[], names: ReadonlyMap<string, string>): string {
  const lines = rows.map((row) => columns.map(([, read]) => cell(read(row, names))));
  return [columns.map(([name]) => name), ...lines].map((line) => `${line.join(',')}\r\n`).join('');
}
