// The verdict on a policy's text: syntax, then shape, then meaning; each fault with its path, line and column
// (docs/policies.md).
import type { Catalog } from '../../catalog/index.ts';
import { pathText } from '../../kernel/index.ts';
import { type Finding, shapeFindings } from '../shape.ts';
import type { PolicyDocument } from '../types.ts';
import { type Place, parsePolicyText } from './parse.ts';
import { type Allowed, checkSemantics } from './semantics.ts';

export interface PolicyRemark {
  /** Dotted with indexes, `rules[2].match.models[0]`; `$` is the document. */
  readonly path: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

export interface PolicyFault extends PolicyRemark {
  /** `not_supported`: a part of the language that this release knows and does not execute. */
  readonly code: 'invalid' | 'not_supported';
}

export type Verdict =
  | { readonly valid: true; readonly document: PolicyDocument; readonly notices: readonly PolicyRemark[] }
  | { readonly valid: false; readonly faults: readonly PolicyFault[] };

function remarks(findings: readonly Finding[], placeOf: (steps: Finding['steps']) => Place): PolicyRemark[] {
  return findings.map(({ steps, message }) => ({ path: pathText(steps), ...placeOf(steps), message }));
}

function faultsOf(findings: readonly Finding[], placeOf: (steps: Finding['steps']) => Place): PolicyFault[] {
  return findings.map(({ steps, message, unsupported = false }) => ({
    ...{ path: pathText(steps), ...placeOf(steps) },
    ...{ code: unsupported ? 'not_supported' : 'invalid', message },
  }));
}

const STANDARD: Allowed = { shadows_paid: false };

/** Judges `text`, to be stored as `name` (null: not yet named), with the names that `catalog` knows. Never throws. */
export function validatePolicy(
  text: string,
  catalog: Catalog,
  name: string | null,
  allowed = STANDARD,
): Verdict {
  const parsed = parsePolicyText(text);
  if (parsed.status === 'fault') {
    return {
      valid: false,
      faults: [{ path: '$', ...parsed.place, code: 'invalid', message: parsed.message }],
    };
  }
  const { value, placeOf } = parsed;
  const shape = shapeFindings(value);
  if (shape.length > 0) return { valid: false, faults: faultsOf(shape, placeOf) };
  const document = value as PolicyDocument;
  const { faults, notices } = checkSemantics(document, { catalog, allowed }, name);
  if (faults.length > 0) return { valid: false, faults: faultsOf(faults, placeOf) };
  return { valid: true, document, notices: remarks(notices, placeOf) };
}

/**
 * The document of a stored text, by shape alone: the catalog may have changed since.
 * @throws Error where this release does not know the language it was written in; calls then must not pass.
 */
export function readStoredPolicy(text: string): PolicyDocument {
  const parsed = parsePolicyText(text);
  if (parsed.status === 'fault') throw new Error(`stored policy cannot be read: ${parsed.message}`);
  const [first] = shapeFindings(parsed.value);
  if (first !== undefined) {
    throw new Error(`stored policy cannot be read: ${pathText(first.steps)}: ${first.message}`);
  }
  return parsed.value as PolicyDocument;
}
