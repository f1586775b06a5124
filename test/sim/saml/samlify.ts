// An identity provider by `samlify`, which others wrote: it reads this service's description and its requests, and answers
// with what a person has.
import type { IdentityProviderInstance } from 'samlify';
import * as samlify from 'samlify';
import { acme } from './keys.ts';

const { IdentityProvider, ServiceProvider, SamlLib, Constants } = samlify;
// It asks for a validator of schemas; what it reads here is ours, and its signatures are checked all the same.
samlify.setSchemaValidator({ validate: async () => 'not validated' });

const ENTITY = 'https://id.acme.example/samlify';
const TEMPLATE =
  '<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="{ID}" Version="2.0" IssueInstant="{IssueInstant}" Destination="{Destination}" InResponseTo="{InResponseTo}">' +
  '<saml:Issuer>{Issuer}</saml:Issuer><samlp:Status><samlp:StatusCode Value="{StatusCode}"/></samlp:Status>' +
  '<saml:Assertion ID="{AssertionID}" Version="2.0" IssueInstant="{IssueInstant}"><saml:Issuer>{Issuer}</saml:Issuer>' +
  '<saml:Subject><saml:NameID Format="{NameIDFormat}">{NameID}</saml:NameID><saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer"><saml:SubjectConfirmationData NotOnOrAfter="{SubjectConfirmationDataNotOnOrAfter}" Recipient="{SubjectRecipient}" InResponseTo="{InResponseTo}"/></saml:SubjectConfirmation></saml:Subject>' +
  '<saml:Conditions NotBefore="{ConditionsNotBefore}" NotOnOrAfter="{ConditionsNotOnOrAfter}"><saml:AudienceRestriction><saml:Audience>{Audience}</saml:Audience></saml:AudienceRestriction></saml:Conditions>' +
  '<saml:AuthnStatement AuthnInstant="{IssueInstant}"><saml:AuthnContext><saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>' +
  '{AttributeStatement}</saml:Assertion></samlp:Response>';

export interface SamlPerson {
  readonly email: string;
  readonly name: string;
  readonly group: string;
}

export interface Samlify {
  /** Its description. */
  readonly metadata: string;
  /** Reads the request at `url` and answers it for `person`: the document. @throws Error when the request is not as it must be. */
  answer(url: URL, own_metadata: string, person: SamlPerson): Promise<string>;
}

/** A provider that signs assertions, and the whole response where `both`; with `wants_signed` it refuses unsigned requests. */
export function openSamlify(options: { wants_signed?: boolean; both?: boolean } = {}): Samlify {
  const wants_signed = options.wants_signed === true;
  const attribute = (name: string, tag: string) => ({
    ...{ name, valueTag: tag, nameFormat: 'urn:oasis:names:tc:SAML:2.0:attrname-format:basic' },
    valueXsiType: 'xs:string',
  });
  const provider: IdentityProviderInstance = IdentityProvider({
    entityID: ENTITY,
    signingCert: acme.certificate,
    privateKey: acme.key,
    wantAuthnRequestsSigned: wants_signed,
    messageSigningOrder: 'sign-then-encrypt',
    singleSignOnService: [
      { Binding: Constants.namespace.binding.redirect, Location: 'https://id.acme.example/samlify/sso' },
    ],
    nameIDFormat: ['urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress'],
    loginResponseTemplate: {
      context: TEMPLATE,
      attributes: [attribute('displayName', 'name'), attribute('groups', 'group')],
    },
  });
  return {
    metadata: provider.getMetadata(),
    async answer(url, own_metadata, person) {
      const own = ServiceProvider({
        metadata: own_metadata,
        ...(options.both === true ? { wantMessageSigned: true } : {}),
      });
      const query = Object.fromEntries(url.searchParams);
      const octetString = url.search
        .slice(1)
        .split('&')
        .filter((part) => !part.startsWith('Signature='))
        .join('&');
      const read = await provider.parseLoginRequest(own, 'redirect', { query, octetString });
      const request_id = read.extract.request?.id as string;
      const made = await provider.createLoginResponse(
        own,
        { extract: read.extract },
        'post',
        { email: person.email },
        (template: string) => {
          const at = new Date();
          const later = new Date(at.getTime() + 300_000).toISOString();
          const acs = own.entityMeta.getAssertionConsumerService('post') as string;
          const id = `_${request_id.slice(1, 20)}`;
          const values = {
            ...{ ID: `${id}r`, AssertionID: `${id}a`, IssueInstant: at.toISOString(), Issuer: ENTITY },
            ...{ Destination: acs, SubjectRecipient: acs, Audience: own.entityMeta.getEntityID() },
            ...{ InResponseTo: request_id, StatusCode: Constants.StatusCode.Success, NameID: person.email },
            NameIDFormat: 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress',
            ...{ ConditionsNotBefore: at.toISOString(), ConditionsNotOnOrAfter: later },
            SubjectConfirmationDataNotOnOrAfter: later,
            ...{ attrName: person.name, attrGroup: person.group },
          };
          return { id, context: SamlLib.replaceTagsByValue(template, values) };
        },
      );
      return Buffer.from(made.context, 'base64').toString();
    },
  };
}
