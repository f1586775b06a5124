// The parts of the reseller area, which grant each needs, and what of them stands in the address. Pure.
import type { Org } from '../../api/session.ts';

export const views = [
  'overview',
  'customers',
  'prices',
  'storefront',
  'earnings',
  'invoices',
  'tickets',
  'announcements',
  'invites',
  'team',
] as const;
export type View = (typeof views)[number];

export interface ResaleSearch {
  readonly view?: View;
  readonly q?: string;
  readonly tier?: string;
  readonly status?: CustomerStatus;
  /** YYYY-MM. */
  readonly month?: string;
}

export const customerStatuses = ['active', 'suspended', 'closed'] as const;
export type CustomerStatus = (typeof customerStatuses)[number];

export const viewNames: Readonly<Record<View, string>> = {
  overview: 'Overview',
  customers: 'Customers',
  prices: 'Tiers and prices',
  storefront: 'Storefront',
  earnings: 'Earnings',
  invoices: 'Invoices',
  tickets: 'Tickets',
  announcements: 'Announcements',
  invites: 'Invites',
  team: 'Team',
};

/** What a person may do in a reseller, as the API names it. */
export type Grant =
  | 'reseller.read'
  | 'reseller.write'
  | 'reseller.campaigns'
  | 'reseller.support'
  | 'storefront.write';

type Standing = Pick<Org, 'role' | 'grants'>;

/** Whether the person holds `grant`. */
export function holds({ grants = [] }: Pick<Org, 'grants'>, grant: Grant): boolean {
  return grants.includes(grant);
}

/** The views that a person sees, in their order. */
export function viewsOf(org: Standing): readonly View[] {
  const reads = holds(org, 'reseller.read');
  return views.filter((view) => {
    if (view === 'team') return org.grants !== undefined && (org.role === 'owner' || org.role === 'admin');
    return view === 'tickets' ? holds(org, 'reseller.support') : reads;
  });
}

const MONTH = /^\d{4}-(?:0[1-9]|1[0-2])$/;

/** What of an address is known; the rest is dropped. */
export function readResaleSearch(raw: Readonly<Record<string, unknown>>): ResaleSearch {
  const { view, q, tier, status, month } = raw;
  const known = <T extends string>(all: readonly T[], given: unknown) => all.find((one) => one === given);
  const found = { view: known(views, view), status: known(customerStatuses, status) };
  return {
    ...(found.view === undefined ? {} : { view: found.view }),
    ...(found.status === undefined ? {} : { status: found.status }),
    ...(typeof q === 'string' && q.trim() !== '' ? { q: q.trim().slice(0, 120) } : {}),
    ...(typeof tier === 'string' && tier !== '' ? { tier } : {}),
    ...(typeof month === 'string' && MONTH.test(month) ? { month } : {}),
  };
}
