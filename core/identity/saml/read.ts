// What a verified assertion says, and whether it is for us, for now, and for the request that was made. Pure.
import { SsoFault } from '../sso/fault.ts';
import type { Asserted, AttributeMap } from '../sso/types.ts';
import { type Node, SKEW_MS } from './library.ts';

const TEXT_MAX = 256;
const GROUPS_MAX = 1_000;
/** A proof that was asked for anew may be as old as a slow sign-in. */
const PROOF_MS = 300_000;
/** The oldest assertion that is taken, whatever it says of its own life; so ids are remembered for about as long. */
const AGE_MS = 3_600_000;
const BEARER = 'urn:oasis:names:tc:SAML:2.0:cm:bearer';
const EMAIL_FORMAT = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress';
const CLAIMS = 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims';
const EMAILS = ['email', 'mail', 'urn:oid:0.9.2342.19200300.100.1.3', `${CLAIMS}/emailaddress`];
const NAMES = [
  'displayName',
  'urn:oid:2.16.840.1.113730.3.1.241',
  'http://schemas.microsoft.com/identity/claims/displayname',
];
const GROUPS = ['groups', 'memberOf', 'http://schemas.microsoft.com/ws/2008/06/identity/claims/groups'];
const MFA: ReadonlySet<string> = new Set([
  'https://refeds.org/profile/mfa',
  'http://schemas.microsoft.com/claims/multipleauthn',
]);

interface Expected {
  readonly entity_id: string;
  readonly audience: string;
  readonly acs_url: string;
  /** Null: the provider began. */
  readonly request_id: string | null;
  readonly fresh: boolean;
  readonly attribute_map: AttributeMap;
  readonly at: Date;
}

interface Read {
  readonly asserted: Asserted;
  readonly assertion_id: string;
  /** From then on the assertion is refused for its age, so that its id need not be remembered. */
  readonly useless_at: Date;
}

const invalid = () => new SsoFault('answer_invalid');

function children(node: Node, name: string): readonly Node[] {
  const found = Object.hasOwn(node, name) ? node[name] : undefined;
  if (!Array.isArray(found)) return [];
  // An element without attributes and children is its text alone.
  return found.map((one) => (typeof one === 'string' ? { _: one } : (one as Node)));
}

function only(node: Node, name: string): Node {
  const [first, ...others] = children(node, name);
  if (first === undefined || others.length > 0) throw invalid();
  return first;
}

const textOf = (node: Node) => (typeof node._ === 'string' ? node._.trim() : '');
const attributeOf = (node: Node, name: string) =>
  node.$ !== undefined && Object.hasOwn(node.$, name) ? node.$[name] : undefined;

/** @throws SsoFault answer_invalid when there is no such time. */
function timeOf(node: Node, name: string): number {
  const text = attributeOf(node, name) ?? '';
  const at = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/.test(text)
    ? Date.parse(text)
    : Number.NaN;
  if (Number.isNaN(at)) throw invalid();
  return at;
}

/** Refuses what is not valid at `at`; returns when it ends, in Unix milliseconds. */
function endOf(node: Node, at: number): number {
  const begins = attributeOf(node, 'NotBefore') === undefined ? 0 : timeOf(node, 'NotBefore');
  const ends = timeOf(node, 'NotOnOrAfter');
  if (begins > at + SKEW_MS) throw new SsoFault('not_yet_valid');
  if (ends <= at - SKEW_MS) throw new SsoFault('expired');
  return ends;
}

/** When the confirmation that is for us ends: by bearer, at our address, for our request. @throws SsoFault. */
function confirmationEnd(subject: Node, expected: Expected): number {
  let fault = new SsoFault('answer_invalid');
  for (const confirmation of children(subject, 'SubjectConfirmation')) {
    if (attributeOf(confirmation, 'Method') !== BEARER) continue;
    try {
      const data = only(confirmation, 'SubjectConfirmationData');
      if (attributeOf(data, 'Recipient') !== expected.acs_url) throw new SsoFault('recipient_wrong');
      // Present though the provider began: it was the answer to a request, of somebody.
      if ((attributeOf(data, 'InResponseTo') ?? null) !== expected.request_id)
        throw new SsoFault('request_unknown');
      return endOf(data, expected.at.getTime());
    } catch (error) {
      if (!(error instanceof SsoFault)) throw error;
      fault = error;
    }
  }
  throw fault;
}

function conditionsEnd(assertion: Node, expected: Expected): number {
  const conditions = only(assertion, 'Conditions');
  const restrictions = children(conditions, 'AudienceRestriction');
  const is_for_us = restrictions.every((one) =>
    children(one, 'Audience').some((audience) => textOf(audience) === expected.audience),
  );
  if (restrictions.length === 0 || !is_for_us) throw new SsoFault('audience_wrong');
  return endOf(conditions, expected.at.getTime());
}

/** Values of every attribute named `name`, in order; elements within values are no values. */
function valuesOf(assertion: Node, name: string): string[] {
  const attributes = children(assertion, 'AttributeStatement').flatMap((one) => children(one, 'Attribute'));
  return attributes
    .filter((one) => attributeOf(one, 'Name') === name)
    .flatMap((one) => children(one, 'AttributeValue'))
    .filter((value) => Object.keys(value).every((key) => key === '_' || key === '$'))
    .map(textOf)
    .filter((text) => text !== '' && text.length <= TEXT_MAX);
}

function firstOf(assertion: Node, names: readonly string[]): string[] {
  for (const name of names) {
    const values = valuesOf(assertion, name);
    if (values.length > 0) return values;
  }
  return [];
}

/** The one address that the assertion gives; two different ones are none. @throws SsoFault email_missing, email_ambiguous. */
function emailOf(assertion: Node, subject: Node, named: string | null): string {
  const name_id = only(subject, 'NameID');
  const format = attributeOf(name_id, 'Format');
  if (named === null && format === EMAIL_FORMAT && textOf(name_id) !== '') return textOf(name_id);
  const [first, ...others] = new Set(firstOf(assertion, named === null ? EMAILS : [named]));
  if (others.length > 0) throw new SsoFault('email_ambiguous');
  if (first !== undefined) return first;
  if (named === null && textOf(name_id).includes('@')) return textOf(name_id);
  throw new SsoFault('email_missing');
}

function provedAt(statements: readonly Node[], { fresh, at }: Expected): Date {
  const [statement] = statements;
  if (statement === undefined) throw invalid();
  const instant = timeOf(statement, 'AuthnInstant');
  for (const one of statements) {
    const has_end = attributeOf(one, 'SessionNotOnOrAfter') !== undefined;
    if (has_end && timeOf(one, 'SessionNotOnOrAfter') <= at.getTime() - SKEW_MS)
      throw new SsoFault('expired');
  }
  if (fresh && instant < at.getTime() - PROOF_MS) throw new SsoFault('proof_stale');
  return new Date(instant);
}

function hasSecondFactor(statements: readonly Node[]): boolean {
  return statements
    .flatMap((one) => children(one, 'AuthnContext'))
    .flatMap((one) => children(one, 'AuthnContextClassRef'))
    .some((one) => MFA.has(textOf(one)));
}

/** Whom `assertion`, as verified, signs in. @throws SsoFault. */
export function readAssertion(assertion: Node, expected: Expected): Read {
  const { attribute_map, at } = expected;
  const assertion_id = attributeOf(assertion, 'ID');
  if (assertion_id === undefined || attributeOf(assertion, 'Version') !== '2.0') throw invalid();
  if (textOf(only(assertion, 'Issuer')) !== expected.entity_id) throw new SsoFault('issuer_wrong');
  const issued = timeOf(assertion, 'IssueInstant');
  if (issued > at.getTime() + SKEW_MS) throw new SsoFault('not_yet_valid');
  if (issued + AGE_MS <= at.getTime() - SKEW_MS) throw new SsoFault('expired');
  const subject = only(assertion, 'Subject');
  const ends = [conditionsEnd(assertion, expected), confirmationEnd(subject, expected), issued + AGE_MS];
  const statements = children(assertion, 'AuthnStatement');
  const [name = ''] = firstOf(assertion, attribute_map.name === null ? NAMES : [attribute_map.name]);
  const groups = firstOf(assertion, attribute_map.groups === null ? GROUPS : [attribute_map.groups]);
  return {
    asserted: {
      email: emailOf(assertion, subject, attribute_map.email),
      name: [...name].slice(0, 120).join(''),
      groups: groups.length === 0 ? null : groups.slice(0, GROUPS_MAX),
      proved_at: provedAt(statements, expected),
      mfa: hasSecondFactor(statements),
    },
    assertion_id,
    useless_at: new Date(Math.min(...ends) + SKEW_MS),
  };
}
