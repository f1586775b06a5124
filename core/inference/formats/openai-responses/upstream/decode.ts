// Reads a whole response: its items go through the stream decoder, so that both forms of an answer mean the same.
import { isObject, type JsonObject } from '../../../../kernel/index.ts';
import { foldEvents } from '../../../canonical/assemble.ts';
import { StreamErrorFault } from '../../../canonical/contract.ts';
import type { CanonicalAnswer } from '../../../canonical/types.ts';
import { ProtocolFault } from '../../../wire/fault.ts';
import { faultIn } from './classify.ts';
import { ResponsesDecoder } from './decoder.ts';

/**
 * The answer in `body`. @throws StreamErrorFault when it reports a fault, ProtocolFault when it is not the family's
 * format.
 */
export function decodeResponse(body: Buffer, flags: readonly string[]): CanonicalAnswer {
  const { answer, fault } = foldEvents(new ResponsesDecoder(flags).whole(parseResponse(body)));
  if (fault !== null) throw new StreamErrorFault(fault);
  return answer;
}

/** The parsed response, checked to have output. @throws StreamErrorFault for an error, ProtocolFault otherwise. */
export function parseResponse(body: Buffer): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(body.toString('utf8'));
  } catch {
    throw new ProtocolFault('the answer is not JSON');
  }
  const fault = faultIn(value);
  if (fault !== null) throw new StreamErrorFault(fault);
  if (!isObject(value) || !Array.isArray(value['output']))
    throw new ProtocolFault('the answer has no output');
  return value;
}
