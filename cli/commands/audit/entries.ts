// Which entries of the audit log a command is about, and how one stands on a line.
import { type AuditRow, type LogFilter, viewEntry } from '@svc/core/identity/index.ts';
import type { Context } from '@svc/core/kernel/index.ts';
import { type Flag, type Input, UsageError } from '../../command.ts';
import { getOrg } from '../../lookup.ts';

const LINE_MAX = 64;

export const filterFlags: Readonly<Record<string, Flag>> = {
  org: { type: 'text', doc: 'id or slug; none: what concerns no organization; default: all', value: 'ORG' },
  actor: { type: 'text', doc: 'id of a person, key or member of staff', value: 'ID', length_max: LINE_MAX },
  action: {
    type: 'text',
    doc: 'an operation, or how its name begins: keys.',
    value: 'NAME',
    length_max: LINE_MAX,
  },
  target: { type: 'text', doc: 'id of what it was done to', value: 'ID', length_max: LINE_MAX },
  outcome: { type: 'text', doc: 'done, or refused', choices: ['ok', 'denied'] },
};

export const rangeFlags: Readonly<Record<string, Flag>> = {
  since: { type: 'text', doc: 'from this day (UTC) or time on', value: 'TIME' },
  until: { type: 'text', doc: 'before this day (UTC) or time', value: 'TIME' },
};

/** @throws UsageError for what is no time. */
function timeOf(input: Input, name: 'since' | 'until'): Date | null {
  const text = input.find(name);
  if (text === null) return null;
  const written = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?Z)?$/.test(text);
  const time = new Date(text);
  if (written && Number.isFinite(time.getTime())) return time;
  throw new UsageError(`--${name} takes 2026-11-01 or 2026-11-01T10:00:00Z, got ${JSON.stringify(text)}`);
}

/** What the flags ask for. @throws UsageError, or ServiceError not_found for an organization that there is not. */
export async function filterOf(context: Context, input: Input): Promise<LogFilter> {
  const [since, until] = [timeOf(input, 'since'), timeOf(input, 'until')];
  const asked = input.find('org');
  const of = asked === null || asked === 'none' ? null : await getOrg(context, asked);
  return {
    ...{ org_id: asked === 'none' ? '' : (of?.id ?? null), since, until },
    ...{ actor: input.find('actor'), action: input.find('action'), target: input.find('target') },
    outcome: input.find('outcome') as LogFilter['outcome'],
  };
}

/** An entry for programs: as the API shows it, with whose it is. */
export function entryJson(row: AuditRow): object {
  return { org_id: row.org_id === '' ? null : row.org_id, ...viewEntry(row) };
}

/** Text of others on a terminal: without characters that move the cursor or change colours. */
const plain = (text: string) => text.replaceAll(/\p{Cc}/gu, '?');

/** An entry on a line. */
export function entryLine(row: AuditRow): string {
  const { id, at, org_id, actor_type, actor_display, action, target_id, target_display, outcome } = row;
  const target = target_display ?? target_id;
  const parts = [
    ...[String(id), at.toISOString(), org_id === '' ? '(no organization)' : org_id],
    ...[`${actor_type} ${actor_display}`, action],
    ...(target === null ? [] : [target]),
    ...(outcome === 'denied' ? ['DENIED'] : []),
    ...(row.reason === null ? [] : [`(${row.reason})`]),
  ];
  return parts.map(plain).join('  ');
}
