// Requests about end users as the workflow and the store see them.
import type { Id } from '../../kernel/index.ts';

export const subjectKinds = ['erasure', 'export'] as const;
export const subjectStates = ['received', 'running', 'completed', 'failed'] as const;

export interface SubjectRequest {
  readonly id: Id<'data_subject_request'>;
  readonly org_id: Id<'org'>;
  readonly kind: (typeof subjectKinds)[number];
  readonly subject_hash: string;
  readonly status: (typeof subjectStates)[number];
  readonly records: number;
  readonly payloads_deleted: number;
  readonly digest: string | null;
  readonly created_at: Date;
  readonly completed_at: Date | null;
}

/** What an erasure says of itself to its workflow. */
export interface ErasureProgress {
  readonly dsr_id: Id<'data_subject_request'>;
  readonly status: SubjectRequest['status'];
  readonly records: number;
}

declare module '../../kernel/operation/operation.ts' {
  interface Services {
    /** How long a caller waits for an erasure to end; ten seconds unless given. */
    erasure_wait_ms?: number;
  }
}
