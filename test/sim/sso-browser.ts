// The browser of a person who signs in over an identity provider, as far as redirects and cookies go.
import type { LightMyRequestResponse } from 'fastify';
import { expect } from 'vitest';
import type { Harness, Tenant } from '../registry/harness.ts';
import type { NameServer } from './dns.ts';

const GATEWAY = 'http://127.0.0.1:8080';

/** Claims and proves a mail domain. */
export async function prove(
  harness: Harness,
  names: NameServer,
  tenant: Tenant,
  domain: string,
): Promise<void> {
  const { call } = harness;
  const made = await call('POST', '/v1/org/sso/domains', { key: tenant.key, body: { domain } });
  expect(made.statusCode, made.body).toBe(201);
  const { record, token } = made.json().domain;
  names.zone.set(`TXT ${record}`, [token]);
  const path = `/v1/org/sso/domains/${domain}/verify`;
  expect((await call('POST', path, { key: tenant.key, body: {} })).json().verified).toBe(true);
}

/** The cookie `name` of an answer as a browser sends it back; empty when there is none. */
export function cookieOf(answer: LightMyRequestResponse, name: string): string {
  const set = [answer.headers['set-cookie'] ?? []].flat();
  return set.map((one) => one.split(';', 1)[0] as string).find((one) => one.startsWith(`${name}=`)) ?? '';
}

/** Presses the button: the answer that leads to the provider. */
export function leave(
  harness: Harness,
  alias: string,
  query = '',
  options: { key?: string } = {},
): Promise<LightMyRequestResponse> {
  const headers = { host: '127.0.0.1:8081' };
  return harness.call('GET', `/v1/auth/sso/${alias}/start${query}`, { headers, ...options });
}

/** Follows the provider's own redirects until it sends the browser back; that address. */
export async function browse(url: string): Promise<URL> {
  const jar = new Map<string, string>();
  let at = url;
  for (let hops = 0; hops < 10 && !at.startsWith(GATEWAY); hops++) {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(at, { redirect: 'manual', headers: { cookie } });
    for (const set of answer.headers.getSetCookie()) {
      const [pair = ''] = set.split(';', 1);
      jar.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1));
    }
    const location = answer.headers.get('location');
    if (location === null)
      throw new Error(`the provider stopped with ${answer.status}: ${await answer.text()}`);
    at = new URL(location, at).href;
  }
  return new URL(at);
}

/** Comes back from the provider with what the browser holds. */
export function arrive(harness: Harness, url: URL, cookie: string): Promise<LightMyRequestResponse> {
  return harness.call('GET', `${url.pathname}${url.search}`, { headers: { cookie } });
}
