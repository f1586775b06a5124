// The model that a snippet names: one that the key may call, and at best one that the organisation calls already.
import { useEffect, useState } from 'react';
import { useQuery } from 'urql';
import { base_url } from '../../api/boot.ts';
import { UsedModelsDocument } from '../../api/gen/graphql.ts';
import { useOrg } from '../../app/org.tsx';
import { firstOf, type Listed } from './first-model.ts';

/** Answers in the sandbox without a provider. */
const SANDBOX_MODEL = 'sandbox/echo';

async function listed(secret: string): Promise<string | null> {
  try {
    const response = await fetch(`${base_url}/v1/models`, {
      credentials: 'omit',
      headers: { authorization: `Bearer ${secret}` },
    });
    if (!response.ok) return null;
    return firstOf(((await response.json()) as { data: readonly Listed[] }).data);
  } catch {
    return null;
  }
}

/** Null while it is not known; `secret` null: no key is there yet. */
export function useSnippetModel(secret: string | null): string | null {
  const { env, environment } = useOrg();
  const sandbox = env === 'sandbox';
  const [{ data, error }] = useQuery({
    query: UsedModelsDocument,
    variables: { environment },
    pause: sandbox || secret === null,
  });
  const used = data?.usage?.groups.find(({ key }) => !/^(?:__|sandbox\/)/.test(key))?.key ?? null;
  const known = data !== undefined || error !== undefined;
  const [first, setFirst] = useState<string | null>(null);
  useEffect(() => {
    if (sandbox || secret === null || !known || used !== null) return;
    let gone = false;
    // A name to be replaced says more than an empty place where the list cannot be read.
    void listed(secret).then((model) => gone || setFirst(model ?? 'vendor/model'));
    return () => {
      gone = true;
    };
  }, [sandbox, secret, known, used]);
  return sandbox ? SANDBOX_MODEL : (used ?? first);
}
