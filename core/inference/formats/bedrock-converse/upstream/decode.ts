// Reads a whole answer of Converse into the canonical form.
import { isObject, type JsonObject } from '../../../../kernel/index.ts';
import { StreamErrorFault, type Target } from '../../../canonical/contract.ts';
import { customInput, emulatedTools } from '../../../canonical/custom-tools.ts';
import type { CanonicalAnswer, CanonicalRequest, Citation, Part } from '../../../canonical/types.ts';
import { parseExact } from '../../../wire/exact.ts';
import { ProtocolFault } from '../../../wire/fault.ts';
import { readCitation } from './citations.ts';
import { classifyAnswer } from './classify.ts';
import { formatOf } from './model.ts';
import { readStop } from './stop.ts';
import { readUsage } from './usage.ts';

/** A string, or ''. */
export function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** A block that only this family can read again. */
export function serverPart(block: JsonObject): Part {
  const use = block['toolUse'] ?? block['toolResult'];
  const name = isObject(use) && typeof use['name'] === 'string' ? use['name'] : (Object.keys(block)[0] ?? '');
  return { type: 'server_tool', family: 'bedrock_converse', name, payload: block };
}

/**
 * The call for a `toolUse` head, still without arguments; `custom` names the tools that were sent as functions with
 * one text field.
 */
export function callPart(use: JsonObject, custom: ReadonlySet<string>): Extract<Part, { type: 'tool_call' }> {
  const name = text(use['name']);
  const kind = custom.has(name) ? 'custom' : 'function';
  return { type: 'tool_call', id: text(use['toolUseId']), name, arguments: '', kind };
}

/** An image of an answer as bytes. */
export function imagePart(image: JsonObject, base64: string): Part {
  return { type: 'image', src: { base64, media_type: `image/${text(image['format']) || 'png'}` } };
}

function reasoningPart(block: JsonObject, target: Target): Part {
  const format = formatOf(target);
  const sealed = block['redactedContent'];
  if (typeof sealed === 'string')
    return { type: 'reasoning', text: '', kind: 'encrypted', data: sealed, format };
  const said = isObject(block['reasoningText']) ? block['reasoningText'] : {};
  const part: Part = { type: 'reasoning', text: text(said['text']), kind: 'full', format };
  if (text(said['signature']) !== '') part.signature = text(said['signature']);
  return part;
}

function citedPart(block: JsonObject): Part {
  const pieces = Array.isArray(block['content']) ? block['content'] : [];
  const cited = Array.isArray(block['citations']) ? block['citations'].map(readCitation) : [];
  const citations = cited.filter((item): item is Citation => item !== null);
  const said = pieces.map((piece) => (isObject(piece) ? text(piece['text']) : '')).join('');
  return { type: 'text', text: said, ...(citations.length > 0 ? { citations } : {}) };
}

function partOf(block: JsonObject, custom: ReadonlySet<string>, target: Target): Part {
  if (typeof block['text'] === 'string') return { type: 'text', text: block['text'] };
  const { toolUse, reasoningContent, citationsContent, image } = block;
  if (isObject(toolUse) && toolUse['type'] === undefined) {
    const part = callPart(toolUse, custom);
    const json = JSON.stringify(toolUse['input'] ?? {});
    return { ...part, arguments: part.kind === 'custom' ? customInput(json) : json };
  }
  if (isObject(reasoningContent)) return reasoningPart(reasoningContent, target);
  if (isObject(citationsContent)) return citedPart(citationsContent);
  const source = isObject(image) ? image['source'] : undefined;
  if (isObject(image) && isObject(source)) return imagePart(image, text(source['bytes']));
  return serverPart(block);
}

/** The service tier in `wire`, as a member. */
export function tierIn(wire: JsonObject): { service_tier?: string } {
  const tier = wire['serviceTier'];
  return isObject(tier) && typeof tier['type'] === 'string' ? { service_tier: tier['type'] } : {};
}

/**
 * Reads a whole answer. @throws StreamErrorFault for an exception, ProtocolFault when `body` is otherwise not an
 * answer of this family.
 */
export function decodeAnswer(body: Buffer, request: CanonicalRequest, target: Target): CanonicalAnswer {
  let wire: unknown;
  try {
    wire = parseExact(body.toString('utf8'));
  } catch {
    throw new ProtocolFault('the answer is not JSON');
  }
  const message = isObject(wire) && isObject(wire['output']) ? wire['output']['message'] : null;
  if (!isObject(wire) || !isObject(message) || !Array.isArray(message['content'])) {
    const fault = classifyAnswer(200, {}, body);
    throw fault.class === 'stream'
      ? new StreamErrorFault(fault)
      : new ProtocolFault('the answer has no message');
  }
  const custom = emulatedTools(request);
  const content = message['content'].map((block) => {
    if (!isObject(block)) throw new ProtocolFault('a content block is not an object');
    return partOf(block, custom, target);
  });
  const candidate = { index: 0, content, stop: readStop(wire, request) };
  return { candidates: [candidate], usage: readUsage(wire['usage']), ...tierIn(wire) };
}
