// Sends what a person asked for: a mutation answers with its payload or a refusal. The one way to do so in both consoles.
import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { useRef, useState } from 'react';
import { useClient } from 'urql';
import { type Fault, faultOfQuery, faultOfUserError, offlineFault, type UserError } from './errors.ts';
import type { Result } from './session.ts';

/** What a mutation answers with when it was done; the other members of the union are refusals. */
type PayloadOf<Data> = Extract<Data[keyof Data], { readonly __typename: `${string}Payload` }>;
type Answer<Data> = PayloadOf<Data> | (UserError & { readonly __typename: `${string}Error` });
/** The input of what must not be done twice. */
type Once = { readonly idempotencyKey?: string | null | undefined };
type Mutation<Data, Input> = TypedDocumentNode<Data, { input: Input }>;

function isPayload<Data>(answer: Answer<Data>): answer is PayloadOf<Data> {
  return answer.__typename.endsWith('Payload');
}

/** What became of a mutation; `lost`: whether it was done is not known. */
type Outcome<Data> = Result<PayloadOf<Data>> & { readonly lost: boolean };

/** A function that sends a mutation, for whoever keeps `busy` and `fault` elsewhere. */
export function useMutate() {
  const client = useClient();
  return async <Data extends object, Input>(
    document: Mutation<Data, Input>,
    input: Input,
  ): Promise<Outcome<Data>> => {
    const { data, error } = await client.mutation<Data, { input: Input }>(document, { input }).toPromise();
    if (error || !data) return { ok: false, fault: error ? faultOfQuery(error) : offlineFault, lost: true };
    // Beside the name of its type, what is answered holds the one mutation that was sent.
    const answer = Object.values(data).find((value) => typeof value === 'object') as Answer<Data>;
    if (isPayload(answer)) return { ok: true, value: answer, lost: false };
    return { ok: false, fault: faultOfUserError(answer), lost: false };
  };
}

/** One action at a time: `busy` while it runs, then what it gave, or null and `fault`. A second press does nothing. */
export function useAction() {
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<Fault | null>(null);
  // The state reaches a second press only with the next rendering.
  const running = useRef(false);
  const act = async <T>(work: () => Promise<Result<T>>): Promise<T | null> => {
    if (running.current) return null;
    running.current = true;
    setBusy(true);
    setFault(null);
    const answer = await work();
    running.current = false;
    setBusy(false);
    if (answer.ok) return answer.value;
    setFault(answer.fault);
    return null;
  };
  return { act, busy, fault, setFault };
}

/** One mutation at a time: `send` gives its payload; null where it was refused or did not arrive, which `fault` says. */
export function useSend() {
  const mutate = useMutate();
  const { act, ...state } = useAction();
  const [sent, setSent] = useState<{ document: object; input: unknown } | null>(null);
  const send = <Data extends object, Input>(document: Mutation<Data, Input>, input: Input) =>
    act(() => {
      setSent({ document, input });
      return mutate(document, input);
    });
  // Of what may have been done without its answer having come.
  const unanswered = useRef<{ input: string; key: string } | null>(null);
  /**
   * As `send`, for what must not be done twice: where the answer was lost, pressing again with the same input sends the same
   * idempotency key and finds what was done. Any answer ends that, since a key is kept with its refusal too.
   */
  const sendOnce = <Data extends object, Variables extends { input: Once }>(
    document: TypedDocumentNode<Data, Variables>,
    input: Omit<Variables['input'], 'idempotencyKey'>,
  ) =>
    act(async () => {
      const text = JSON.stringify(input);
      if (unanswered.current?.input !== text) unanswered.current = { input: text, key: crypto.randomUUID() };
      const whole: Variables['input'] = { ...input, idempotencyKey: unanswered.current.key };
      setSent({ document, input: whole });
      const outcome = await mutate(document as Mutation<Data, Variables['input']>, whole);
      if (!outcome.lost) unanswered.current = null;
      return outcome;
    });
  /** What `document` is being sent with now, for a page with several buttons or rows; null while it is not sent. */
  const underWay = <Data, Input>(document: Mutation<Data, Input>): Input | null =>
    state.busy && sent?.document === document ? (sent.input as Input) : null;
  return { ...state, send, sendOnce, underWay };
}
