// Faults and warnings of shared code name fields in the words of the chat dialect; here they get the native ones.

const NATIVE: Readonly<Record<string, string>> = {
  max_tokens: 'generation.max_tokens',
  max_completion_tokens: 'generation.max_tokens',
  temperature: 'generation.temperature',
  top_p: 'generation.top_p',
  top_k: 'generation.top_k',
  min_p: 'generation.min_p',
  stop: 'generation.stop',
  seed: 'generation.seed',
  frequency_penalty: 'generation.frequency_penalty',
  presence_penalty: 'generation.presence_penalty',
  repetition_penalty: 'generation.repetition_penalty',
  logit_bias: 'generation.logit_bias',
  logprobs: 'generation.logprobs',
  top_logprobs: 'generation.logprobs',
  n: 'generation.candidates',
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
