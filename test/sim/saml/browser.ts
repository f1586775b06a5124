// The browser of a person who signs in over SAML, as far as redirects, forms and cookies go.
import { inflateRawSync } from 'node:zlib';
import type { LightMyRequestResponse } from 'fastify';
import { expect } from 'vitest';
import type { Harness } from '../../registry/harness.ts';
import { cookieOf, leave } from '../sso-browser.ts';

export interface SamlBegun {
  readonly alias: string;
  readonly cookie: string;
  /** Where the browser was sent. */
  readonly url: URL;
  readonly request_id: string;
  /** The request itself. */
  readonly xml: string;
}

/** Presses the button, and reads what the browser takes along. */
export async function beginSaml(
  harness: Harness,
  alias = 'acme',
  query = '',
  options: { key?: string } = {},
): Promise<SamlBegun> {
  const answer = await leave(harness, alias, query, options);
  expect(answer.statusCode, answer.body).toBe(303);
  const url = new URL(String(answer.headers.location));
  const sent = Buffer.from(url.searchParams.get('SAMLRequest') as string, 'base64');
  const xml = inflateRawSync(sent).toString();
  const request_id = /\bID="([^"]+)"/.exec(xml)?.[1] as string;
  return { alias, cookie: cookieOf(answer, 'svc_sso'), url, request_id, xml };
}

/** Posts `form` to the address where answers are taken. No cookie goes along, as from a form of another site. */
export function postAnswer(
  harness: Harness,
  alias: string,
  form: Readonly<Record<string, string>> | string,
): Promise<LightMyRequestResponse> {
  const body = typeof form === 'string' ? form : new URLSearchParams(form).toString();
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    host: '127.0.0.1:8081',
    origin: 'https://id.acme.example',
  };
  return harness.call('POST', `/v1/auth/sso/${alias}/acs`, { headers, body });
}

export const inForm = (xml: string) => ({ SAMLResponse: Buffer.from(xml).toString('base64') });

/** Posts the answer `xml` and follows where it leads, with the browser's cookie: the last answer. */
export async function comeBack(
  harness: Harness,
  { alias, cookie }: Pick<SamlBegun, 'alias' | 'cookie'>,
  xml: string,
): Promise<LightMyRequestResponse> {
  const posted = await postAnswer(harness, alias, inForm(xml));
  if (posted.statusCode !== 303) return posted;
  const next = new URL(String(posted.headers.location));
  const own = cookieOf(posted, 'svc_sso');
  const headers = { cookie: own === '' ? cookie : own };
  return harness.call('GET', `${next.pathname}${next.search}`, { headers });
}
