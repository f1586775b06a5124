// Sending a change: busy while it runs, and the refusal where there is one.
import { useState } from 'react';
import { type CombinedError, useClient } from 'urql';
import { type Fault, faultOfAnswer } from '../../api/errors.ts';

type Client = ReturnType<typeof useClient>;
interface Sent {
  readonly answer: object | undefined;
  readonly error: CombinedError | undefined;
}

/** `act` resolves with whether it was done. */
export function useAct() {
  const client = useClient();
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<Fault | null>(null);
  const act = async (send: (client: Client) => Promise<Sent>): Promise<boolean> => {
    if (busy) return false;
    setBusy(true);
    setFault(null);
    const { answer, error } = await send(client);
    setBusy(false);
    const refused = faultOfAnswer(answer, error);
    setFault(refused);
    return refused === null;
  };
  return { act, busy, fault };
}
