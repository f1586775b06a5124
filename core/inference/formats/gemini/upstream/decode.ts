// Reads a whole answer of the family into the canonical form, as a single chunk with everything in it.
import { isObject } from '../../../../kernel/index.ts';
import { foldEvents } from '../../../canonical/assemble.ts';
import { StreamErrorFault, type Target } from '../../../canonical/contract.ts';
import type { CanonicalAnswer, CanonicalEvent, CanonicalRequest } from '../../../canonical/types.ts';
import { parseExact } from '../../../wire/exact.ts';
import { ProtocolFault } from '../../../wire/fault.ts';
import { ChunkReader } from './chunks.ts';

/**
 * Reads a whole answer. @throws StreamErrorFault for an error object or a blocked prompt, ProtocolFault when `body`
 * is otherwise not an answer of this family.
 */
export function decodeResponse(body: Buffer, request: CanonicalRequest, target: Target): CanonicalAnswer {
  let wire: unknown;
  try {
    wire = parseExact(body.toString('utf8'));
  } catch {
    throw new ProtocolFault('the answer is not JSON');
  }
  if (!isObject(wire)) throw new ProtocolFault('the answer is not an object');
  const reader = new ChunkReader(request, target);
  const events: CanonicalEvent[] = [];
  const fault = reader.take(wire, events);
  if (fault !== null) throw new StreamErrorFault(fault);
  if (!Array.isArray(wire['candidates'])) throw new ProtocolFault('the answer has no candidates');
  reader.close(events);
  reader.report(events);
  return foldEvents(events).answer;
}
