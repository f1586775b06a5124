// Writes the proof of one call to standard output: a file for the organization that made it.
import { isRequestId } from '@svc/core/kernel/index.ts';
import { proveCall } from '@svc/core/ledger/index.ts';
import { type Command, UsageError } from '../../command.ts';
import { withDatabase } from '../../installation.ts';

export const command: Command = {
  positionals: [
    { name: 'REQUEST_ID', doc: 'id of the call, 26 characters (x-svc-request-id)', required: true },
  ],
  example: 'svcctl ledger prove 01KACZ3V8S6T5R4Q3P2N1M0K9G > proof.json',
  async run(input) {
    const id = input.positionals[0] as string;
    if (!isRequestId(id)) throw new UsageError(`${JSON.stringify(id)} is not a request id`);
    const proof = await withDatabase((pool) => proveCall(pool, id));
    return { json: proof, text: JSON.stringify(proof, null, 2) };
  },
};
