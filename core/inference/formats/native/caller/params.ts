// Faults and warnings of shared code name fields in the words of the chat dialect; here they get the native ones.
import { parameterNames, parameters } from '../../../canonical/parameters.ts';
import { parameterMembers } from './parameters.ts';

/** Parameters by the words that losses have for them, of those that this dialect has. */
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

/** Details of the refusal of a field by the name that the caller gave it. */
export const UNKNOWN = { reason: 'unknown_field' } as const;

/** `param` as this dialect spells it: the members of `svc` stand in the body itself. */
export function nativeParam(param: string): string {
  if (param.startsWith('svc.')) return param.slice(4);
  return Object.hasOwn(NATIVE, param) ? (NATIVE[param] as string) : param;
}
