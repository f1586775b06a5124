// Checks a proof of `svcctl ledger prove`. It needs no installation: whoever was given the proof runs it.
import { readFile } from 'node:fs/promises';
import { checkProof, type Proven } from '@svc/core/ledger/index.ts';
import type { Command } from '../../command.ts';

export const command: Command = {
  positionals: [{ name: 'FILE', doc: 'a proof of `svcctl ledger prove`', required: true }],
  flags: {
    key: {
      type: 'text',
      doc: 'the verifier key that the service has published',
      value: 'KEY',
      required: true,
    },
    checkpoint: {
      type: 'text',
      doc: 'the checkpoint as it was published, instead of the copy in the proof',
      value: 'FILE',
    },
  },
  example:
    'svcctl ledger check-proof proof.json --key svc-ledger+9cfc0b66+AVumHg5lVXnoNcE+Jpty0L6wAFnqOiDdOaF/i6VNwC8V',
  async run(input) {
    const published = input.find('checkpoint');
    let proven: Proven;
    try {
      proven = checkProof(JSON.parse(await readFile(input.positionals[0] as string, 'utf8')), {
        verifier_key: input.get('key'),
        ...(published === null ? {} : { published: await readFile(published, 'utf8') }),
      });
    } catch (error) {
      const { message } = error as Error;
      return { json: { ok: false, message }, text: `NOT PROVED: ${message}`, ok: false };
    }
    const { request_id, charged_micro_usd, cost_micro_usd, settled_at, checkpoint_no, taken_at } = proven;
    const lines = [
      `call        ${request_id}`,
      `charged     ${charged_micro_usd} micro-USD of a cost of ${cost_micro_usd}`,
      `tokens      ${proven.input_tokens} in, ${proven.output_tokens} out`,
      `settled     ${settled_at.toISOString()}`,
      `proved by   checkpoint ${checkpoint_no} of ${taken_at.toISOString()}`,
    ];
    return { json: { ok: true, ...proven }, text: lines.join('\n') };
  },
};
