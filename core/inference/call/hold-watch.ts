// Watches a running answer against its hold: extends it at three quarters, and tells when credit or the cap is
// reached (4.10 "E", 4.8 rows 17 and 18).
import type { Endpoint } from '../../catalog/index.ts';
import type { MicroUsd, RequestId } from '../../kernel/index.ts';
import type { LedgerClient, Subject } from '../../ledger/index.ts';
import type { TokenRatio } from '../../pricing/index.ts';

/**
 * Text has at most so many bytes a token (scripts of three bytes a letter). The measured ratio is an average, and of
 * all tokens, shown or hidden: by it alone a plain answer within its cap could look too long and be cut.
 */
const BYTES_PER_TOKEN_MAX = 12;

export interface HoldFacts {
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
  private covered: number;
  private extending = false;
  /** Credit allows no more than what is held. */
  private refused = false;
  private readonly facts: HoldFacts;

  constructor(facts: HoldFacts) {
    this.facts = facts;
    this.covered = facts.output_held;
    this.amount_micro_usd = facts.amount_micro_usd;
  }

  /**
   * Looks at `bytes` of output so far on `endpoint`; answers `cap` when the endpoint ignores its cap, and `credit` when
   * no extension was allowed and what is held is used up.
   */
  look(endpoint: Endpoint, bytes: number, ratio: TokenRatio): 'cap' | 'credit' | null {
    const { facts } = this;
    const cap = facts.capOf(endpoint);
    if (cap === null) return null;
    const least = Math.min(ratio.count(bytes), bytes / BYTES_PER_TOKEN_MAX);
    if (least > cap * 1.05 + 64) return 'cap';
    // For the hold the count errs upwards: three bytes a token.
    const most = bytes / 3;
    if (this.refused) return most < this.covered ? null : 'credit';
    if (this.extending || this.covered >= cap || most < this.covered * 0.75) return null;
    this.extending = true;
    const total = Math.min(cap, this.covered + facts.step);
    const amount = facts.holdFor(endpoint, total);
    void facts.ledger.extend(facts.subject, facts.request_id, amount).then((answer) => {
      this.extending = false;
      this.refused = answer === 'insufficient_credits' || answer === 'budget_exhausted';
      if (this.refused) return;
      // `missing` and `unavailable` are for the settle to find out; to cut the answer would lose it for the caller.
      this.covered = total;
      if (answer === 'ok') this.amount_micro_usd = amount;
    });
    return null;
  }
}
