// The caller's own provider keys in the choice (docs/providers.md#keys-of-your-callers): what they can answer of a
// model is tried before anything that the pool answers of it, wherever the caller's order names its provider. A key
// that may not fall back keeps the whole call off the pool, and not only its own provider: the caller does not want
// to pay for tokens here.
import type { Model } from '../../catalog/index.ts';
import { factsOfModel } from '../facts.ts';
import { cheapReason, type Demands, isLossy, lateReason, ownUses, seenReason } from '../filters.ts';
import type { Ranked } from '../rank.ts';
import { addCandidate, type Candidates, noCandidates } from '../score.ts';
import type { ExclusionReason, SettledInput } from '../types.ts';

/** How an endpoint stands that the caller has a key for. */
interface OwnKeyState {
  /** A key of the caller's answers there. */
  readonly answers: boolean;
  /** Why none does, although all of the request fits; null: the pool may answer. */
  readonly reason: ExclusionReason | null;
}

export interface OwnPass {
  /** By endpoint id; of endpoints that the caller has a key for. */
  readonly states: Map<string, OwnKeyState>;
  /** `input.affords` left a key out. */
  too_expensive: boolean;
  /** A key that could serve the call does not fall back to the pool. */
  strict: boolean;
}

/** The endpoints of `model` with each own key that may be used there now; notes in `own` how they stand. */
export function passOwn(model: Model, input: SettledInput, demands: Demands, own: OwnPass): Candidates {
  const all = factsOfModel(model);
  const uses = all.map(({ endpoint }) => ownUses(endpoint, demands));
  const found = noCandidates(uses.reduce((sum, { length }) => sum + length, 0));
  const { health, now_ms } = input;
  all.forEach((facts, i) => {
    const keys = uses[i] as (typeof uses)[number];
    if (keys.length === 0 || cheapReason(facts, demands, true) !== null) return;
    const losses = input.losses(facts.endpoint);
    if (isLossy(losses, input) || lateReason(facts, input, demands) !== null) return;
    const strict = keys.some(({ endpoint }) => endpoint.own_key?.fallback_to_pool === false);
    own.strict ||= strict;
    const figures = health.figures(facts.endpoint.id, now_ms);
    let reason: ExclusionReason | null = null;
    let answers = false;
    for (const { endpoint, rest_ms } of keys) {
      reason = seenReason(figures, demands, rest_ms > 0);
      if (reason !== null) continue;
      const price = demands.tier === null ? undefined : endpoint.byok?.tiers[demands.tier];
      const at = price === undefined ? endpoint : { ...endpoint, price };
      if (input.affords?.(at) === false) {
        own.too_expensive = true;
        reason = 'price';
        continue;
      }
      answers = true;
      addCandidate(found, { endpoint: at, losses }, facts.hash, figures);
    }
    // Where the pool must not answer either, the state of the key is the reason, which passes.
    const only = strict || demands.own_key_only || demands.own_key_providers.has(facts.endpoint.provider);
    own.states.set(facts.endpoint.id, { answers, reason: answers || !only ? null : reason });
  });
  return found;
}

/** `own` before `pool`, at most `most` in all; where the pool may answer at all, one attempt is kept for it. */
export function shareAttempts(own: Ranked, pool: Ranked, most: number): Ranked {
  const own_most = pool.plan.length > 0 && most > 1 ? most - 1 : most;
  const first = own.plan.slice(0, own_most);
  const then = pool.plan.slice(0, most - first.length);
  return {
    plan: [...first, ...then],
    spare: [...own.plan.slice(first.length), ...own.spare, ...pool.plan.slice(then.length), ...pool.spare],
    // The caller's own keys come first, so chance chooses nothing.
    arm: null,
  };
}
