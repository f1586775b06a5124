// Creating a key. The answer with the secret is held in the state of one dialog and goes when the dialog closes; it is
// never put into the document cache, the address or storage.
import { useMemo } from 'react';
import { useQuery } from 'urql';
import {
  CreateKeyDocument,
  type CreateKeyInput,
  type KeyRowFragment,
  ProjectsDocument,
} from '../../api/gen/graphql.ts';
import { useSend } from '../../api/send.ts';
import { useOrg } from '../../app/org.tsx';

export interface NewKey {
  readonly key: KeyRowFragment;
  readonly secret: string;
}

/** The project that a first key goes to; null while it is not known. */
export function useDefaultProject(): { id: string; name: string } | null {
  const projects = useProjects();
  return projects[0] ?? null;
}

/** Projects in which a key can be made. */
export function useProjects(): readonly { id: string; name: string }[] {
  const { environment } = useOrg();
  const [{ data }] = useQuery({ query: ProjectsDocument, requestPolicy: 'cache-first' });
  return useMemo(() => {
    const own = (project: { environment: string }) => project.environment === environment;
    const active = (data?.projects ?? []).filter(({ status }) => status === 'ACTIVE');
    // A sandbox project holds sandbox keys only; a sandbox key may be in any project, sandbox projects come first.
    if (environment === 'LIVE') return active.filter(own);
    return active.toSorted((a, b) => Number(own(b)) - Number(own(a)));
  }, [data, environment]);
}

export type NewKeyForm = Omit<CreateKeyInput, 'environment' | 'idempotencyKey' | 'projectId'> & {
  readonly project_id: string;
};

/** `create` answers the key with its secret, or null and sets `fault`. */
export function useCreateKey() {
  const { environment } = useOrg();
  const { sendOnce, busy, fault } = useSend();
  // The document cache stores no results of mutations, so the secret reaches this caller alone.
  const create = ({ project_id, ...form }: NewKeyForm): Promise<NewKey | null> =>
    sendOnce(CreateKeyDocument, { ...form, projectId: project_id, environment });
  return { create, busy, fault };
}
