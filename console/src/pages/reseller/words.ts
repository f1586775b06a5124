// Shares, months and states as people of a reseller read them. Pure.
import type {
  ResaleAccrualFragment,
  ResaleCustomerFragment,
  ResaleTierFragment,
} from '../../api/gen/tools/graphql.ts';
import { plainText } from '../../ui/format/money.ts';
import type { Tone } from '../../ui/status.tsx';
import type { Grant } from './views.ts';

/** Basis points as a share: 1250 is "12.5 %". */
export function percentText(bps: number): string {
  const rest = bps % 100;
  const fraction = rest === 0 ? '' : `.${String(rest).padStart(2, '0').replace(/0$/, '')}`;
  return `${Math.trunc(bps / 100)}${fraction} %`;
}

/** "12.5" or "12.5 %" in basis points, 0 to 100 %; null for anything else. */
export function bpsOf(text: string): number | null {
  const match = /^(\d{1,3})(?:\.(\d{1,2}))?\s*%?$/.exec(text.trim());
  if (match === null) return null;
  const bps = Number(match[1]) * 100 + Number((match[2] ?? '').padEnd(2, '0'));
  return bps <= 10_000 ? bps : null;
}

/** What the credit of `micro` at one markup would have cost at another, rounded down. */
export function costAt(micro: string, from_bps: number, to_bps: number): string {
  return String((BigInt(micro) * BigInt(10_000 + to_bps)) / BigInt(10_000 + from_bps));
}

export const customerTones: Readonly<Record<ResaleCustomerFragment['status'], Tone>> = {
  ACTIVE: 'ok',
  SUSPENDED: 'warn',
  CLOSED: 'mute',
};

/** "Standard, 12.5 %"; without a tier what everybody pays. */
export function tierText(tiers: readonly ResaleTierFragment[], id: string | null | undefined): string {
  if (id === null || id === undefined) return 'Catalog prices';
  const tier = tiers.find((one) => one.id === id);
  return tier === undefined ? id : `${tier.name}, ${percentText(tier.markupBps)}`;
}

/** The markup of a tier; none is catalog prices. */
export function markupOf(tiers: readonly ResaleTierFragment[], id: string | null | undefined): number {
  return tiers.find((one) => one.id === id)?.markupBps ?? 0;
}

export const grantWords: Readonly<Record<Grant, readonly [name: string, means: string]>> = {
  'reseller.read': ['Read', 'see customers, prices, earnings and announcements'],
  'reseller.write': ['Write', 'make and change customers and tiers, give credit and take it back'],
  'reseller.campaigns': ['Campaigns', 'announce, make invite codes and revoke them'],
  'reseller.support': ['Support', 'read and answer tickets of customers'],
  'storefront.write': ['Storefront', 'change the storefront'],
};

/** RESELLER_READ of GraphQL as the API names it. */
export function grantOf(name: string): Grant {
  return name.toLowerCase().replace('_', '.') as Grant;
}

/** The last `count` months up to `now`, newest first, as "2026-11", in UTC. */
export function lastMonths(count: number, now: Date): string[] {
  return Array.from({ length: count }, (_, i) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - i, 1)).toISOString().slice(0, 7),
  );
}

const figures = [
  'usageMicro',
  'markupMicro',
  'burnedMicro',
  'paidMicro',
  'writtenOffMicro',
  'accruedMicro',
] as const;
type Figure = (typeof figures)[number];

/** The sums of `rows`, exact. */
export function totalsOf(rows: readonly ResaleAccrualFragment[]): Readonly<Record<Figure, string>> {
  const sum = (name: Figure) => String(rows.reduce((all, row) => all + BigInt(row[name]), 0n));
  return Object.fromEntries(figures.map((name) => [name, sum(name)])) as Record<Figure, string>;
}

/** A value as a cell. What a spreadsheet would run as a formula is made text, since people choose the names. */
function cell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** The statement of a month as a file for an accountant: dollars with six places, the sums in the last line. */
export function statementCsv(month: string, rows: readonly ResaleAccrualFragment[]): string {
  const head = ['month', 'customer', 'customer_id', 'usage_usd', 'markup_usd', 'credit_used_usd', 'paid_usd'];
  const money = (row: Readonly<Record<Figure, string>>) => figures.map((name) => plainText(row[name]));
  const lines = rows.map((row) => [
    ...[row.month, cell(row.childName), row.childOrgId, ...money(row), row.status.toLowerCase()],
    row.ledgerSeq === null || row.ledgerSeq === undefined ? '' : String(row.ledgerSeq),
  ]);
  return [
    [...head, 'written_off_usd', 'earned_usd', 'status', 'ledger_entry'],
    ...lines,
    [month, 'total', '', ...money(totalsOf(rows)), '', ''],
  ]
    .map((line) => `${line.join(',')}\r\n`)
    .join('');
}
