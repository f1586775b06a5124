// The short name of an organization: it stands in the addresses of the console, so it must not be one of them.
import { Type } from 'typebox';
import { ServiceError } from '../kernel/index.ts';

export const SlugIn = Type.String({
  pattern: '^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$',
  description: 'small letters, digits and hyphens; unique over the whole service',
});

const reserved: ReadonlySet<string> = new Set([
  ...['sign-in', 'sign-up', 'sign-out', 'invitation', 'register', 'activate', 'verify', 'reset', 'profile'],
  ...[
    'credits',
    'keys',
    'requests',
    'invoices',
    'budgets',
    'members',
    'settings',
    'home',
    'new',
    'org',
    'orgs',
  ],
  ...['admin', 'staff', 'api', 'v1', 'v2', 'graphql', 'webhooks', 'webhook', 'scim', 'sso', 'auth', 'oauth'],
  ...['docs', 'doc', 'help', 'support', 'status', 'legal', 'privacy', 'terms', 'pricing', 'blog', 'about'],
  ...[
    'assets',
    'static',
    'public',
    'favicon',
    'openapi',
    'healthz',
    'readyz',
    'metrics',
    'www',
    'mail',
    'app',
  ],
  ...[
    'console',
    'gateway',
    'dashboard',
    'billing',
    'account',
    'accounts',
    'root',
    'system',
    'internal',
    'svc',
  ],
  ...[
    'live',

    'test',
    'demo',
    'null',
    'undefined',
    'security',
    'abuse',
    'postmaster',
    'skip',
    'pay',
    'models',
    'apps',
    'rankings',
  ],
]);

/** What a slug that cannot be had is answered with, for whichever reason. */
export function slugTaken(): ServiceError {
  return new ServiceError('already_exists', 'The slug is taken. Choose another one.', { param: 'slug' });
}

/** @throws ServiceError already_exists for a slug that the service keeps for itself. */
export function refuseReservedSlug(slug: string): void {
  if (reserved.has(slug)) throw slugTaken();
}
