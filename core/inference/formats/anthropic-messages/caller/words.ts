// This format's names of members, by their names in chat.

/** Only the members whose names differ. */
export const WORDS: ReadonlyMap<string, string> = new Map([
  ['stop', 'stop_sequences'],
  ['user', 'metadata.user_id'],
  ['response_format', 'output_config.format'],
  ['reasoning', 'thinking'],
  ['parallel_tool_calls', 'tool_choice.disable_parallel_tool_use'],
  ['cache', 'cache_control'],
]);
