// Instructions of families that take them beside the conversation and not within it.
import type { Target } from './contract.ts';
import type { Message } from './types.ts';

/** Whether the endpoint takes role system inside `messages`. */
export function takesSystemRole(target: Target): boolean {
  return target.capabilities.parameters.includes('system_role');
}

/** Whether `message` is an instruction in words: `system` takes no other, and what it did not take would vanish. */
export function isInstruction({ role, content }: Message): boolean {
  return role === 'system' && content.every(({ type }) => type === 'text');
}

/** The leading instructions, and all the rest. */
export function splitSystem(messages: readonly Message[]): { system: Message[]; rest: Message[] } {
  const first = messages.findIndex((message) => !isInstruction(message));
  // A conversation of nothing but instructions still needs a turn to answer: its last message becomes one.
  if (first < 0) return { system: messages.slice(0, -1), rest: messages.slice(-1) };
  return { system: messages.slice(0, first), rest: messages.slice(first) };
}

/** Whether `message` of `rest`, an instruction, stays one where it stands. */
export function keepsRole(message: Message, rest: readonly Message[], target: Target): boolean {
  return isInstruction(message) && takesSystemRole(target) && rest.some(({ role }) => role !== 'system');
}
