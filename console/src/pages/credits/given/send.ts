// Sends a mutation that answers with its payload or a refusal.
import { useState } from 'react';
import { type OperationResult, useClient } from 'urql';
import { type Fault, faultOfQuery, faultOfUserError } from '../../../api/errors.ts';

type Client = ReturnType<typeof useClient>;
type Refused = Parameters<typeof faultOfUserError>[0];

/** `busy` while it runs, `fault` where it was refused. */
export function useSend() {
  const client = useClient();
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<Fault | null>(null);
  /** The payload; null where it was refused or did not arrive, which `fault` then says. */
  const send = async <Data, Result extends { __typename: string }, Name extends Result['__typename']>(
    name: Name,
    run: (client: Client) => Promise<OperationResult<Data>>,
    resultOf: (data: Data) => Result,
  ): Promise<Extract<Result, { __typename: Name }> | null> => {
    setBusy(true);
    setFault(null);
    const { data, error } = await run(client);
    setBusy(false);
    if (error || !data) {
      setFault(error ? faultOfQuery(error) : null);
      return null;
    }
    const result = resultOf(data);
    if (result.__typename === name) return result as Extract<Result, { __typename: Name }>;
    setFault(faultOfUserError(result as unknown as Refused));
    return null;
  };
  return { busy, fault, send, forget: () => setFault(null) };
}
