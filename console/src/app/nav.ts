// The entries of the side navigation: page, shortcut (G, then this key) and group.
import type { Org } from '../api/session.ts';
import type { IconName } from '../ui/icons.tsx';

export type NavPage =
  | 'home'
  | 'requests'
  | 'usage'
  | 'keys'
  | 'byok'
  | 'apps'
  | 'policies'
  | 'evals'
  | 'webhooks'
  | 'credits'
  | 'invoices'
  | 'budgets'
  | 'reseller'
  | 'members'
  | 'settings'
  | 'privacy'
  | 'tickets'
  | 'legal'
  | 'audit'
  | 'sign-on';
interface NavItem {
  readonly page: NavPage;
  readonly name: string;
  readonly icon: IconName;
  readonly key: string;
}
interface NavGroup {
  readonly name: string | null;
  readonly items: readonly NavItem[];
}

export const nav: readonly NavGroup[] = [
  {
    name: null,
    items: [
      { page: 'home', name: 'Home', icon: 'home', key: 'h' },
      { page: 'requests', name: 'Requests', icon: 'list-search', key: 'r' },
      { page: 'usage', name: 'Usage', icon: 'chart-bar', key: 'u' },
    ],
  },
  {
    name: 'Build',
    items: [
      { page: 'keys', name: 'Keys', icon: 'key', key: 'k' },
      { page: 'byok', name: 'Provider keys', icon: 'plug', key: 'v' },
      { page: 'policies', name: 'Policies', icon: 'route', key: 'p' },
      { page: 'evals', name: 'Evals', icon: 'flask', key: 'e' },
      { page: 'webhooks', name: 'Webhooks', icon: 'webhook', key: 'w' },
      { page: 'apps', name: 'Apps', icon: 'external-link', key: 'n' },
    ],
  },
  {
    name: 'Money',
    items: [
      { page: 'credits', name: 'Credits', icon: 'wallet', key: 'c' },
      { page: 'invoices', name: 'Invoices', icon: 'file-invoice', key: 'i' },
      { page: 'budgets', name: 'Budgets', icon: 'gauge', key: 'b' },
      { page: 'reseller', name: 'Reseller', icon: 'users', key: 'x' },
    ],
  },
  {
    name: 'Organisation',
    items: [
      { page: 'members', name: 'Members', icon: 'users', key: 'm' },
      { page: 'settings', name: 'Settings', icon: 'settings', key: 's' },
      { page: 'privacy', name: 'Privacy', icon: 'eye', key: 'd' },
      { page: 'audit', name: 'Audit log', icon: 'clock', key: 'a' },
      { page: 'tickets', name: 'Support', icon: 'mail', key: 't' },
      { page: 'legal', name: 'Legal', icon: 'file-invoice', key: 'l' },
      { page: 'sign-on', name: 'Single sign-on', icon: 'key', key: 'o' },
    ],
  },
];
export const navItems: readonly NavItem[] = nav.flatMap(({ items }) => items);

/** Those of `items` that the rail leads to: the area of a reseller is for those who hold a grant of one. */
export function itemsFor({ grants }: Pick<Org, 'grants'>, items = navItems): readonly NavItem[] {
  return items.filter(({ page }) => page !== 'reseller' || grants?.length);
}
