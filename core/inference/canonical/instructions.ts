// System instructions for families that take them separately from the conversation.
import type { Target } from './contract.ts';
import type { Message } from './types.ts';

/** Whether the endpoint accepts the role system inside `messages`. */
export function takesSystemRole(target: Target): boolean {
  return target.capabilities.parameters.includes('system_role');
}

/**
 * Whether `message` is an instruction of text only. `system` takes nothing else; other parts would be lost silently.
 */
export function isInstruction({ role, content }: Message): boolean {
  return role === 'system' && content.every(({ type }) => type === 'text');
}

/** The instructions at the beginning, and all other messages. */
export function splitSystem(messages: readonly Message[]): { system: Message[]; rest: Message[] } {
  const first = messages.findIndex((message) => !isInstruction(message));
  // A conversation that consists only of instructions still needs a turn to answer: its last message becomes one.
  if (first < 0) return { system: messages.slice(0, -1), rest: messages.slice(-1) };
  return { system: messages.slice(0, first), rest: messages.slice(first) };
}

/** Whether `message`, an instruction within `rest`, can keep its role and place on `target`. */
export function keepsRole(message: Message, rest: readonly Message[], target: Target): boolean {
  return isInstruction(message) && takesSystemRole(target) && rest.some(({ role }) => role !== 'system');
}
