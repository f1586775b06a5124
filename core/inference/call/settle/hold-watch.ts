// Watches a running answer against its hold: extends it at three quarters, and tells when credit or the cap is
// reached (docs/pricing.md#stepped-hold, docs/outcomes.md#money-ends).
import type { Endpoint } from '../../../catalog/index.ts';
import type { MicroUsd, RequestId } from '../../../kernel/index.ts';
import type { LedgerClient, Subject } from '../../../ledger/index.ts';
import type { TokenRatio } from '../../../pricing/index.ts';

/**
 * Text has at most so many bytes a token (scripts of three bytes a letter). The measured ratio is an average, and of
 * all tokens, shown or hidden: by it alone a plain answer within its cap could look too long and be cut.
 */
const BYTES_PER_TOKEN_MAX = 12;

interface HoldFacts {
  readonly ledger: LedgerClient;
  readonly subject: Subject;
  readonly request_id: RequestId;
  /** Output tokens, over all candidates, that the first hold covers. */
  readonly output_held: number;
  /** Tokens by which an extension raises the hold. */
  readonly step: number;
  readonly amount_micro_usd: MicroUsd;
  /** Output tokens, over all candidates, allowed on an endpoint; null: the model's own bound. */
  capOf(endpoint: Endpoint): number | null;
  holdFor(endpoint: Endpoint, output_tokens: number): MicroUsd;
}

export class HoldWatch {
  /** What is held now; estimated usage is never charged above it. */
  amount_micro_usd: MicroUsd;
  /** Output tokens, over all candidates, that the hold covers. */
  private covered: number;
  private extending = false;
  /** What allows no more than is held. */
  private refused: 'credit' | 'budget' | null = null;
  /** Below so many bytes of output on `quiet_on`, a look would find nothing to do. */
  private quiet_below = 0;
  private quiet_on: Endpoint | null = null;
  private readonly facts: HoldFacts;

  constructor(facts: HoldFacts) {
    this.facts = facts;
    this.covered = facts.output_held;
    this.amount_micro_usd = facts.amount_micro_usd;
  }

  /** Whether a look at `bytes` is known to find nothing: asked for every chunk, so it compares and no more. */
  isQuiet(endpoint: Endpoint, bytes: number): boolean {
    return bytes < this.quiet_below && endpoint === this.quiet_on;
  }

  /**
   * Looks at `bytes` of output so far on `endpoint`; answers `cap` when the endpoint ignores its cap, and `credit` or
   * `budget` when that allowed no extension and what is held is used up.
   */
  look(endpoint: Endpoint, bytes: number, ratio: TokenRatio): 'cap' | 'credit' | 'budget' | null {
    const { facts } = this;
    const cap = facts.capOf(endpoint);
    if (cap === null) {
      this.quiet_on = endpoint;
      this.quiet_below = Number.POSITIVE_INFINITY;
      return null;
    }
    const least = Math.min(ratio.count(bytes), bytes / BYTES_PER_TOKEN_MAX);
    if (least > tooMany(cap)) return 'cap';
    // For the hold the count errs upwards: three bytes a token.
    const most = bytes / 3;
    if (this.refused !== null) return most < this.covered ? null : this.refused;
    if (this.extending || this.covered >= cap || most < this.covered * 0.75) {
      this.calm(endpoint, cap);
      return null;
    }
    const total = Math.min(cap, this.covered + facts.step);
    const amount = facts.holdFor(endpoint, total);
    if (amount <= this.amount_micro_usd) {
      // Held already, for a more expensive endpoint of the plan.
      this.covered = total;
      this.calm(endpoint, cap);
      return null;
    }
    this.extending = true;
    void facts.ledger.extend(facts.subject, facts.request_id, amount).then((answer) => {
      this.extending = false;
      this.quiet_on = null;
      if (answer === 'insufficient_credits') this.refused = 'credit';
      if (answer === 'budget_exhausted') this.refused = 'budget';
      if (this.refused !== null) return;
      // `missing` and `unavailable` are for the settle to find out; to cut the answer would lose it for the caller.
      this.covered = total;
      if (answer === 'ok') this.amount_micro_usd = amount;
    });
    return null;
  }

  get covered_tokens(): number {
    return this.covered;
  }

  /** Has the hold raised to what the call costs; false where balance or budget does not allow it, or nobody can say. */
  async cover(cost: MicroUsd): Promise<boolean> {
    const { facts } = this;
    if ((await facts.ledger.extend(facts.subject, facts.request_id, cost)) !== 'ok') return false;
    this.amount_micro_usd = cost;
    return true;
  }

  /** Notes up to where output on `endpoint` neither passes `cap` nor asks for more, whatever the ratio becomes. */
  private calm(endpoint: Endpoint, cap: number): void {
    const asks = this.covered >= cap ? Number.POSITIVE_INFINITY : this.covered * 0.75 * 3;
    this.quiet_on = this.extending ? null : endpoint;
    this.quiet_below = Math.min(asks, tooMany(cap) * BYTES_PER_TOKEN_MAX);
  }
}

/** Tokens beyond which an answer with this cap is not within it by any count. */
function tooMany(cap: number): number {
  return cap * 1.05 + 64;
}
