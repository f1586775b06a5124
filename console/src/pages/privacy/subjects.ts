// Words for requests about end users. Pure.
import type { SubjectRowFragment } from '../../api/gen/tools/graphql.ts';
import { plural } from '../../ui/format/numbers.ts';
import type { Shape, Tone } from '../../ui/status.tsx';

export const kindWords: Readonly<Record<SubjectRowFragment['kind'], string>> = {
  ERASURE: 'Erasure',
  EXPORT: 'Export',
};

interface Mark {
  readonly tone: Tone;
  readonly shape: Shape;
  readonly word: string;
}

export const stateMarks: Readonly<Record<SubjectRowFragment['status'], Mark>> = {
  RECEIVED: { tone: 'warn', shape: 'half', word: 'received' },
  RUNNING: { tone: 'warn', shape: 'run', word: 'running' },
  COMPLETED: { tone: 'ok', shape: 'ok', word: 'completed' },
  FAILED: { tone: 'bad', shape: 'bad', word: 'failed' },
};

/** Whether it still goes on. */
export const goesOn = ({ status }: Pick<SubjectRowFragment, 'status'>) =>
  status === 'RECEIVED' || status === 'RUNNING';

/** What has become of an erasure that was asked for just now. */
export function erasureText(row: Pick<SubjectRowFragment, 'status' | 'receipt'>): string {
  if (row.receipt) {
    const { records, payloadsDeleted } = row.receipt;
    if (records === 0) return 'Done: no call of this end user was found.';
    const with_content = plural(payloadsDeleted, 'call');
    return `Done: ${plural(records, 'call')} unlinked, content of ${with_content} deleted.`;
  }
  return row.status === 'FAILED'
    ? 'The erasure has failed. Ask for it again, or write to support.'
    : 'The erasure goes on by itself; its receipt will be below.';
}

/** What has become of an export. */
export function exportText(records: number): string {
  return records === 0
    ? 'Nothing is stored of this end user; the file is empty.'
    : `Saved a file with ${plural(records, 'call')}.`;
}

export interface SubjectFaults {
  readonly user?: string;
  readonly confirm?: string;
}

/** What is wrong with a typed id, and with the same typed again; `again` is null where it is not asked for. */
export function checkSubject(user: string, again: string | null): SubjectFaults | null {
  if (user === '') return { user: 'Enter the id.' };
  const is_other = again !== null && again.normalize() !== user.normalize();
  if (is_other) return { confirm: 'This is not the id above.' };
  return null;
}

/** A request as `GET /v1/privacy/requests/{id}` says it. */
export function receiptText({
  id,
  kind,
  subjectHash,
  status,
  records,
  createdAt,
  receipt,
}: SubjectRowFragment): string {
  const wire = {
    ...{ id, kind: kind.toLowerCase(), subject_hash: subjectHash, status: status.toLowerCase(), records },
    created_at: createdAt,
    receipt: receipt && {
      ...{ records: receipt.records, method: receipt.method, payloads_deleted: receipt.payloadsDeleted },
      ...{ completed_at: receipt.completedAt, digest: receipt.digest },
    },
  };
  return `${JSON.stringify(wire, null, 2)}\n`;
}
