// What of an endpoint the choice reads again and again, worked out once per snapshot of the catalog: a decision over a
// thousand endpoints has a fifth of a microsecond for each.
import type { Endpoint, Model, TargetCapabilities } from '../catalog/index.ts';
import { type Excluded, exclusionReasons, type Passed } from './types.ts';

/** Capabilities that a request may need by what it carries, one bit each. */
const CAPABILITY_BITS = { tools: 1, json_schema: 2, vision: 4, audio: 8, pdf: 16 } as const;
type Need = keyof typeof CAPABILITY_BITS;

export interface EndpointFacts {
  readonly endpoint: Endpoint;
  readonly in_service: boolean;
  readonly sandbox: boolean;
  readonly can: number;
  readonly quantization: string;
  /** Spreads endpoints of about equal score, see `spreadOf`. */
  readonly hash: number;
  /** Its entry among the passed where nothing is lost: the usual case. */
  readonly passed: Passed;
  /** Its entry among the excluded, by reason. */
  readonly excluded: readonly Excluded[];
}

/** 32 bits of `text` (FNV-1a): where to look, never a secret. */
export function hash32(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/**
 * Rendezvous hash of a caller's and an endpoint's: of equal endpoints every process puts the same one first for one
 * caller, and one that comes or goes moves only its own share (murmur3's finalizer; SHA-256 would cost 50 times as much).
 */
export function spreadOf(caller: number, endpoint: number): number {
  let h = caller ^ Math.imul(endpoint, 0x9e3779b1);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** The bits of `needs`. */
export function bitsOf(needs: Pick<TargetCapabilities, Need>): number {
  let bits = 0;
  for (const [name, bit] of Object.entries(CAPABILITY_BITS)) if (needs[name as Need]) bits |= bit;
  return bits;
}

const NO_LOSSES: Passed['losses'] = [];

function factsOf(endpoint: Endpoint): EndpointFacts {
  const { id, provider } = endpoint;
  return {
    endpoint,
    in_service: endpoint.status === 'active' && endpoint.missing === null,
    sandbox: endpoint.wire.in_process,
    can: bitsOf(endpoint.capabilities),
    quantization: endpoint.quantization ?? 'unknown',
    hash: hash32(id),
    passed: { endpoint, losses: NO_LOSSES },
    excluded: exclusionReasons.map((reason) => ({ endpoint_id: id, provider, reason })),
  };
}

const known = new WeakMap<Model, readonly EndpointFacts[]>();

/** Facts of the endpoints of `model`, in its order; a snapshot's models never change. */
export function factsOfModel(model: Model): readonly EndpointFacts[] {
  let facts = known.get(model);
  if (facts === undefined) {
    facts = model.endpoints.map(factsOf);
    known.set(model, facts);
  }
  return facts;
}
