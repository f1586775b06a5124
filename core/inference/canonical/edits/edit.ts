// Edits of the conversation that a caller can ask for, and what is told of them (`edits.ts` does them).
export interface ClearThinking {
  readonly edit: 'thinking';
  /** The caller's name of the edit, which its answer repeats. */
  readonly type: string;
  /** Turns with reasoning, the latest, that keep it. */
  readonly keep: number | 'all';
}

export interface ClearToolUses {
  readonly edit: 'tool_uses';
  readonly type: string;
  /** What the prompt must have more of before anything is cleared. */
  readonly trigger: { readonly of: 'input_tokens' | 'tool_uses'; readonly value: number };
  /** Uses of tools, the latest, that stay as they are. */
  readonly keep: number;
  /** Tokens; less is not worth what it costs in cached prompts. */
  readonly clear_at_least: number;
  /** Tools whose uses are never cleared. */
  readonly exclude: readonly string[];
  /** Whether the arguments go too; a list names the tools whose do. */
  readonly inputs: boolean | readonly string[];
}

/** An edit as it is asked for; one that is not understood can only be left to the caller's own family. */
export type ContextEdit = ClearThinking | ClearToolUses | { readonly edit: 'unknown'; readonly type: string };

/** What an edit has cleared: turns or uses, and tokens by our estimate. */
export interface AppliedEdit {
  readonly type: string;
  readonly cleared_thinking_turns?: number;
  readonly cleared_tool_uses?: number;
  readonly cleared_input_tokens: number;
}
