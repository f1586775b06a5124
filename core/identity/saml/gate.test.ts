// The gate, given whatever comes: it refuses in one way, and it does not think for long.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SamlForge } from '../../../test/sim/saml/forge.ts';
import { acme } from '../../../test/sim/saml/keys.ts';
import { SsoFault } from '../sso/fault.ts';
import { passGate } from './gate.ts';

const acs_url = 'https://llm.example/v1/auth/sso/acme/acs';
const to = { entity_id: 'https://llm.example/metadata', acs_url, request_id: '_r', at: 1_790_000_000_000 };
const honest = new SamlForge('https://id.acme.example', acme).answer(to);
const inBase64 = (text: string) => Buffer.from(text).toString('base64');

/** What the gate says of `text`: the word of its refusal, or what it passed on. @throws whatever else was thrown. */
function said(text: string): string {
  try {
    return Buffer.from(passGate(inBase64(text), acs_url), 'base64').toString();
  } catch (error) {
    if (error instanceof SsoFault) return error.reason;
    throw error;
  }
}

test('the honest answer passes, byte for byte', () => {
  expect(said(honest)).toBe(honest);
});

const pieces = [
  '<',
  '>',
  '"',
  "'",
  '&',
  '/',
  '=',
  ' ',
  '<!--',
  '-->',
  '<![CDATA[',
  ']]>',
  '<?x?>',
  '<!DOCTYPE a>',
  ':',
  '\0',
  '\ud800',
  'ID',
  '</saml:Assertion>',
  '<saml:Assertion>',
  'xmlns=""',
  '&#x0;',
  '&amp;',
  '\u2028',
  'é',
];

test('any change of an honest answer is refused by a word, or leaves plain XML of the one shape', () => {
  const change = fc.record({
    at: fc.nat(honest.length),
    cut: fc.nat(40),
    put: fc.oneof(
      fc.constantFrom(...pieces),
      fc.string({ maxLength: 12 }),
      fc.string({ unit: 'binary', maxLength: 8 }),
    ),
  });
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), (changes) => {
      let text = honest;
      for (const { at, cut, put } of changes) text = text.slice(0, at) + put + text.slice(at + cut);
      const answer = said(text);
      if (/^[a-z_]+$/.test(answer)) return;
      expect(answer.match(/<saml:Assertion[\s>]/g)).toHaveLength(1);
      expect(answer).not.toMatch(/<!|<\?(?!xml )|\0/);
    }),
    { numRuns: 500 },
  );
});

test.each(['<', '&', ' ', '"', '<a ', '<a b="', '</', '<a>', '&#', 'a="b" ', ']]>', '<a:b:'])(
  'a quarter of a megabyte of %s is told apart at once, wherever it stands',
  (piece) => {
    const long = piece.repeat(Math.floor(250_000 / piece.length));
    const began = process.cpuUsage();
    // Between elements it may be plain text, which passes as it is.
    for (const text of [
      long,
      `<samlp:Response ${long}`,
      honest.replace('<samlp:Status>', `${long}<samlp:Status>`),
    ])
      expect(['answer_malformed', 'answer_too_large', text]).toContain(said(text));
    // Processor time, so that other programs of the machine do not count; it takes some hundredths of it.
    expect(process.cpuUsage(began).user).toBeLessThan(3_000_000);
  },
);

test('base64 that decoders read differently is refused', () => {
  const whole = inBase64(honest);
  for (const sent of [
    '',
    '=',
    whole.slice(1),
    `${whole}!`,
    `${whole}====`,
    whole.replaceAll('+', '-').replaceAll('/', '_').concat('-_-_'),
  ])
    expect(() => passGate(sent, acs_url)).toThrow(SsoFault);
  expect(passGate(whole.replace(/.{76}/g, '$&\r\n'), acs_url)).toBe(whole);
});
