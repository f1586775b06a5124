// Answers of a SAML provider that must sign nobody in, each named for what it tries. Mallory has an account at the provider and
// an honest answer to a request of her own; what she wants is to be somebody else, or to come twice. All of it is made from
// fixed keys, so that it is the same in every run but for ids of requests and times.
import { createHash } from 'node:crypto';
import { attribute, NAMES, type Said, type SamlForge, type SignOptions, type Target } from './forge.ts';

export interface Attack {
  readonly xml: string;
  /** The one word that the refusal says. */
  readonly reason: string;
}
export interface Parties {
  /** The provider of the organization. */
  readonly honest: SamlForge;
  /** Somebody else, under the same name. */
  readonly stranger: SamlForge;
  /** The provider of another organization. */
  readonly other: SamlForge;
  readonly to: Target;
}
type Make = (parties: Parties) => Attack;

const VICTIM = { email: 'victim@acme.example' };
const MINUTE = 60_000;

/** The parts that wrapping moves about: an honest signed assertion of Mallory's, and one of the victim that nobody signed. */
function parts({ honest, to }: Parties) {
  const bare = honest.assertion(to, { assertion_id: '_honest' });
  const signature = honest.signatureOf(bare);
  const signed = bare.replace('</saml:Issuer>', `</saml:Issuer>${signature}`);
  const evil = honest.assertion(to, { ...VICTIM, assertion_id: '_evil' });
  return { bare, signature, signed, evil, wrap: (inside: string) => honest.response(to, inside) };
}

/** The same for a signed response around a signed assertion. */
function whole({ honest, to }: Parties) {
  const inside = honest.signed(honest.assertion(to));
  const bare = honest.response(to, inside, { response_id: '_honest' });
  const signature = honest.signatureOf(bare);
  const evil = honest.response(to, honest.assertion(to, VICTIM), { response_id: '_evil' });
  return { bare, signature, signed: bare.replace('</saml:Issuer>', `</saml:Issuer>${signature}`), evil };
}

/** `text` behind the first issuer of `xml`. */
const behindIssuer = (xml: string, text: string) => xml.replace('</saml:Issuer>', `</saml:Issuer>${text}`);
const beforeEnd = (xml: string, text: string) =>
  xml.replace(/<\/(?:samlp:Response|saml:Assertion)>$/, `${text}$&`);
const inSignature = (signature: string, text: string) =>
  signature.replace('</ds:Signature>', `${text}</ds:Signature>`);
const malformed = (xml: string): Attack => ({ xml, reason: 'answer_malformed' });

/** The eight shapes of signature wrapping, numbered as in SAML Raider. */
const wrapping: Readonly<Record<string, Make>> = {
  'XSW1: the signed response inside the signature of a copy': (all) => {
    const { evil, bare, signature } = whole(all);
    return malformed(behindIssuer(evil, inSignature(signature, bare)));
  },
  'XSW2: the signed response beside a detached signature of it, in a copy': (all) => {
    const { evil, bare, signature } = whole(all);
    return malformed(behindIssuer(evil, `${bare}${signature}`));
  },
  'XSW3: another assertion before the signed one': (all) => {
    const { evil, signed, wrap } = parts(all);
    return malformed(wrap(`${evil}${signed}`));
  },
  'XSW4: the signed assertion inside another': (all) => {
    const { evil, signed, wrap } = parts(all);
    return malformed(wrap(beforeEnd(evil, signed)));
  },
  'XSW5: the signature in another assertion, the signed one at the end': (all) => {
    const { evil, bare, signature, wrap } = parts(all);
    return malformed(beforeEnd(wrap(behindIssuer(evil, signature)), bare));
  },
  'XSW6: the signed assertion inside its signature, which stands in another': (all) => {
    const { evil, bare, signature, wrap } = parts(all);
    return malformed(wrap(behindIssuer(evil, inSignature(signature, bare))));
  },
  'XSW7: another assertion in an extension': (all) => {
    const { evil, signed, wrap } = parts(all);
    return malformed(wrap(`<samlp:Extensions>${evil}</samlp:Extensions>${signed}`));
  },
  'XSW8: the signed assertion in an object of its signature, which stands in another': (all) => {
    const { evil, bare, signature, wrap } = parts(all);
    return malformed(wrap(behindIssuer(evil, inSignature(signature, `<ds:Object>${bare}</ds:Object>`))));
  },
};

/** One document that two readers take for two. */
const confusion: Readonly<Record<string, Make>> = {
  'a second ID by a prefix (attribute pollution)': (all) => {
    const { signed, wrap } = parts(all);
    return malformed(wrap(signed.replace(' ID="_honest"', ' ID="_evil" saml:ID="_honest"')));
  },
  'the same attribute twice': (all) => {
    const { signed, wrap } = parts(all);
    return malformed(wrap(signed.replace(' ID="_honest"', ' ID="_honest" ID="_evil"')));
  },
  'two ids that are the same': (all) => {
    const { signed, wrap } = parts(all);
    return malformed(wrap(signed).replace(/(<samlp:Response [^>]*)ID="[^"]*"/, '$1ID="_honest"'));
  },
  'an id in other letters that is the same': (all) => {
    const { signed, wrap } = parts(all);
    return malformed(wrap(signed).replace('<samlp:Status>', '<samlp:Status Id="_honest">'));
  },
  'a signature in a namespace of its own (namespace confusion)': (all) => {
    const { signed, wrap } = parts(all);
    return malformed(wrap(signed.replaceAll(NAMES.signature, 'urn:another:signature')));
  },
  'an assertion in a namespace of its own': (all) => {
    const { evil, signed, wrap } = parts(all);
    return malformed(wrap(`${signed}${evil.replaceAll(NAMES.assertion, 'urn:another:assertion')}`));
  },
  'the prefix of assertions bound anew inside': (all) => {
    const { signed, wrap } = parts(all);
    return malformed(wrap(signed.replace('<saml:Subject>', '<saml:Subject xmlns:saml="urn:another">')));
  },
  'a namespace that is relative (void canonicalization)': (all) => {
    const { signed, wrap } = parts(all);
    return malformed(wrap(signed).replace('<samlp:Response ', '<samlp:Response xmlns:ns="1" '));
  },
  'a prefix that nobody declared': (all) =>
    malformed(parts(all).wrap(parts(all).signed).replace('<samlp:Status>', '<x:a/><samlp:Status>')),
  'a comment in the address': ({ honest, to }) =>
    malformed(
      honest.answer(to, VICTIM).replace('victim@acme.example', 'victim@acme.example<!-- -->.evil.example'),
    ),
  'a comment in the digest': ({ honest, to }) => {
    const made = honest.answer(to, VICTIM, {
      digest_value: (value) => `${value.slice(0, 8)}<!-- -->${value.slice(8)}`,
    });
    return malformed(made);
  },
  'the digest of something else before a comment': ({ honest, to }) => {
    const forged = createHash('sha256').update('another').digest('base64');
    return malformed(honest.answer(to, VICTIM, { digest_value: (value) => `${forged}<!--${value}-->` }));
  },
  'an instruction in the address': ({ honest, to }) =>
    malformed(honest.answer(to).replace('mallory@acme.example', 'victim@acme.example<?x ?>')),
  'CDATA in the address': ({ honest, to }) =>
    malformed(honest.answer(to).replace('mallory@', '<![CDATA[victim]]>@')),
  'a document after the document': ({ honest, to }) => malformed(`${honest.answer(to)}<a/>`),
  'no XML at all': () => malformed('{"email":"victim@acme.example"}'),
  'an element that never ends': ({ honest, to }) =>
    malformed(honest.answer(to).replace('</samlp:Response>', '')),
  'an attribute without quotes': ({ honest, to }) =>
    malformed(honest.answer(to).replace('Version="2.0"', 'Version=2.0')),
};

const entity = (definition: string) => (xml: string) => `<!DOCTYPE r [${definition}]>${xml}`;
const bomb = [
  '<!ENTITY a "aaaaaaaaaa">',
  ...['b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'].map((name, at) => {
    const before = 'abcdefgh'[at];
    return `<!ENTITY ${name} "${`&${before};`.repeat(10)}">`;
  }),
].join('');

/** What reads files, or makes a parser grow. */
const expansion: Readonly<Record<string, Make>> = {
  'a document type': ({ honest, to }) => malformed(`<!DOCTYPE samlp:Response>${honest.answer(to)}`),
  'an entity that reads a file (XXE)': ({ honest, to }) =>
    malformed(
      entity('<!ENTITY x SYSTEM "file:///etc/hostname">')(honest.answer(to).replace('mallory@', '&x;@')),
    ),
  'an entity that asks an address': ({ honest, to }) =>
    malformed(entity('<!ENTITY % x SYSTEM "http://127.0.0.1:1/x"> %x;')(honest.answer(to))),
  'entities in entities (a billion laughs)': ({ honest, to }) =>
    malformed(entity(bomb)(honest.answer(to).replace('mallory@', '&i;@'))),
  'an entity that is not declared': ({ honest, to }) =>
    malformed(honest.answer(to).replace('mallory@', '&victim;@')),
  'a reference to no character': ({ honest, to }) =>
    malformed(honest.answer(to).replace('mallory@', '&#0;@')),
  'elements 10,000 deep': ({ honest, to }) => ({
    xml: honest.response(to, `${'<a>'.repeat(10_000)}${'</a>'.repeat(10_000)}`),
    reason: 'answer_too_large',
  }),
  'three thousand elements': ({ honest, to }) => ({
    xml: honest.response(to, '<a/>'.repeat(3_000)),
    reason: 'answer_too_large',
  }),
  'three hundred thousand bytes': ({ honest, to }) => ({
    xml: honest.answer(to, { attributes: attribute('padding', 'a'.repeat(300_000)) }),
    reason: 'answer_too_large',
  }),
  'a thousand attributes on one element': ({ honest, to }) =>
    malformed(
      honest
        .answer(to)
        .replace(
          '<samlp:Status>',
          `<samlp:Status ${Array.from({ length: 1_000 }, (_, n) => `a${n}=""`).join(' ')}>`,
        ),
    ),
};

const signatureFaults: Readonly<Record<string, Make>> = {
  'no signature': ({ honest, to }) => ({
    xml: honest.response(to, honest.assertion(to, VICTIM)),
    reason: 'signature_invalid',
  }),
  'a signed response around an assertion that is not signed': ({ honest, to }) => ({
    xml: honest.signed(honest.response(to, honest.assertion(to, VICTIM))),
    reason: 'signature_invalid',
  }),
  'a signed response whose assertion was exchanged': (all) => {
    const { signed } = whole(all);
    const evil = all.honest.assertion(all.to, VICTIM);
    return {
      xml: signed.replace(/<saml:Assertion .*<\/saml:Assertion>/, evil),
      reason: 'signature_invalid',
    };
  },
  'an address that was changed after signing': ({ honest, to }) => ({
    xml: honest.answer(to).replace('mallory@acme.example', VICTIM.email),
    reason: 'signature_invalid',
  }),
  'an attribute that was added after signing': ({ honest, to }) => ({
    xml: honest
      .answer(to)
      .replace(
        '</saml:Assertion>',
        `<saml:AttributeStatement>${attribute('groups', 'Platform')}</saml:AttributeStatement></saml:Assertion>`,
      ),
    reason: 'signature_invalid',
  }),
  'the key of a stranger': ({ stranger, to }) => ({
    xml: stranger.answer(to, VICTIM),
    reason: 'signature_invalid',
  }),
  'the key of a stranger, whose certificate comes along': ({ stranger, to }) => ({
    xml: stranger.answer(to, VICTIM, { key_info: stranger.certificate }),
    reason: 'signature_invalid',
  }),
  'the key of a stranger, beside the certificate that is trusted': ({ honest, stranger, to }) => ({
    xml: stranger.answer(to, VICTIM, { key_info: honest.certificate }),
    reason: 'signature_invalid',
  }),
  'two signatures of one assertion': (all) => {
    const { signed, signature, wrap } = parts(all);
    return malformed(wrap(behindIssuer(signed, signature)));
  },
  'a signature of nothing': (all) => {
    const { bare, wrap } = parts(all);
    return {
      xml: wrap(behindIssuer(bare, all.honest.signatureOf(bare, { uri: '' }))),
      reason: 'signature_invalid',
    };
  },
  'a signature of another element': ({ honest, to }) => {
    const response = honest.response(to, honest.assertion(to, VICTIM), { response_id: '_response' });
    const signature = honest.signatureOf(response);
    const at = response.lastIndexOf('</saml:Issuer>');
    return {
      xml: `${response.slice(0, at)}</saml:Issuer>${signature}${response.slice(at + '</saml:Issuer>'.length)}`,
      reason: 'signature_invalid',
    };
  },
  'a signature whose value is empty': ({ honest, to }) => ({
    xml: honest.answer(to).replace(/<ds:SignatureValue>[^<]*/, '<ds:SignatureValue>'),
    reason: 'signature_invalid',
  }),
};

function withAlgorithm(options: SignOptions): Make {
  return ({ honest, to }) => ({ xml: honest.answer(to, VICTIM, options), reason: 'algorithm_unsupported' });
}

const algorithms: Readonly<Record<string, Make>> = {
  'a signature with SHA-1': withAlgorithm({
    hash: 'sha1',
    signature_method: 'http://www.w3.org/2000/09/xmldsig#rsa-sha1',
    digest_method: 'http://www.w3.org/2000/09/xmldsig#sha1',
  }),
  'a digest with SHA-1': withAlgorithm({ digest_method: 'http://www.w3.org/2000/09/xmldsig#sha1' }),
  'the public key as the secret of an HMAC': (all) =>
    withAlgorithm({
      signature_method: 'http://www.w3.org/2000/09/xmldsig#hmac-sha1',
      hmac_key: all.honest.certificate,
    })(all),
  'no algorithm': withAlgorithm({ signature_method: '' }),
  'a canonical form that keeps comments': withAlgorithm({
    canonicalization: 'http://www.w3.org/2001/10/xml-exc-c14n#WithComments',
  }),
  'a transform by stylesheet': withAlgorithm({ transforms: ['http://www.w3.org/TR/1999/REC-xslt-19991116'] }),
  'a transform by path': withAlgorithm({ transforms: ['http://www.w3.org/TR/1999/REC-xpath-19991116'] }),
};

/** Honestly signed, and not for us, not now, or not for this request. */
function says(reason: string, said: (to: Target) => Said): Make {
  return ({ honest, to }) => ({ xml: honest.answer(to, said(to)), reason });
}

const meant: Readonly<Record<string, Make>> = {
  'the audience of another service': says('audience_wrong', () => ({
    audience: 'https://elsewhere.example/metadata',
  })),
  'an audience that begins alike': says('audience_wrong', ({ entity_id }) => ({
    audience: `${entity_id}.evil.example`,
  })),
  'no audience': says('audience_wrong', () => ({ audience: null })),
  'the recipient of another service': says('recipient_wrong', () => ({
    recipient: 'https://elsewhere.example/acs',
  })),
  'no recipient': says('recipient_wrong', () => ({ recipient: null })),
  'another destination': says('destination_wrong', () => ({ destination: 'https://elsewhere.example/acs' })),
  'an answer to a request that nobody made': says('request_unknown', () => ({
    in_response_to: '_made_up',
    subject_in_response_to: '_made_up',
  })),
  'an answer to no request': says('request_unknown', () => ({
    in_response_to: null,
    subject_in_response_to: null,
  })),
  'an assertion for another request in a response to this one': says('request_unknown', () => ({
    subject_in_response_to: '_another',
  })),
  'an assertion for no request in a response to this one': says('request_unknown', () => ({
    subject_in_response_to: null,
  })),
  'an assertion for this request in a response to none': says('request_unknown', () => ({
    in_response_to: null,
  })),
  'an assertion that has lapsed': says('expired', ({ at }) => ({ conditions_end: at - 2 * MINUTE })),
  'a confirmation that has lapsed': says('expired', ({ at }) => ({ not_on_or_after: at - 2 * MINUTE })),
  'a session that has lapsed': says('expired', ({ at }) => ({ session_end: at - 2 * MINUTE })),
  'an assertion of yesterday that claims a year': says('expired', ({ at }) => ({
    issued_at: at - 86_400_000,
    conditions_end: at + 365 * 86_400_000,
    not_on_or_after: at + 365 * 86_400_000,
  })),
  'a confirmation without an end': says('answer_invalid', () => ({ not_on_or_after: null })),
  'an assertion that is not valid yet': says('not_yet_valid', ({ at }) => ({ not_before: at + 2 * MINUTE })),
  'an assertion that is made tomorrow': says('not_yet_valid', ({ at }) => ({ issued_at: at + 86_400_000 })),
  'a confirmation that needs a key': says('answer_invalid', () => ({
    method: 'urn:oasis:names:tc:SAML:2.0:cm:holder-of-key',
  })),
  'another issuer': says('issuer_wrong', () => ({ issuer: 'https://id.elsewhere.example' })),
  'an assertion of another version': says('answer_invalid', () => ({ version: '1.1' })),
  'the refusal of the provider': says('provider_refused', () => ({
    status: 'urn:oasis:names:tc:SAML:2.0:status:Responder',
  })),
  'the assertion of the provider of another organization (mix-up)': ({ other, to }) => ({
    xml: other.answer(to, VICTIM),
    reason: 'signature_invalid',
  }),
  'the assertion of another provider under the name of this one': ({ honest, other, to }) => ({
    xml: other.answer(to, { ...VICTIM, issuer: honest.entity_id }),
    reason: 'signature_invalid',
  }),
  'an encrypted assertion': ({ honest, to }) => ({
    xml: honest.response(
      to,
      `<saml:EncryptedAssertion xmlns:saml="${NAMES.assertion}"><xenc:EncryptedData xmlns:xenc="http://www.w3.org/2001/04/xmlenc#"/></saml:EncryptedAssertion>`,
    ),
    reason: 'answer_encrypted',
  }),
  'no assertion': ({ honest, to }) => malformed(honest.response(to, '')),
  'two signed assertions': ({ honest, to }) =>
    malformed(
      honest.response(to, honest.signed(honest.assertion(to)) + honest.signed(honest.assertion(to, VICTIM))),
    ),
  'two different addresses': says('email_ambiguous', () => ({
    name_id: 'm',
    name_id_format: null,
    attributes: attribute('email', 'mallory@acme.example', VICTIM.email),
  })),
  'two attributes with different addresses': says('email_ambiguous', () => ({
    name_id: 'm',
    name_id_format: null,
    attributes: attribute('email', 'mallory@acme.example') + attribute('email', VICTIM.email),
  })),
  'no address': says('email_missing', () => ({ name_id: 'm', name_id_format: null })),
};

/** Every answer by its name. */
export const corpus: Readonly<Record<string, Make>> = {
  ...wrapping,
  ...confusion,
  ...expansion,
  ...signatureFaults,
  ...algorithms,
  ...meant,
};
