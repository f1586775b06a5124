// A model to begin a try with: the one that is called most, in the sandbox the one that always answers.
import { useQuery } from 'urql';
import { UsedModelsDocument } from '../../api/gen/graphql.ts';
import { useOrg } from '../../app/org.tsx';

/** Null while it is not known; empty where nothing was called yet. */
export function useUsedModel(): string | null {
  const { env, environment } = useOrg();
  const sandbox = env === 'sandbox';
  const [{ data, error }] = useQuery({
    query: UsedModelsDocument,
    variables: { environment },
    pause: sandbox,
  });
  if (sandbox) return 'sandbox/echo';
  if (data === undefined && error === undefined) return null;
  return data?.usage?.groups.find(({ key }) => !/^(?:__|sandbox\/)/.test(key))?.key ?? '';
}
