// The only file that knows node-saml, and with it the only XML parser of the product. An assertion is read from what the
// library has verified (`getAssertion`), never from what was sent.
import { generateServiceProviderMetadata, SAML, ValidateInResponseTo } from '@node-saml/node-saml';
import { parseXml2JsFromString } from '@node-saml/node-saml/lib/xml.js';
import { secureBytes, sha256Hex } from '../../kernel/index.ts';
import { SsoFault } from '../sso/fault.ts';
import type { SamlFacts } from '../sso/types.ts';
import { REQUEST_MS, type RequestIds } from './requests.ts';

/** How far the clocks of a provider may be from ours. */
export const SKEW_MS = 60_000;

/** An element as the parser gives it: attributes under `$`, text under `_`, children by their local name. */
export interface Node {
  readonly $?: Readonly<Record<string, string>>;
  readonly _?: string;
  readonly [child: string]: unknown;
}

/** This service as one organization's provider knows it. */
export interface ServiceProvider {
  readonly entity_id: string;
  readonly acs_url: string;
  /** Null: requests are not signed. */
  readonly signing: { readonly private_key: string; readonly certificate: string } | null;
}

interface Exchange {
  readonly provider: SamlFacts;
  readonly own: ServiceProvider;
  readonly requests: RequestIds;
  readonly allow_idp_initiated: boolean;
  readonly fresh: boolean;
}

function openLibrary({ provider, own, requests, allow_idp_initiated, fresh }: Exchange): SAML {
  return new SAML({
    callbackUrl: own.acs_url,
    issuer: own.entity_id,
    audience: own.entity_id,
    entryPoint: provider.sso_url,
    idpIssuer: provider.entity_id,
    idpCert: [...provider.certificates],
    wantAssertionsSigned: true,
    // Checked where there is one; the assertion's is always asked for.
    wantAuthnResponseSigned: false,
    validateInResponseTo: allow_idp_initiated ? ValidateInResponseTo.ifPresent : ValidateInResponseTo.always,
    requestIdExpirationPeriodMs: REQUEST_MS,
    cacheProvider: requests,
    acceptedClockSkewMs: SKEW_MS,
    // Which form of name and which proof the provider uses is set up there.
    identifierFormat: null,
    disableRequestedAuthnContext: true,
    forceAuthn: fresh,
    signatureAlgorithm: 'sha256',
    digestAlgorithm: 'sha256',
    generateUniqueId: () => `_${secureBytes(20).toString('hex')}`,
    ...(own.signing === null
      ? {}
      : { privateKey: own.signing.private_key, publicCert: own.signing.certificate }),
  });
}

/** Where the browser goes to sign in; the request is noted under its id in `requests`. */
export function requestUrl(exchange: Exchange): Promise<string> {
  return openLibrary(exchange).getAuthorizeUrlAsync('', undefined, {});
}

/** The description of this service, for the provider. */
export function describeOwn(own: ServiceProvider): string {
  return generateServiceProviderMetadata({
    issuer: own.entity_id,
    callbackUrl: own.acs_url,
    identifierFormat: null,
    wantAssertionsSigned: true,
    // The id of the document: the same each time, so that a provider that compares sees no change.
    generateUniqueId: () => `_${sha256Hex(own.entity_id).slice(0, 40)}`,
    ...(own.signing === null
      ? {}
      : { privateKey: own.signing.private_key, publicCerts: own.signing.certificate }),
  });
}

/** The library says in words what was wrong. They are its own, so that an unknown one is only less exact. */
const words: readonly (readonly [RegExp, SsoFault['reason']])[] = [
  [/InResponseTo/, 'request_unknown'],
  [/signature|signed/i, 'signature_invalid'],
  [/not yet valid/, 'not_yet_valid'],
  [/expired|subject confirmation/, 'expired'],
  [/audience/i, 'audience_wrong'],
];

/** The assertion of an answer that passed the gate, as it was verified. @throws SsoFault. */
export async function verifiedAssertion(exchange: Exchange, answer: string): Promise<Node> {
  try {
    const { profile } = await openLibrary(exchange).validatePostResponseAsync({ SAMLResponse: answer });
    const assertion = profile?.getAssertion?.()['Assertion'];
    if (assertion === undefined) throw new SsoFault('answer_invalid');
    return assertion as Node;
  } catch (error) {
    if (error instanceof SsoFault || !(error instanceof Error)) throw error;
    const known = words.find(([pattern]) => pattern.test(error.message));
    throw new SsoFault(known?.[1] ?? 'answer_invalid', { cause: error });
  }
}

/** The root of a provider's description and its name. @throws SsoFault metadata_invalid. */
export async function parseMetadata(text: string): Promise<{ name: string; root: Node }> {
  try {
    const parsed = (await parseXml2JsFromString(text)) as Readonly<Record<string, Node>>;
    const [name = '', root] = Object.entries(parsed)[0] ?? [];
    if (typeof root === 'object') return { name, root };
  } catch (error) {
    throw new SsoFault('metadata_invalid', { cause: error });
  }
  throw new SsoFault('metadata_invalid');
}
