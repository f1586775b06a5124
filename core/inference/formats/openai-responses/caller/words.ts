// Members of this format by the words of chat.

/** Where it has words of its own. */
export const WORDS: ReadonlyMap<string, string> = new Map([
  ['max_tokens', 'max_output_tokens'],
  ['logprobs', 'top_logprobs'],
  ['response_format', 'text.format'],
  ['verbosity', 'text.verbosity'],
]);
