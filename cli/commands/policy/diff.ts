// Shows which calls of the last hours a text would route elsewhere, and what that costs.
import type { Command } from '../../command.ts';
import { askPolicies, policyFile, policyFlags, readPolicyFile, refused, scopeOf } from './file.ts';

interface Place {
  readonly provider: string;
  readonly endpoint_id: string;
}
interface Diff {
  readonly calls: number;
  readonly compared: number;
  readonly moved: number;
  readonly newly_refused: number;
  readonly difference_micro_usd: number;
  readonly moves: readonly {
    readonly model: string;
    readonly from: Place | null;
    readonly to: Place | null;
    readonly calls: number;
    readonly difference_micro_usd: number;
  }[];
}

const place = (at: Place | null) => (at === null ? 'refused' : `${at.provider} ${at.endpoint_id}`);
const signed = (micro: number) => (micro > 0 ? `+${micro}` : String(micro));

function textOf(diff: Diff): string {
  const { calls, compared, moved, newly_refused, difference_micro_usd, moves } = diff;
  return [
    `${moved} of ${compared} calls go elsewhere (${calls} in that time), ${newly_refused} would be refused`,
    `difference: ${signed(difference_micro_usd)} micro-USD`,
    ...moves.map(
      (move) =>
        `${move.calls}  ${move.model}  ${place(move.from)} -> ${place(move.to)}  ` +
        `${signed(move.difference_micro_usd)} micro-USD`,
    ),
  ].join('\n');
}

export const command: Command = {
  positionals: policyFile,
  flags: {
    project: { type: 'text', doc: 'project it would rule; default: the organization', value: 'ID' },
    hours: { type: 'integer', doc: 'how far back, 24 unless given', value: 'N', min: 1, max: 24 },
    ...policyFlags,
  },
  example: 'svcctl policy diff agents.yaml --hours 6',
  async run(input) {
    const { file, yaml, name } = readPolicyFile(input);
    const body = { yaml, hours: input.integer('hours') ?? 24, scope: scopeOf(input) };
    const answer = await askPolicies<Diff>(input, 'POST', `/${name}/diff`, body);
    return answer.ok ? { json: answer.value, text: textOf(answer.value) } : refused(file, answer);
  },
};
