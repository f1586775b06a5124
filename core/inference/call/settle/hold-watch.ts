// Watches a running answer against its hold: extends the hold at three quarters, and reports when credit or the cap
// is reached (docs/money/pricing.md#stepped-hold, docs/outcomes.md#money-ends).
import type { Endpoint } from '../../../catalog/index.ts';
import type { MicroUsd, RequestId } from '../../../kernel/index.ts';
import type { LedgerClient, Subject } from '../../../ledger/index.ts';
import type { TokenRatio } from '../../../pricing/index.ts';

/**
 * Maximum bytes of text per token (scripts with three bytes per letter). The measured ratio is an average over all
 * tokens, shown or hidden; using it alone could make an ordinary answer within its cap look too long and cut it.
 */
const BYTES_PER_TOKEN_MAX = 12;

interface HoldFacts {
  readonly ledger: LedgerClient;
  readonly subject: Subject;
  readonly request_id: RequestId;
  /** Output tokens that the first hold covers, over all candidates. */
  readonly output_held: number;
  /** Tokens by which an extension raises the hold. */
  readonly step: number;
  readonly amount_micro_usd: MicroUsd;
  /** The most that may ever be held; null: what balance and budgets allow. */
  readonly cap_micro_usd: MicroUsd | null;
  /** Output tokens allowed on an endpoint, over all candidates; null: limited only by the model. */
  capOf(endpoint: Endpoint): number | null;
  holdFor(endpoint: Endpoint, output_tokens: number): MicroUsd;
}

export class HoldWatch {
  /** The amount currently held; estimated usage is never charged above it. */
  amount_micro_usd: MicroUsd;
  /** Output tokens that the hold covers, over all candidates. */
  private covered: number;
  private extending = false;
  /** What prevented an extension. */
  private refused: 'credit' | 'budget' | null = null;
  /** With fewer bytes of output than this on `quiet_on`, `look` would have nothing to do. */
  private quiet_below = 0;
  private quiet_on: Endpoint | null = null;
  private readonly facts: HoldFacts;

  constructor(facts: HoldFacts) {
    this.facts = facts;
    this.covered = facts.output_held;
    this.amount_micro_usd = facts.amount_micro_usd;
  }

  /** Whether `look` at `bytes` would have nothing to do. Called for every chunk, so it only compares. */
  isQuiet(endpoint: Endpoint, bytes: number): boolean {
    return bytes < this.quiet_below && endpoint === this.quiet_on;
  }

  /**
   * Checks `bytes` of output so far on `endpoint`. Returns `cap` when the endpoint ignores its cap, and `credit` or
   * `budget` when that prevented an extension and the held amount is used up.
   */
  look(endpoint: Endpoint, bytes: number, ratio: TokenRatio): 'cap' | 'credit' | 'budget' | null {
    const { facts } = this;
    const cap = facts.capOf(endpoint);
    if (cap === null) {
      this.quiet_on = endpoint;
      this.quiet_below = Number.POSITIVE_INFINITY;
      return null;
    }
    const least = Math.min(ratio.count({ bytes, events: 0 }), bytes / BYTES_PER_TOKEN_MAX);
    if (least > tooMany(cap)) return 'cap';
    // For the hold the token count is an overestimate: three bytes per token.
    const most = bytes / 3;
    if (this.refused !== null) return most < this.covered ? null : this.refused;
    if (this.extending || this.covered >= cap || most < this.covered * 0.75) {
      this.calm(endpoint, cap);
      return null;
    }
    const total = Math.min(cap, this.covered + facts.step);
    const amount = facts.holdFor(endpoint, total);
    if (amount <= this.amount_micro_usd) {
      // Already held, for a more expensive endpoint of the plan.
      this.covered = total;
      this.calm(endpoint, cap);
      return null;
    }
    if (facts.cap_micro_usd !== null && amount > facts.cap_micro_usd) {
      this.refused = 'budget';
      return null;
    }
    this.extending = true;
    void facts.ledger.extend(facts.subject, facts.request_id, amount).then((answer) => {
      this.extending = false;
      this.quiet_on = null;
      if (answer === 'insufficient_credits') this.refused = 'credit';
      if (answer === 'budget_exhausted') this.refused = 'budget';
      if (this.refused !== null) return;
      // The settle deals with `missing` and `unavailable`; cutting the answer would lose it for the caller.
      this.covered = total;
      if (answer === 'ok') this.amount_micro_usd = amount;
    });
    return null;
  }

  get covered_tokens(): number {
    return this.covered;
  }

  /** The most that the call may be charged; null: no cap. */
  get cap_micro_usd(): MicroUsd | null {
    return this.facts.cap_micro_usd;
  }

  /**
   * Raises the hold to the call's cost, or to its cap where that is lower; false when the hold does not cover the cost,
   * because of the cap, or balance or budget do not allow it, or the ledger does not answer.
   */
  async cover(cost: MicroUsd): Promise<boolean> {
    const { facts } = this;
    const { cap_micro_usd: cap } = facts;
    const wanted = cap === null || cost < cap ? cost : cap;
    if (wanted > this.amount_micro_usd) {
      if ((await facts.ledger.extend(facts.subject, facts.request_id, wanted)) !== 'ok') return false;
      this.amount_micro_usd = wanted;
    }
    return cost <= wanted;
  }

  /**
   * Computes up to how many bytes output on `endpoint` can neither exceed `cap` nor need an extension, for any ratio.
   */
  private calm(endpoint: Endpoint, cap: number): void {
    const asks = this.covered >= cap ? Number.POSITIVE_INFINITY : this.covered * 0.75 * 3;
    this.quiet_on = this.extending ? null : endpoint;
    this.quiet_below = Math.min(asks, tooMany(cap) * BYTES_PER_TOKEN_MAX);
  }
}

/** Number of tokens beyond which an answer exceeds this cap however tokens are counted. */
function tooMany(cap: number): number {
  return cap * 1.05 + 64;
}
