// This format's names of members, by their names in chat.

/** Only the members whose names differ. */
export const WORDS: ReadonlyMap<string, string> = new Map([
  ['max_tokens', 'max_output_tokens'],
  ['logprobs', 'top_logprobs'],
  ['response_format', 'text.format'],
  ['verbosity', 'text.verbosity'],
]);
