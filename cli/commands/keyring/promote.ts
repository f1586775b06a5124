// Makes a key of the ring the current one: from now on everything new is made under it.
import { promoteRootKey } from '@svc/core/kernel/index.ts';
import type { Command } from '../../command.ts';
import { FILE, fileOf, NAME, shownKeys } from './flags.ts';

export const command: Command = {
  flags: { file: FILE },
  positionals: [NAME],
  example: 'svcctl keyring promote 01KB2ZV0S9D7XQ5T3M8N4P6R1A',
  async run(input) {
    const file = fileOf(input);
    const name = input.positionals[0] as string;
    promoteRootKey(file, name);
    const next = 'Programs follow within seconds of seeing the file. Then: svcctl keyring rotate';
    return { json: { file, name, keys: shownKeys(file) }, text: `${name} is the current key\n${next}` };
  },
};
