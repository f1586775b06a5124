// Edits of the raw lane for endpoints that refuse what OpenAI accepts (flags of the catalog): the caller's bytes stay
// unchanged except for what would be refused. None of this runs for endpoints without such a flag.
import type { EncodeOptions, Target } from '../../../canonical/contract.ts';
import { fitToolCallId } from '../../../canonical/reasoning.ts';
import {
  changeMembers,
  duplicated,
  type Edit,
  memberOf,
  scanArray,
  scanObject,
  type TopLevel,
} from '../../../wire/scan.ts';
import { has, userField } from '../words/fields.ts';

type Changes = Record<string, string | null>;

function valueAt(body: Buffer, top: TopLevel, name: string): unknown {
  const member = memberOf(top, name);
  return member === undefined ? undefined : JSON.parse(body.toString('utf8', member.from, member.to));
}

/** Changes of top-level members whose name differs from OpenAI's at this endpoint. */
export function quirkChanges(
  changes: Changes,
  body: Buffer,
  top: TopLevel,
  target: Target,
  { user }: EncodeOptions,
): void {
  const field = userField(target);
  const said = memberOf(top, 'user') !== undefined || memberOf(top, 'safety_identifier') !== undefined;
  if (said && field !== 'safety_identifier') {
    changes['user'] = null;
    changes['safety_identifier'] = null;
    if (field !== null && user !== null) changes[field] = JSON.stringify(user);
  }
  if (has(target, 'no_cache_key')) changes['prompt_cache_key'] = null;
  const seed = memberOf(top, 'seed');
  if (seed !== undefined && has(target, 'random_seed')) {
    changes['seed'] = null;
    changes['random_seed'] = body.toString('utf8', seed.from, seed.to);
  }
}

/** Edits of the messages themselves; empty for endpoints that accept them unchanged. */
export function historyEdits(body: Buffer, top: TopLevel, target: Target): Edit[] {
  const wants = ['no_developer_role', 'tool_id_9', 'no_reasoning_in', 'no_message_names'] as const;
  const list = memberOf(top, 'messages');
  if (list === undefined || !wants.some((flag) => has(target, flag))) return [];
  const edits: Edit[] = [];
  for (const { from } of scanArray(body, list.from) ?? []) {
    const message = scanObject(body, from);
    // A key that occurs twice is left for the provider to refuse.
    if (message !== null && duplicated(message) === null) edits.push(...messageEdits(body, message, target));
  }
  return edits;
}

function messageEdits(body: Buffer, message: TopLevel, target: Target): Edit[] {
  const changes: Changes = {};
  const role = valueAt(body, message, 'role');
  if (role === 'developer' && has(target, 'no_developer_role')) changes['role'] = '"system"';
  if (role !== 'tool' && has(target, 'no_message_names')) changes['name'] = null;
  if (role === 'assistant' && has(target, 'no_reasoning_in')) {
    for (const name of ['reasoning', 'reasoning_content', 'reasoning_details']) changes[name] = null;
  }
  if (!has(target, 'tool_id_9')) return changeMembers(message, changes);
  const id = valueAt(body, message, 'tool_call_id');
  if (typeof id === 'string') changes['tool_call_id'] = JSON.stringify(fitToolCallId(id, 'mistral'));
  return [...changeMembers(message, changes), ...callEdits(body, message)];
}

/** The same ids in the calls that the results belong to. */
function callEdits(body: Buffer, message: TopLevel): Edit[] {
  const calls = memberOf(message, 'tool_calls');
  if (calls === undefined) return [];
  const edits: Edit[] = [];
  for (const { from } of scanArray(body, calls.from) ?? []) {
    const call = scanObject(body, from);
    if (call === null || duplicated(call) !== null) continue;
    const id = valueAt(body, call, 'id');
    if (typeof id !== 'string') continue;
    edits.push(...changeMembers(call, { id: JSON.stringify(fitToolCallId(id, 'mistral')) }));
  }
  return edits;
}
