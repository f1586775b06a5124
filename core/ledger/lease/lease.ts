// The lease of a process as the process itself knows it: whether it cannot have run out is decided here, without asking.
import type { Pool } from '../../db/index.ts';
import { type Log, monotonicMs } from '../../kernel/index.ts';
import { acquireLease, endLease, renewLease } from './store.ts';

interface LeaseParts {
  readonly db: Pool;
  readonly process: string;
  readonly seconds: number;
  /** Those of the ledger that the process knows. */
  readonly places: readonly string[];
  readonly log: Log;
}

export class Lease {
  /** 0 before the first one. */
  id = 0;
  /** Lives of the lease so far. One ends where a sweep may have come before the renewal. */
  life = 0;
  /** Life without renewal. */
  readonly seconds: number;
  /** When the newest renewal that was answered was sent, by the monotonic clock: the lease lasts from then at least. */
  private renewed_ms = 0;
  private renewing: Promise<void> | null = null;
  private readonly parts: LeaseParts;

  constructor(parts: LeaseParts) {
    this.parts = parts;
    this.seconds = parts.seconds;
  }

  /** Renews the lease, or takes a new one when it is gone; one at a time. */
  renew(): Promise<void> {
    this.renewing ??= this.renewOnce().finally(() => {
      this.renewing = null;
    });
    return this.renewing;
  }

  /** Whether the life in which `life` was read cannot have ended yet. */
  lasts(life: number): boolean {
    return life === this.life && monotonicMs() - this.renewed_ms < this.seconds * 1_000;
  }

  end(): Promise<void> {
    return endLease(this.parts.db, this.id);
  }

  private async renewOnce(): Promise<void> {
    const { db, process, seconds, places, log } = this.parts;
    const before = this.id;
    let sent_ms = monotonicMs();
    if (before !== 0 && (await renewLease(db, before))) {
      if (!this.lasts(this.life)) this.life++;
    } else {
      sent_ms = monotonicMs();
      this.id = await acquireLease(db, { process, seconds, places });
      this.life++;
      if (before !== 0) log.warn({ lease_id: this.id }, 'ledger: the lease was gone, a new one was taken');
    }
    this.renewed_ms = sent_ms;
  }
}
