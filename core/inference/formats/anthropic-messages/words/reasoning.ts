// Reasoning that this format signs.

/** How its signed reasoning is marked in the canonical form. */
export const FORMAT = 'anthropic-claude-v1';
