// Sends an act of staff: a mutation that answers with its payload or a refusal.
import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { useClient } from 'urql';
import { type Fault, faultOfQuery, faultOfUserError, type UserError } from '../../api/errors.ts';

/** What every act answers with: `XxxPayload`, or one of the refusals. */
interface Answer {
  readonly __typename: string;
}

/** A function that sends an act: what was refused, or null when it was done. */
export function useAct() {
  const client = useClient();
  return async <Data extends object, Input>(
    document: TypedDocumentNode<Data, { input: Input }>,
    input: Input,
  ): Promise<Fault | null> => {
    const { data, error } = await client.mutation<Data, { input: Input }>(document, { input }).toPromise();
    if (error) return faultOfQuery(error);
    const answer = Object.values(data ?? {}).find((value): value is Answer => typeof value === 'object');
    const is_done = answer === undefined || answer.__typename.endsWith('Payload');
    return is_done ? null : faultOfUserError(answer as Answer & UserError);
  };
}
