// A policy's text: YAML 1.2 core schema, at most 64 KiB, one document, without anchors, aliases and tags
// (docs/policies.md#the-text).
import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  visit,
  type YAMLMap,
} from 'yaml';
import type { Step } from '../../kernel/index.ts';

/** UTF-8 bytes of a policy's text. */
const POLICY_BYTES_MAX = 65_536;
/** More than the deepest policy has; the reader recurses, so that text of nothing but brackets ends its stack. */
const DEPTH_MAX = 32;

export interface Place {
  readonly line: number;
  readonly column: number;
}

type Parsed =
  | {
      readonly status: 'ok';
      readonly value: unknown;
      /** Where the part at `steps` stands, or what of its parents is there. */
      placeOf(steps: readonly Step[]): Place;
    }
  | { readonly status: 'fault'; readonly message: string; readonly place: Place };

const TOO_DEEP = `nesting deeper than ${DEPTH_MAX} levels; expected a policy`;
const START: Place = { line: 1, column: 1 };

function fault(message: string, place: Place = START): Parsed {
  return { status: 'fault', message, place };
}

/**
 * Whether `text` opens more brackets, or more list items in a row, than a policy can. A cheap look before the reader,
 * which takes half a second to fail on 64 KiB of them; brackets in quotes count too.
 */
function isTooDeep(text: string): boolean {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === 0x5b || c === 0x7b) depth++;
    else if (c === 0x5d || c === 0x7d) depth--;
    if (depth > DEPTH_MAX) return true;
  }
  return /(?:[-?:][ \t]+){33}/.test(text);
}

/** The first key that its mapping has twice: the reader's own look compares each key with each. */
function doubledKey(map: YAMLMap): Node | null {
  const seen = new Set<unknown>();
  for (const { key } of map.items) {
    if (!isScalar(key)) continue;
    if (seen.has(key.value)) return key;
    seen.add(key.value);
  }
  return null;
}

/** The first use of what the language does without, and where. */
function forbidden(document: Document): { message: string; offset: number } | null {
  let found: { message: string; offset: number } | null = null;
  const tell = (message: string, node: Node) => {
    found ??= { message, offset: node.range?.[0] ?? 0 };
    return visit.BREAK;
  };
  visit(document, {
    Node(_, node, path) {
      if (path.length > 2 * DEPTH_MAX) return tell(TOO_DEEP, node);
      if (isAlias(node)) return tell('an alias; expected the value itself', node);
      if ('anchor' in node && node.anchor) return tell('an anchor; expected none', node);
      if (node.tag !== undefined) return tell('a tag; expected none', node);
      const doubled = isMap(node) ? doubledKey(node) : null;
      if (doubled !== null) return tell('not YAML: Map keys must be unique; expected YAML 1.2', doubled);
      return undefined;
    },
    Pair(_, pair) {
      const key = pair.key as Node;
      if (isScalar(key) && typeof key.value === 'string') return undefined;
      return tell('a key that is not text; expected text', key ?? (pair.value as Node));
    },
  });
  return found;
}

function keyNode(parent: unknown, step: Step): Node | null {
  if (!isMap(parent)) return null;
  const pair = (parent.items as Pair<Node, Node>[]).find(
    (item) => isScalar(item.key) && item.key.value === step,
  );
  return pair?.key ?? null;
}

function locate(document: Document, lines: LineCounter, steps: readonly Step[]): Place {
  for (let length = steps.length; length >= 0; length--) {
    const path = steps.slice(0, length);
    const parent = length === 0 ? null : document.getIn(path.slice(0, -1), true);
    const node = keyNode(parent, path.at(-1) ?? '') ?? (document.getIn(path, true) as Node | undefined);
    if (isNode(node) && node.range) {
      const { line, col } = lines.linePos(node.range[0]);
      return { line, column: col };
    }
  }
  return START;
}

/** The value that `text` holds and where its parts stand, or the first fault of its syntax. Never throws. */
export function parsePolicyText(text: string): Parsed {
  const bytes = Buffer.byteLength(text);
  if (bytes > POLICY_BYTES_MAX) return fault(`${bytes} bytes; expected at most ${POLICY_BYTES_MAX}`);
  if (text.includes('\0') || !text.isWellFormed()) {
    return fault('characters that are not text; expected UTF-8');
  }
  const lines = new LineCounter();
  if (isTooDeep(text)) return fault(TOO_DEEP);
  try {
    return read(text, lines);
  } catch {
    return fault(TOO_DEEP);
  }
}

function read(text: string, lines: LineCounter): Parsed {
  const placeAt = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const document: Document = parseDocument(text, {
    ...{ version: '1.2', schema: 'core', strict: true, uniqueKeys: false, merge: false },
    ...{ prettyErrors: false, lineCounter: lines, logLevel: 'error' },
  });
  const [error] = document.errors;
  if (error !== undefined) {
    return fault(`not YAML: ${error.message.split('\n')[0]}; expected YAML 1.2`, placeAt(error.pos[0]));
  }
  const [warning] = document.warnings;
  if (warning !== undefined) {
    return fault(`not plain YAML: ${warning.message}; expected YAML 1.2`, placeAt(warning.pos[0]));
  }
  const refused = forbidden(document);
  if (refused !== null) return fault(refused.message, placeAt(refused.offset));
  if (document.contents === null) return fault('the document is empty; expected a policy');
  return {
    status: 'ok',
    value: document.toJS(),
    placeOf: (steps) => locate(document, lines, steps),
  };
}
