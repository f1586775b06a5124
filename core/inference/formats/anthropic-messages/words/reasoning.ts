// The reasoning that this format signs.

/** Name of its signed reasoning in the canonical form. */
export const FORMAT = 'anthropic-claude-v1';
