// Makes a text the newest version of its policy, and with --activate the one that rules; the same text again changes
// nothing, so that CI may run it at every push.
import type { Command, Input, Result } from '../../command.ts';
import {
  askPolicies,
  type PolicyFile,
  policyFile,
  policyFlags,
  readPolicyFile,
  refused,
  scopeOf,
} from './file.ts';

interface Version {
  readonly version: number;
  readonly yaml: string;
}

/** The version with the text of the file: the newest where that is it, else a new one. */
async function keep(input: Input, { file, yaml, name }: PolicyFile): Promise<Result | [number, string]> {
  const known = await askPolicies<{ data: readonly Version[] }>(input, 'GET', `/${name}/versions`, null);
  if (!known.ok && known.status !== 404) return refused(file, known);
  const newest = known.ok ? known.value.data[0] : undefined;
  if (newest?.yaml === yaml) return [newest.version, `version ${newest.version} of ${name} has this text`];
  const made = known.ok
    ? await askPolicies<Version>(input, 'POST', `/${name}/versions`, { yaml })
    : await askPolicies<Version>(input, 'POST', '', { name, yaml });
  if (!made.ok) return refused(file, made);
  const { version } = made.value;
  return [version, `version ${version} of ${name} is stored`];
}

export const command: Command = {
  positionals: policyFile,
  flags: {
    activate: { type: 'switch', doc: 'make it rule; the next call is routed by it' },
    project: { type: 'text', doc: 'project to activate it for; default: the organization', value: 'ID' },
    'take-over': { type: 'switch', doc: 'take the policy from the Kubernetes object that manages it' },
    ...policyFlags,
  },
  example: 'svcctl policy apply agents.yaml --activate',
  async run(input) {
    const policy = readPolicyFile(input);
    const { file, name } = policy;
    const kept = await keep(input, policy);
    if (!Array.isArray(kept)) return kept as Result;
    const [version, said] = kept;
    const json = { name, version, active: input.has('activate') };
    if (!input.has('activate')) return { json, text: said };
    const scope = scopeOf(input);
    const answer = await askPolicies(input, 'POST', `/${name}/activate`, { version, scope });
    if (!answer.ok) return refused(file, answer);
    const where = scope.project_id ?? 'the organization';
    return { json, text: `${said}\nit is active for ${where}` };
  },
};
