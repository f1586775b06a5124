// What a plan was charged in a month.
import type { Id, MicroUsd } from '../kernel/index.ts';
import type { PlanId } from '../orgs/index.ts';

/** `pending`: the ledger was asked; `grace`: not enough credit yet; the others are the ends. */
export type ChargeStatus = 'pending' | 'grace' | 'paid' | 'refused' | 'lapsed';

export interface ChargeKey {
  readonly org_id: Id<'org'>;
  /** First UTC day of the month. */
  readonly period: string;
  /** 0: the fee of the month; above: upgrades within it. */
  readonly no: number;
}

export interface Charge extends ChargeKey {
  readonly plan_id: PlanId;
  readonly fee_micro: MicroUsd;
  readonly included_micro: MicroUsd;
  readonly status: ChargeStatus;
  /** How often the ledger was asked. */
  readonly tries: number;
  /** Mails that said that the fee could not be taken. */
  readonly mails: number;
  readonly grace_until: Date | null;
  readonly created_at: Date;
  readonly settled_at: Date | null;
}

/**
 * The name of a charge: of its entries in the ledger, and without number of its workflow (`plan-{org}-{yyyymm}`).
 */
export function refOf({ org_id, period, no }: ChargeKey): string {
  const month = `plan-${org_id}-${period.slice(0, 7).replace('-', '')}`;
  return no === 0 ? month : `${month}-${no}`;
}
