// Adds a root key to the key ring, which opens and does not seal yet: first every program must have it.
import { addRootKey, loadRootKey } from '@svc/core/kernel/index.ts';
import type { Command } from '../../command.ts';
import { FILE, fileOf, shownKeys } from './flags.ts';

export const command: Command = {
  flags: {
    file: FILE,
    leaked: {
      type: 'switch',
      doc: 'somebody has read the ring: the signature of the ledger begins anew too',
    },
  },
  example: 'svcctl keyring add',
  async run(input) {
    const file = fileOf(input);
    loadRootKey(file);
    const name = addRootKey(file, { leaked: input.has('leaked') });
    const next = `When every program has the file: svcctl keyring promote ${name}`;
    return { json: { file, name, keys: shownKeys(file) }, text: `added ${name} to ${file}\n${next}` };
  },
};
