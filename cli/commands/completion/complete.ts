// Answers the shell: a line for each word that may come next, with what it is after a tab.
import type { Command } from '../../command.ts';
import { candidates } from './candidates.ts';

export const command: Command = {
  positionals: [{ name: 'WORD', doc: 'the words after svcctl, the last one begun or empty', many: true }],
  example: `svcctl complete -- ledger v`,
  async run({ positionals }) {
    const found = await candidates(positionals);
    return {
      json: { candidates: found },
      text: found.map(({ value, doc }) => `${value}\t${doc}`).join('\n'),
    };
  },
};
