// Reads the answers of providers of embeddings and rankings. Vectors are taken from the body as text, so that numbers
// keep every digit.
import { isObject, type JsonObject } from '../../../../kernel/index.ts';
import { StreamErrorFault, type Target } from '../../../canonical/contract.ts';
import { vectorOfBase64, vectorOfJson } from '../../../canonical/tasks/vectors.ts';
import type { CanonicalAnswer, CanonicalRequest, Ranked, Vector } from '../../../canonical/types.ts';
import { ProtocolFault } from '../../../wire/fault.ts';
import { memberOf, scanArray, scanObject, type TopLevel } from '../../../wire/scan.ts';
import { errorIn } from '../../openai-chat/words/classify.ts';
import { embedUsage, rerankUsage } from './usage.ts';
import { type WireName, wireOf } from './wires.ts';

interface Span {
  readonly from: number;
  readonly to: number;
}

/**
 * Reads a whole answer. @throws StreamErrorFault for an error object instead of an answer, ProtocolFault when it is
 * neither.
 */
export function decodeTask(body: Buffer, request: CanonicalRequest, target: Target): CanonicalAnswer {
  const { task } = request;
  if (task === undefined) throw new Error('an answer to no task');
  const wire = wireOf(target).name;
  const top = task.kind === 'embed' ? scanObject(body) : null;
  const value = top === null ? parsed(body.toString('utf8')) : frameOf(body, top);
  const fault = errorIn(value);
  if (fault !== null) throw new StreamErrorFault(fault);
  const answer: CanonicalAnswer = { candidates: [], usage: null };
  if (typeof value['model'] === 'string') answer.upstream_model = value['model'];
  if (typeof value['id'] === 'string') answer.upstream_id = value['id'];
  if (task.kind === 'rerank') {
    answer.ranking = rankingOf(value);
    answer.usage = rerankUsage(value, task, wire);
    return answer;
  }
  if (top === null) throw new ProtocolFault('the answer cannot be read');
  answer.vectors = vectorsOf(body, top, wire);
  answer.usage = embedUsage(value, task);
  return answer;
}

function parsed(text: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ProtocolFault('the answer is not JSON');
  }
  if (!isObject(value)) throw new ProtocolFault('the answer is no object');
  return value;
}

/** The answer without its vectors, which are most of it and are read in place. */
function frameOf(body: Buffer, top: TopLevel): JsonObject {
  const members = top.members
    .filter(({ name }) => name !== 'data' && name !== 'embeddings')
    .map(({ key_from, to }) => body.toString('utf8', key_from, to));
  return parsed(`{${members.join(',')}}`);
}

function vectorsOf(body: Buffer, top: TopLevel, wire: WireName): Vector[] {
  switch (wire) {
    case 'cohere':
      return cohereVectors(body, top);
    case 'gemini':
      return listOf(body, memberAt(top, 'embeddings')).map((item) =>
        vectorOf(body, memberAt(objectAt(body, item), 'values')),
      );
    default:
      return indexedVectors(body, top);
  }
}

/** `data` of an OpenAI-type answer, in the order of `index`. */
function indexedVectors(body: Buffer, top: TopLevel): Vector[] {
  const list = listOf(body, memberAt(top, 'data'));
  const vectors = new Array<Vector | undefined>(list.length);
  for (const [i, span] of list.entries()) {
    const item = objectAt(body, span);
    const reported = memberOf(item, 'index');
    const index = reported === undefined ? i : Number(body.toString('latin1', reported.from, reported.to));
    if (!Number.isInteger(index) || index < 0 || index >= list.length || vectors[index] !== undefined) {
      throw new ProtocolFault('a vector has no place of its own');
    }
    vectors[index] = vectorOf(body, memberAt(item, 'embedding'));
  }
  return vectors as Vector[];
}

const OPEN_BRACE = 0x7b;
const QUOTE = 0x22;

/** Cohere lists vectors by type; its first version did not. */
function cohereVectors(body: Buffer, top: TopLevel): Vector[] {
  const embeddings = memberAt(top, 'embeddings');
  const typed = body[embeddings.from] === OPEN_BRACE;
  const list = typed ? memberAt(objectAt(body, embeddings), 'float') : embeddings;
  return listOf(body, list).map((span) => vectorOf(body, span));
}

function vectorOf(body: Buffer, { from, to }: Span): Vector {
  // Neither form has characters beyond ASCII; a vector with one is recognised as malformed.
  if (body[from] !== QUOTE) return vectorOfJson(body.toString('latin1', from, to));
  return vectorOfBase64(textOf(body.toString('utf8', from, to)));
}

/** The text of a JSON string; base64 may come with its slashes escaped. */
function textOf(json: string): string {
  if (!json.includes('\\')) return json.slice(1, -1);
  try {
    return JSON.parse(json) as string;
  } catch {
    throw new ProtocolFault('the answer is not JSON');
  }
}

function memberAt(object: TopLevel, name: string): Span {
  const member = memberOf(object, name);
  if (member === undefined) throw new ProtocolFault(`the answer has no ${name}`);
  return member;
}

function objectAt(body: Buffer, { from }: Span): TopLevel {
  const object = scanObject(body, from);
  if (object === null) throw new ProtocolFault('the answer cannot be read');
  return object;
}

function listOf(body: Buffer, { from }: Span): Span[] {
  const spans = scanArray(body, from);
  if (spans === null) throw new ProtocolFault('the answer has no list of vectors');
  return spans;
}

/** `results` (Cohere, Jina) or `data` (Voyage), in the provider's order. */
function rankingOf(value: JsonObject): Ranked[] {
  const list = value['results'] ?? value['data'];
  if (!Array.isArray(list)) throw new ProtocolFault('the answer has no results');
  return list.map((item) => {
    const score = isObject(item) ? (item['relevance_score'] ?? item['score']) : undefined;
    if (!isObject(item) || typeof item['index'] !== 'number' || typeof score !== 'number') {
      throw new ProtocolFault('a result has no index or no score');
    }
    return { index: item['index'], relevance_score: score };
  });
}
