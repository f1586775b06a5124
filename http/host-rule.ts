// Which hosts are served (docs/resellers/domains.md#hosts): our own, and those of storefronts. A name that somebody only pointed
// here, or that a reseller has lost, must not look as if it were an address of this service.
import type { Seller, SellerHosts } from '@svc/core/identity/index.ts';
import { ServiceError, type Services } from '@svc/core/kernel/index.ts';
import { hostKey, isOwnHost } from '@svc/core/storefronts/index.ts';
import type { FastifyInstance, FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /** The storefront that the request came to; null: an address of our own. */
    storefront: { readonly seller: Seller; readonly address: string } | null;
  }
}

/** Asked by what watches over the process, under whatever name it has there. */
const HEALTH = /^\/(?:healthz|readyz|metrics)(?:\?|$)/;
const PORT = /:\d{1,5}$/;

function misdirected(host: string): ServiceError {
  const message = 'Nobody is served at this host. Use the address that you were given.';
  return new ServiceError('misdirected_request', message, { details: { host: host.slice(0, 253) } });
}

/** The address of a storefront as the client wrote it: its name, which is known, and a port. */
function addressOf(request: FastifyRequest, key: string, protocol: string): string {
  return `${protocol}//${key}${PORT.exec(request.headers.host ?? '')?.[0] ?? ''}`;
}

/** What is known of `key` at once, or a promise of it. */
function lookUp(hosts: SellerHosts, key: string): Seller | null | Promise<Seller | null> {
  const known = hosts.peek(key);
  return known === undefined ? hosts.at(key) : known;
}

/** Refuses requests to hosts that nobody is served at; does nothing in an installation without storefronts. */
export function bindHostRule(app: FastifyInstance, { storefronts, seller_hosts }: Partial<Services>): void {
  if (storefronts === undefined || storefronts.base === null || seller_hosts === undefined) return;
  const { protocol } = storefronts;
  app.addHook('onRequest', (request, _reply, done) => {
    const key = hostKey(request.headers.host ?? '');
    if (isOwnHost(key, storefronts) || HEALTH.test(request.url)) return done();
    const settle = (seller: Seller | null) => {
      if (seller === null) return done(misdirected(key));
      request.storefront = { seller, address: addressOf(request, key, protocol) };
      done();
    };
    const found = lookUp(seller_hosts, key);
    if (found instanceof Promise) found.then(settle, done);
    else settle(found);
  });
}
