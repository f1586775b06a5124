// What an answer of a SAML provider must look like before the library sees it. It only refuses: nothing that it reads is
// used, and what it lets pass has still to be verified.
import { SsoFault } from '../sso/fault.ts';
import { type Element, walk } from './strict.ts';

const BOUNDS = { bytes_max: 262_144, elements_max: 2_500, depth_max: 24 };

const PROTOCOL = 'urn:oasis:names:tc:SAML:2.0:protocol';
const ASSERTION = 'urn:oasis:names:tc:SAML:2.0:assertion';
const SIGNATURE = 'http://www.w3.org/2000/09/xmldsig#';
const SUCCESS = 'urn:oasis:names:tc:SAML:2.0:status:Success';

/** SHA-256 alone, and one canonical form. */
const ALGORITHMS: ReadonlySet<string> = new Set([
  'http://www.w3.org/2001/10/xml-exc-c14n#',
  'http://www.w3.org/2000/09/xmldsig#enveloped-signature',
  'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
  'http://www.w3.org/2001/04/xmlenc#sha256',
]);

/** The library looks for local names: each of these stands in its own namespace, so that none can be played by another. */
const HOMES: Readonly<Record<string, readonly string[]>> = {
  [PROTOCOL]: ['Response', 'Status', 'StatusCode', 'StatusMessage', 'StatusDetail'],
  [ASSERTION]: [
    ...['Assertion', 'Issuer', 'Subject', 'NameID', 'SubjectConfirmation', 'SubjectConfirmationData'],
    ...['Conditions', 'AudienceRestriction', 'Audience', 'AuthnStatement', 'AuthnContext'],
    ...['AuthnContextClassRef', 'AttributeStatement', 'Attribute', 'AttributeValue'],
  ],
  [SIGNATURE]: [
    ...[
      'Signature',
      'SignedInfo',
      'SignatureValue',
      'CanonicalizationMethod',
      'SignatureMethod',
      'Reference',
    ],
    ...['Transforms', 'Transform', 'DigestMethod', 'DigestValue', 'KeyInfo'],
  ],
};
const homeOf = new Map(Object.entries(HOMES).flatMap(([home, names]) => names.map((name) => [name, home])));

/** Places where a signed element could be hidden, or brought along. */
const REFUSED: ReadonlySet<string> = new Set([
  'Object',
  'Manifest',
  'Extensions',
  'Advice',
  'RetrievalMethod',
  'XPath',
]);
const ENCRYPTED = /^Encrypted/;
/** Names that decide something; one with a prefix is another attribute that some readers take for it. */
const DECIDING =
  /^(?:id|uri|algorithm|name|nameformat|value|recipient|inresponseto|notonorafter|notbefore)$|^(?:destination|issueinstant|version|method|format|assertionid|authninstant)$/i;

const malformed = () => new SsoFault('answer_malformed');

interface Seen {
  readonly ids: Set<string>;
  assertions: number;
  status: string | null;
  /** Elements that have a signature of their own already. */
  readonly signed: Set<Element>;
}

const attributeOf = ({ attributes }: Element, name: string) =>
  attributes.find(({ prefix, local }) => prefix === '' && local === name)?.value;

function checkAttributes(element: Element, seen: Seen): void {
  for (const { prefix, local, value } of element.attributes) {
    if (prefix === 'xmlns') continue;
    if (prefix !== '' && (DECIDING.test(local) || prefix === 'xml')) {
      if (prefix !== 'xml' || local !== 'lang') throw malformed();
    }
    if (local.toLowerCase() === 'id') {
      if (seen.ids.has(value) || !/^[A-Za-z_][\w.-]{0,255}$/.test(value)) throw malformed();
      seen.ids.add(value);
    }
    if (local === 'Algorithm' && !ALGORITHMS.has(value)) throw new SsoFault('algorithm_unsupported');
  }
}

function checkSignature(element: Element, seen: Seen): void {
  const { around } = element;
  const parent = around.at(-1);
  const is_own = around.length <= 2 && (parent?.local === 'Response' || parent?.local === 'Assertion');
  if (parent === undefined || !is_own || seen.signed.has(parent)) throw malformed();
  seen.signed.add(parent);
}

/** What the answer is to, as its outermost element says; signed or not, it must not say something else. */
function checkResponse(element: Element, acs_url: string): void {
  if (element.around.length > 0 || attributeOf(element, 'Version') !== '2.0') throw malformed();
  const destination = attributeOf(element, 'Destination');
  if (destination !== undefined && destination !== acs_url) throw new SsoFault('destination_wrong');
}

function check(element: Element, seen: Seen, acs_url: string): void {
  const { local, namespace, around } = element;
  if (ENCRYPTED.test(local)) throw new SsoFault('answer_encrypted');
  const home = homeOf.get(local);
  if ((home !== undefined && home !== namespace) || REFUSED.has(local)) throw malformed();
  if (around.length === 0 && local !== 'Response') throw malformed();
  checkAttributes(element, seen);
  if (local === 'Response') checkResponse(element, acs_url);
  else if (local === 'Signature') checkSignature(element, seen);
  else if (local === 'Assertion') {
    seen.assertions++;
    if (around.length !== 1 || seen.assertions > 1) throw malformed();
  } else if (local === 'StatusCode' && around.at(-1)?.local === 'Status') {
    if (around.length !== 2 || seen.status !== null) throw malformed();
    seen.status = attributeOf(element, 'Value') ?? '';
  }
}

/**
 * The answer in base64, from the very bytes that were looked at. @throws SsoFault when it is too large, no plain XML, or not
 * of the one shape that is taken: a response of success to `acs_url` with one assertion, signed with SHA-256.
 */
export function passGate(sent: string, acs_url: string): string {
  const body = sent.replace(/[\r\n\t ]+/g, '');
  if (body.length > Math.ceil(BOUNDS.bytes_max / 3) * 4) throw new SsoFault('answer_too_large');
  if (body.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(body)) throw malformed();
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(body, 'base64'));
  } catch {
    throw malformed();
  }
  const seen: Seen = { ids: new Set(), assertions: 0, status: null, signed: new Set() };
  walk(text, BOUNDS, (element) => check(element, seen, acs_url));
  if (seen.status !== SUCCESS)
    throw new SsoFault(seen.status === null ? 'answer_malformed' : 'provider_refused');
  if (seen.assertions !== 1) throw malformed();
  return Buffer.from(text).toString('base64');
}
