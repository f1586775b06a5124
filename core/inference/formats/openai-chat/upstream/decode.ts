// Reads a whole OpenAI-type answer: its message goes through the stream decoder as one delta, so that both forms of
// an answer mean the same.
import { isObject, type JsonObject } from '../../../../kernel/index.ts';
import { foldEvents } from '../../../canonical/assemble.ts';
import { StreamErrorFault } from '../../../canonical/contract.ts';
import type { CanonicalAnswer } from '../../../canonical/types.ts';
import { ProtocolFault } from '../../../wire/fault.ts';
import { errorIn } from '../words/classify.ts';
import { ChatDecoder } from './decoder.ts';

/**
 * The answer in `body`. @throws StreamErrorFault when it reports a fault, ProtocolFault when it is not in the
 * family's format.
 */
export function decodeAnswer(body: Buffer, flags: readonly string[], searches = 0): CanonicalAnswer {
  const value = parseAnswer(body);
  const choices = value['choices'] as unknown[];
  const events = new ChatDecoder(flags, searches).whole({ ...value, choices: choices.map(withIndexes) });
  const { answer, fault } = foldEvents(events);
  if (fault !== null) throw new StreamErrorFault(fault);
  if (typeof value['system_fingerprint'] === 'string')
    answer.system_fingerprint = value['system_fingerprint'];
  return answer;
}

/** The parsed answer, checked to have choices. @throws StreamErrorFault for an error object, ProtocolFault otherwise. */
export function parseAnswer(body: Buffer): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(body.toString('utf8'));
  } catch {
    throw new ProtocolFault('the answer is not JSON');
  }
  const fault = errorIn(value);
  if (fault !== null) throw new StreamErrorFault(fault);
  if (!isObject(value) || !Array.isArray(value['choices']))
    throw new ProtocolFault('the answer has no choices');
  if (!value['choices'].every(isObject)) throw new ProtocolFault('a choice is not an object');
  return value;
}

/** Calls of a whole message have no index; their position is used. */
function withIndexes(choice: unknown): unknown {
  if (!isObject(choice) || !isObject(choice['message'])) return choice;
  const { message, ...rest } = choice;
  const calls = message['tool_calls'];
  if (!Array.isArray(calls)) return { ...rest, delta: message };
  return { ...rest, delta: { ...message, tool_calls: calls.map((call, index) => ({ ...call, index })) } };
}
