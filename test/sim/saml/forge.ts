// A SAML provider that says whatever a test wants, honestly signed or not. It writes XML in its canonical form by hand and
// shares no code with the product or its library, so that neither can be wrong in the same way.
import { createHash, createHmac, sign } from 'node:crypto';

export const NAMES = {
  protocol: 'urn:oasis:names:tc:SAML:2.0:protocol',
  assertion: 'urn:oasis:names:tc:SAML:2.0:assertion',
  signature: 'http://www.w3.org/2000/09/xmldsig#',
};
const EXCLUSIVE = 'http://www.w3.org/2001/10/xml-exc-c14n#';
const ENVELOPED = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature';
const SUCCESS = 'urn:oasis:names:tc:SAML:2.0:status:Success';

/** What a signature is made with, and what it says that it was made with. */
export interface SignOptions {
  readonly signature_method?: string;
  readonly digest_method?: string;
  readonly hash?: 'sha1' | 'sha256' | 'sha512';
  readonly canonicalization?: string;
  readonly transforms?: readonly string[];
  /** Replaces the value of the digest. */
  readonly digest_value?: (honest: string) => string;
  /** Signs by HMAC with this text, as if it were a key that both sides have. */
  readonly hmac_key?: string;
  /** A certificate that the signature brings along. */
  readonly key_info?: string;
  readonly uri?: string;
}

/** Everything that an answer says; each member has an honest default. */
export interface Said {
  readonly email?: string;
  /** Inside NameID, in place of the address. */
  readonly name_id?: string;
  readonly name_id_format?: string | null;
  readonly attributes?: string;
  readonly issuer?: string;
  readonly assertion_id?: string;
  readonly response_id?: string;
  readonly audience?: string | null;
  readonly recipient?: string | null;
  readonly destination?: string | null;
  /** Of the response; null leaves it out. */
  readonly in_response_to?: string | null;
  /** Of the subject; null leaves it out. */
  readonly subject_in_response_to?: string | null;
  readonly method?: string;
  readonly issued_at?: number;
  readonly not_before?: number;
  readonly not_on_or_after?: number | null;
  readonly conditions_end?: number;
  readonly authn_instant?: number;
  readonly session_end?: number;
  readonly context_class?: string;
  readonly status?: string;
  readonly version?: string;
}

export interface Target {
  readonly entity_id: string;
  readonly acs_url: string;
  readonly request_id: string;
  /** Unix milliseconds. */
  readonly at: number;
}

const timeOf = (ms: number) => new Date(ms).toISOString();
const optional = (name: string, value: string | null) => (value === null ? '' : ` ${name}="${value}"`);

/** An attribute with its values, in canonical form. */
export function attribute(name: string, ...values: string[]): string {
  const inner = values.map((value) => `<saml:AttributeValue>${value}</saml:AttributeValue>`).join('');
  return `<saml:Attribute Name="${name}">${inner}</saml:Attribute>`;
}

/** Puts `signature` where it belongs: behind the issuer. */
const insert = (xml: string, signature: string) =>
  xml.replace('</saml:Issuer>', `</saml:Issuer>${signature}`);

export class SamlForge {
  readonly entity_id: string;
  readonly certificate: string;
  readonly #key: string;
  #made = 0;

  constructor(entity_id: string, pair: { key: string; certificate: string }) {
    this.entity_id = entity_id;
    this.certificate = pair.certificate.trim();
    this.#key = pair.key;
  }

  #id(kind: string): string {
    return `_${createHash('sha256')
      .update(`${this.certificate} ${kind} ${++this.#made}`)
      .digest('hex')
      .slice(0, 32)}`;
  }

  /** An assertion without a signature. */
  assertion(to: Target, said: Said = {}): string {
    const issued = timeOf(said.issued_at ?? to.at);
    const id = said.assertion_id ?? this.#id('assertion');
    const not_on_or_after = said.not_on_or_after === undefined ? to.at + 300_000 : said.not_on_or_after;
    const format =
      said.name_id_format === undefined
        ? 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress'
        : said.name_id_format;
    const subject_to =
      said.subject_in_response_to === undefined ? to.request_id : said.subject_in_response_to;
    const recipient = said.recipient === undefined ? to.acs_url : said.recipient;
    const audience = said.audience === undefined ? to.entity_id : said.audience;
    const session_end = said.session_end === undefined ? null : timeOf(said.session_end);
    const data =
      optional('InResponseTo', subject_to) +
      optional('NotOnOrAfter', not_on_or_after === null ? null : timeOf(not_on_or_after)) +
      optional('Recipient', recipient);
    const conditions = `NotBefore="${timeOf(said.not_before ?? to.at - 60_000)}" NotOnOrAfter="${timeOf(said.conditions_end ?? to.at + 300_000)}"`;
    const restriction =
      audience === null
        ? ''
        : `<saml:AudienceRestriction><saml:Audience>${audience}</saml:Audience></saml:AudienceRestriction>`;
    return (
      `<saml:Assertion xmlns:saml="${NAMES.assertion}" ID="${id}" IssueInstant="${issued}" Version="${said.version ?? '2.0'}">` +
      `<saml:Issuer>${said.issuer ?? this.entity_id}</saml:Issuer>` +
      `<saml:Subject><saml:NameID${optional('Format', format)}>${said.name_id ?? said.email ?? 'mallory@acme.example'}</saml:NameID>` +
      `<saml:SubjectConfirmation Method="${said.method ?? 'urn:oasis:names:tc:SAML:2.0:cm:bearer'}">` +
      `<saml:SubjectConfirmationData${data}></saml:SubjectConfirmationData></saml:SubjectConfirmation></saml:Subject>` +
      `<saml:Conditions ${conditions}>${restriction}</saml:Conditions>` +
      `<saml:AuthnStatement AuthnInstant="${timeOf(said.authn_instant ?? to.at)}"${optional('SessionNotOnOrAfter', session_end)}>` +
      `<saml:AuthnContext><saml:AuthnContextClassRef>${said.context_class ?? 'urn:oasis:names:tc:SAML:2.0:ac:classes:Password'}</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>` +
      `${said.attributes === undefined ? '' : `<saml:AttributeStatement>${said.attributes}</saml:AttributeStatement>`}</saml:Assertion>`
    );
  }

  /** A response around `inside`, without a signature. */
  response(to: Target, inside: string, said: Said = {}): string {
    const destination = said.destination === undefined ? to.acs_url : said.destination;
    const answer_to = said.in_response_to === undefined ? to.request_id : said.in_response_to;
    const attributes =
      optional('Destination', destination) +
      optional('ID', said.response_id ?? this.#id('response')) +
      optional('InResponseTo', answer_to);
    return (
      `<samlp:Response xmlns:samlp="${NAMES.protocol}"${attributes} IssueInstant="${timeOf(to.at)}" Version="2.0">` +
      `<saml:Issuer xmlns:saml="${NAMES.assertion}">${said.issuer ?? this.entity_id}</saml:Issuer>` +
      `<samlp:Status><samlp:StatusCode Value="${said.status ?? SUCCESS}"></samlp:StatusCode></samlp:Status>` +
      `${inside}</samlp:Response>`
    );
  }

  /** The signature of `xml`, an element in canonical form with an ID. */
  signatureOf(xml: string, options: SignOptions = {}): string {
    const id = /\bID="([^"]*)"/.exec(xml)?.[1] ?? '';
    const hash = options.hash ?? 'sha256';
    const honest = createHash(hash).update(xml).digest('base64');
    const transforms = (options.transforms ?? [ENVELOPED, EXCLUSIVE])
      .map((one) => `<ds:Transform Algorithm="${one}"></ds:Transform>`)
      .join('');
    const method = options.signature_method ?? 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256';
    const info =
      `<ds:SignedInfo xmlns:ds="${NAMES.signature}">` +
      `<ds:CanonicalizationMethod Algorithm="${options.canonicalization ?? EXCLUSIVE}"></ds:CanonicalizationMethod>` +
      `<ds:SignatureMethod Algorithm="${method}"></ds:SignatureMethod>` +
      `<ds:Reference URI="${options.uri ?? `#${id}`}"><ds:Transforms>${transforms}</ds:Transforms>` +
      `<ds:DigestMethod Algorithm="${options.digest_method ?? 'http://www.w3.org/2001/04/xmlenc#sha256'}"></ds:DigestMethod>` +
      `<ds:DigestValue>${honest}</ds:DigestValue></ds:Reference></ds:SignedInfo>`;
    const value =
      options.hmac_key === undefined
        ? sign(hash, Buffer.from(info), this.#key).toString('base64')
        : createHmac('sha1', options.hmac_key).update(info).digest('base64');
    // Where it stands the prefix is declared around it already, and the canonical form has no declaration twice.
    const placed = info.replace(` xmlns:ds="${NAMES.signature}"`, '');
    const sent =
      options.digest_value === undefined ? placed : placed.replace(honest, options.digest_value(honest));
    const key_info =
      options.key_info === undefined
        ? ''
        : `<ds:KeyInfo><ds:X509Data><ds:X509Certificate>${options.key_info.replace(/-----[^-]+-----|\s/g, '')}</ds:X509Certificate></ds:X509Data></ds:KeyInfo>`;
    return `<ds:Signature xmlns:ds="${NAMES.signature}">${sent}<ds:SignatureValue>${value}</ds:SignatureValue>${key_info}</ds:Signature>`;
  }

  signed(xml: string, options: SignOptions = {}): string {
    return insert(xml, this.signatureOf(xml, options));
  }

  /** The answer of an honest provider: a signed assertion in a response, which is signed too where `both`. */
  answer(to: Target, said: Said = {}, options: SignOptions & { both?: boolean } = {}): string {
    const response = this.response(to, this.signed(this.assertion(to, said), options), said);
    return options.both === true ? this.signed(response) : response;
  }

  /** Its description, as an honest provider publishes it. */
  metadata(options: { sso_url?: string; certificates?: readonly string[]; more?: string } = {}): string {
    const keys = (options.certificates ?? [this.certificate]).map(
      (one) =>
        `<md:KeyDescriptor use="signing"><ds:KeyInfo xmlns:ds="${NAMES.signature}"><ds:X509Data><ds:X509Certificate>${one.replace(/-----[^-]+-----|\s/g, '')}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>`,
    );
    return (
      `<?xml version="1.0" encoding="UTF-8"?>\n<!-- of a test -->\n` +
      `<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${this.entity_id}"${options.more ?? ''}>` +
      `<md:IDPSSODescriptor protocolSupportEnumeration="${NAMES.protocol}">${keys.join('')}` +
      `<md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="${options.sso_url ?? 'https://id.acme.example/sso'}"/>` +
      `</md:IDPSSODescriptor></md:EntityDescriptor>`
    );
  }
}
