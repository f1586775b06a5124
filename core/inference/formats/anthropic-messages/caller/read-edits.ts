// Reads `context_management` of a messages request. Edits that are not understood are left to Anthropic, which has
// more of them and reports errors itself.
import { isObject, type JsonObject } from '../../../../kernel/index.ts';
import type { ClearThinking, ClearToolUses, ContextEdit } from '../../../canonical/edits/edit.ts';

const MANAGEMENT = 'context_management';

/** Defaults documented for the API. */
const TRIGGER_TOKENS = 100_000;
const TOOL_USES_KEPT = 3;
const THINKING_TURNS_KEPT = 1;

/** The edits that `body` requests; {} when there are none. */
export function readEdits(body: JsonObject): { context_edits?: ContextEdit[] } {
  const management = body[MANAGEMENT];
  if (management === undefined || management === null) return {};
  const edits = isObject(management) ? (management['edits'] ?? []) : null;
  if (!isObject(management) || !Array.isArray(edits)) {
    return { context_edits: [{ edit: 'unknown', type: MANAGEMENT }] };
  }
  const others = Object.keys(management).filter((name) => name !== 'edits');
  return {
    context_edits: [...edits.map(readEdit), ...others.map((type) => ({ edit: 'unknown' as const, type }))],
  };
}

function readEdit(edit: unknown): ContextEdit {
  const type = isObject(edit) && typeof edit['type'] === 'string' ? edit['type'] : '?';
  const read =
    isObject(edit) && Object.hasOwn(READERS, type) ? READERS[type as keyof typeof READERS](edit) : null;
  return read ?? { edit: 'unknown', type };
}

const READERS = { clear_thinking_20251015: thinkingOf, clear_tool_uses_20250919: toolUsesOf };

function thinkingOf(edit: JsonObject): ClearThinking | null {
  const asked = edit['keep'] ?? { type: 'thinking_turns', value: THINKING_TURNS_KEPT };
  const all = asked === 'all' || (isObject(asked) && asked['type'] === 'all');
  const keep = all ? 'all' : amountOf(asked, ['thinking_turns'])?.value;
  return keep === undefined ? null : { edit: 'thinking', type: 'clear_thinking_20251015', keep };
}

function toolUsesOf(edit: JsonObject): ClearToolUses | null {
  const usual = { type: 'input_tokens', value: TRIGGER_TOKENS };
  const trigger = amountOf(edit['trigger'] ?? usual, ['input_tokens', 'tool_uses'] as const);
  const keep = amountOf(edit['keep'] ?? { type: 'tool_uses', value: TOOL_USES_KEPT }, ['tool_uses']);
  const least = amountOf(edit['clear_at_least'] ?? { type: 'input_tokens', value: 0 }, ['input_tokens']);
  const exclude = edit['exclude_tools'] ?? [];
  const inputs = edit['clear_tool_inputs'] ?? false;
  if (trigger === null || keep === null || least === null || !isNames(exclude)) return null;
  if (typeof inputs !== 'boolean' && !isNames(inputs)) return null;
  return {
    ...{ edit: 'tool_uses', type: 'clear_tool_uses_20250919', trigger },
    ...{ keep: keep.value, clear_at_least: least.value, exclude, inputs },
  };
}

function isNames(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((name) => typeof name === 'string');
}

/** A count of one of `kinds`; null when it is anything else. */
function amountOf<K extends string>(amount: unknown, kinds: readonly K[]): { of: K; value: number } | null {
  if (!isObject(amount)) return null;
  const of = kinds.find((kind) => kind === amount['type']);
  const value = amount['value'];
  if (of === undefined || typeof value !== 'number' || !Number.isInteger(value) || value < 0) return null;
  return { of, value };
}
