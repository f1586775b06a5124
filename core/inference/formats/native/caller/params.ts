// Errors and warnings of shared code name fields as the chat dialect does; here they get their native names.
import { parameterNames, parameters } from '../../../canonical/parameters.ts';
import { parameterMembers } from './parameters.ts';

/** Parameters of this dialect by the names that losses have for them. */
const generation = parameterNames
  .filter((name) => Object.hasOwn(parameterMembers, name))
  .map((name) => [parameters[name].loss.param, `generation.${name}`]);

const NATIVE: Readonly<Record<string, string>> = {
  ...Object.fromEntries(generation),
  max_completion_tokens: 'generation.max_tokens',
  top_logprobs: 'generation.logprobs',
  parallel_tool_calls: 'parallel_tools',
  reasoning_effort: 'reasoning.effort',
  response_format: 'output.format',
  modalities: 'output.modalities',
  verbosity: 'output.verbosity',
  audio: 'output.audio',
  cache_control: 'cache',
};

/** Details of the refusal of a field, for the name that the caller used. */
export const UNKNOWN = { reason: 'unknown_field' } as const;

/** `param` in this dialect's spelling: the members of `svc` are at the top level of the body. */
export function nativeParam(param: string): string {
  if (param.startsWith('svc.')) return param.slice(4);
  return Object.hasOwn(NATIVE, param) ? (NATIVE[param] as string) : param;
}
