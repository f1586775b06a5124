// Reads a whole message of the family into the canonical form.

import { isObject, type JsonObject } from '../../../../kernel/index.ts';
import { StreamErrorFault } from '../../../canonical/contract.ts';
import { customInput, emulatedTools } from '../../../canonical/custom-tools.ts';
import type {
  CanonicalAnswer,
  CanonicalRequest,
  Citation,
  Part,
  ReasoningPart,
  ToolCallPart,
} from '../../../canonical/types.ts';
import { parseExact } from '../../../wire/exact.ts';
import { ProtocolFault } from '../../../wire/fault.ts';
import { readCitation } from '../words/citations.ts';
import { FORMAT } from '../words/reasoning.ts';
import { readStop } from '../words/stop.ts';
import { readUsage } from '../words/usage.ts';
import { errorIn } from './classify.ts';

/** The reasoning part for the start of a `thinking` block; deltas add to it. */
export function thinkingPart(block: JsonObject): ReasoningPart {
  const part: ReasoningPart = {
    type: 'reasoning',
    text: typeof block['thinking'] === 'string' ? block['thinking'] : '',
    kind: 'full',
    format: FORMAT,
  };
  if (typeof block['signature'] === 'string' && block['signature'] !== '')
    part.signature = block['signature'];
  return part;
}

/** The tool call of a `tool_use` block with `json` as its arguments. */
export function callPart(block: JsonObject, json: string, custom: ReadonlySet<string>): ToolCallPart {
  const name = typeof block['name'] === 'string' ? block['name'] : '';
  const kind = custom.has(name) ? 'custom' : 'function';
  return {
    type: 'tool_call',
    id: typeof block['id'] === 'string' ? block['id'] : '',
    name,
    arguments: kind === 'custom' && json !== '' ? customInput(json) : json,
    kind,
  };
}

/** A block that only this family can read again. */
export function serverPart(block: JsonObject): Part {
  const name = typeof block['name'] === 'string' ? block['name'] : String(block['type']);
  return { type: 'server_tool', family: 'anthropic_messages', name, payload: block };
}

/** The part of one whole content block; an unknown block is kept whole, for this family. */
function readContentBlock(block: JsonObject, custom: ReadonlySet<string>): Part {
  switch (block['type']) {
    case 'text': {
      const cited = Array.isArray(block['citations']) ? block['citations'].map(readCitation) : [];
      const citations = cited.filter((item): item is Citation => item !== null);
      return {
        type: 'text',
        text: typeof block['text'] === 'string' ? block['text'] : '',
        ...(citations.length > 0 ? { citations } : {}),
      };
    }
    case 'thinking':
      return thinkingPart(block);
    case 'redacted_thinking':
      return {
        type: 'reasoning',
        text: '',
        kind: 'encrypted',
        data: String(block['data'] ?? ''),
        format: FORMAT,
      };
    case 'tool_use':
      return callPart(block, JSON.stringify(block['input'] ?? {}), custom);
    default:
      return serverPart(block);
  }
}

/** The error for a 200 body that parses to `wire` and is not a message. */
export function notMessage(wire: unknown): ProtocolFault {
  const fault = errorIn(wire);
  return fault === null ? new ProtocolFault('the answer is not a message') : new StreamErrorFault(fault);
}

/**
 * Reads a whole answer. @throws StreamErrorFault for an error object, ProtocolFault when `body` is otherwise not a
 * message of this family.
 */
export function decodeMessage(body: Buffer, request: CanonicalRequest): CanonicalAnswer {
  let wire: unknown;
  try {
    wire = parseExact(body.toString('utf8'));
  } catch {
    throw new ProtocolFault('the answer is not JSON');
  }
  if (!isObject(wire) || !Array.isArray(wire['content'])) throw notMessage(wire);
  const custom = emulatedTools(request);
  const content: Part[] = [];
  for (const block of wire['content']) {
    if (!isObject(block)) throw new ProtocolFault('a content block is not an object');
    content.push(readContentBlock(block, custom));
  }
  const usage = wire['usage'];
  return {
    candidates: [{ index: 0, content, stop: readStop(wire) }],
    usage: readUsage(usage),
    ...(typeof wire['model'] === 'string' ? { upstream_model: wire['model'] } : {}),
    ...(typeof wire['id'] === 'string' ? { upstream_id: wire['id'] } : {}),
    ...(isObject(usage) && typeof usage['service_tier'] === 'string'
      ? { service_tier: usage['service_tier'] }
      : {}),
  };
}
