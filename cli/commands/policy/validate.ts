// Judges the text of a policy; exit code 1 for a fault, so that CI stops at it.
import type { Command } from '../../command.ts';
import { askPolicies, findingLines, policyFile, policyFlags, readPolicyFile, refused } from './file.ts';

interface Verdict {
  readonly valid: boolean;
  readonly faults: Parameters<typeof findingLines>[1];
  readonly notices: Parameters<typeof findingLines>[1];
}

export const command: Command = {
  positionals: policyFile,
  flags: policyFlags,
  example: 'svcctl policy validate agents.yaml',
  async run(input) {
    const { file, yaml, name } = readPolicyFile(input);
    const answer = await askPolicies<Verdict>(input, 'POST', '/validate', { yaml, name });
    if (!answer.ok) return refused(file, answer);
    const { valid, faults, notices } = answer.value;
    const lines = [...findingLines(file, faults, 'error'), ...findingLines(file, notices, 'note')];
    return {
      json: answer.value,
      text: [...lines, valid ? `${file} is valid` : `${file} is not valid`].join('\n'),
      ok: valid,
    };
  },
};
