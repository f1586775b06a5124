// The file that a `svcctl policy` command works on, and the requests about it.
import { readFileSync } from 'node:fs';
import { type Flag, type Input, type Result, UsageError } from '../../command.ts';
import { call, gatewayFlags, readTarget } from '../../gateway-client.ts';

/** The flags that all `svcctl policy` commands have. */
export const policyFlags: Readonly<Record<string, Flag>> = {
  name: { type: 'text', doc: 'name of the policy; default: what the text says in `policy:`', value: 'NAME' },
  ...gatewayFlags,
};
export const policyFile = [{ name: 'FILE', doc: 'the text of the policy, YAML', required: true }] as const;

export interface PolicyFile {
  readonly file: string;
  readonly yaml: string;
  readonly name: string;
}

/** @throws UsageError where the file cannot be read, or nothing names the policy. */
export function readPolicyFile(input: Input): PolicyFile {
  const [file = ''] = input.positionals;
  let yaml: string;
  try {
    yaml = readFileSync(file, 'utf8');
  } catch {
    throw new UsageError(`${file} cannot be read`);
  }
  const named = /^policy:[ \t]*["']?([a-z0-9][a-z0-9-]*)["']?[ \t]*(?:#.*)?$/m.exec(yaml)?.[1];
  const name = input.find('name') ?? named;
  if (name === undefined) throw new UsageError(`${file} does not say \`policy:\`; give --name`);
  return { file, yaml, name };
}

/** A request about policies; `path` stands after `/v1/policies`. */
export async function askPolicies<T>(
  input: Input,
  method: string,
  path: string,
  body: object | null,
): Promise<{ readonly status: number; readonly ok: boolean; readonly value: T; readonly text: string }> {
  const headers: Record<string, string> = input.has('take-over') ? { 'x-svc-take-over': '1' } : {};
  const request = { method, path: `/v1/policies${path}`, headers };
  const answer = await call(readTarget(input), {
    ...request,
    body: body === null ? null : JSON.stringify(body),
  });
  return { ...answer, value: answer.value as T };
}

interface Fault {
  readonly path: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

interface Refusal {
  readonly error?: { readonly message?: string; readonly details?: { readonly faults?: readonly Fault[] } };
}

/** Findings as compilers print them, so that editors and CI find the place. */
export function findingLines(file: string, faults: readonly Fault[], kind: 'error' | 'note'): string[] {
  return faults.map(
    ({ path, line, column, message }) => `${file}:${line}:${column}: ${kind}: ${path}: ${message}`,
  );
}

/** The result of a request that was refused: its faults at their places, else its message. */
export function refused(file: string, answer: { status: number; value: unknown; text: string }): Result {
  const { error } = (typeof answer.value === 'object' ? (answer.value ?? {}) : {}) as Refusal;
  const faults = error?.details?.faults ?? [];
  const lines =
    faults.length > 0
      ? findingLines(file, faults, 'error')
      : [`${answer.status} ${error?.message ?? answer.text}`];
  return { json: { ok: false, status: answer.status, ...error }, text: lines.join('\n'), ok: false };
}

/** The scope that `--project` names; the organization without it. */
export function scopeOf(input: Input): { project_id: string | null } {
  return { project_id: input.find('project') };
}
