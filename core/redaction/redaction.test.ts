import fc from 'fast-check';
import { RE2JS } from 're2js';
import { describe, expect, it } from 'vitest';
import { scanApiKeys } from './api-key.ts';
import { checkPatterns } from './custom.ts';
import { scanAadhaar, scanCards, scanPans, scanPhones } from './digits.ts';
import { scanEmails } from './email.ts';
import { Redactor, redactText } from './redactor.ts';
import { type Preset, presets, type Scan } from './types.ts';

const all = new Redactor({ presets, patterns: [] });
const only = (preset: Preset) => new Redactor({ presets: [preset], patterns: [] });
const redacted = (text: string, redactor = all) => redactText(redactor, text).text;

/** The presets as expressions of RE2: what they must find. */
const expressions: Record<Preset, string> = {
  api_key:
    '\\b(?:svc-(?:live|test)-[0-9A-Za-z]{38}|svc_scim_[0-9A-Za-z]{38}|svc-sess-[A-Za-z0-9_-]{43}|sk-ant-[A-Za-z0-9_-]{20,}|sk-[A-Za-z0-9_-]{20,}|[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|AKIA[0-9A-Z]{16}|AIza[0-9A-Za-z_-]{35}|gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{22,}|xox[abprs]-[A-Za-z0-9-]{10,}|glpat-[A-Za-z0-9_-]{20}|whsec_[A-Za-z0-9+/=]{24,}|hf_[A-Za-z0-9]{30,}|eyJ[A-Za-z0-9_-]{8,}\\.eyJ[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]{8,})|-----BEGIN [A-Z ]*PRIVATE KEY-----[\\s\\S]+?-----END [A-Z ]*PRIVATE KEY-----',
  email: '[A-Za-z0-9._%+-]{1,64}@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\\.)+[A-Za-z]{2,63}',
  card: '\\d(?:[ -]?\\d){12,18}',
  aadhaar: '[2-9]\\d{3}[ -]?\\d{4}[ -]?\\d{4}',
  pan: '\\b[A-Z]{3}[ABCFGHJLPT][A-Z]\\d{4}[A-Z]\\b',
  phone: '\\+[1-9]\\d{0,2}(?:[ ().-]{0,2}\\d){6,13}|\\b(?:0|91)?[6-9]\\d{9}\\b',
};
const scans: Record<Preset, Scan> = {
  api_key: scanApiKeys,
  email: scanEmails,
  card: scanCards,
  aadhaar: scanAadhaar,
  pan: scanPans,
  phone: scanPhones,
};

function luhn(digits: string): boolean {
  const sum = [...digits].reverse().reduce((total, letter, i) => {
    const n = Number(letter) * (i % 2 === 1 ? 2 : 1);
    return total + (n > 9 ? n - 9 : n);
  }, 0);
  return sum % 10 === 0;
}

/** Verhoeff by its definition: the dihedral group's own operation, and powers of one permutation. */
function verhoeff(digits: string): boolean {
  const times = (a: number, b: number) => {
    const turned = a < 5 ? (a + b) % 5 : (a - b + 5) % 5;
    return a < 5 === b < 5 ? turned : turned + 5;
  };
  const step = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4];
  let sum = 0;
  [...digits].reverse().forEach((letter, i) => {
    let n = Number(letter);
    for (let k = 0; k < i; k++) n = step[n] as number;
    sum = times(sum, n);
  });
  return sum === 0;
}

function holds(preset: Preset, text: string, from: number, to: number): boolean {
  if (preset === 'api_key' || preset === 'email' || preset === 'pan') return true;
  if (/\d[ -]?$/.test(text.slice(0, from)) || /^[ -]?\d/.test(text.slice(to))) return false;
  const digits = text.slice(from, to).replace(/\D/g, '');
  if (preset === 'aadhaar') return verhoeff(digits);
  if (preset === 'card') return /^[2-6]/.test(digits) && new Set(digits).size > 1 && luhn(digits);
  return true;
}

/** The spans by the expression itself: the end of a match begins the text anew, a match that fails its check does not. */
function oracle(preset: Preset, text: string): number[] {
  const expression = RE2JS.compile(expressions[preset]);
  const spans: number[] = [];
  let cut = 0;
  for (let from = 0; ; ) {
    const rest = text.slice(cut);
    const matcher = expression.matcher(rest);
    if (!matcher.find(from - cut)) return spans;
    if (holds(preset, rest, matcher.start(), matcher.end())) {
      spans.push(cut + matcher.start(), cut + matcher.end());
      cut = from = cut + matcher.end();
    } else from = cut + matcher.start() + 1;
  }
}

const PEM = `-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE KEY-----`;
const vectors: Record<Preset, readonly string[]> = {
  api_key: [
    'svc-live-0123456789ABCDEFGHIJKLMNOPQRSTUV1fDVvb',
    'svc-test-abcdefghijklmnopqrstuvwxyz0123453tc8vl',
    `svc_scim_${'a1'.repeat(19)}`,
    `svc-sess-${'a-_'.repeat(14)}b`,
    'sk-ant-api03-abcdefghijklmnopqrst',
    'sk-proj-abcdefghijklmnop1234',
    'sk_live_abcdefgh12345678',
    'rk_test_abcdefgh12345678',
    'AKIAIOSFODNN7EXAMPLE',
    `AIza${'x'.repeat(35)}`,
    `ghp_${'a'.repeat(36)}`,
    `github_pat_${'a'.repeat(22)}`,
    'xoxb-1234567890-abc',
    `glpat-${'a'.repeat(20)}`,
    `whsec_${'A'.repeat(24)}`,
    `hf_${'a'.repeat(30)}`,
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U',
    PEM,
  ],
  email: ['a@b.co', 'first.last+tag@mail.example.org', 'x_%y@a-b.c-d.museum'],
  card: ['4111 1111 1111 1111', '5555-5555-5555-4444', '378282246310005', '6011111111111117'],
  aadhaar: ['2341 2341 2346', '234123412346', '2341-2341-2346'],
  pan: ['ABCPE1234F'],
  phone: ['+91 98765 43210', '9876543210', '09876543210', '919876543210', '+1 (415) 555-2671'],
};

describe('the vectors of the presets', () => {
  it('are replaced by the marker of their preset', () => {
    expect(redacted('4111 1111 1111 1111')).toBe('[REDACTED:card]');
    expect(redacted('4111 1111 1111 1112')).toBe('4111 1111 1111 1112');
    expect(redacted('2341 2341 2346')).toBe('[REDACTED:aadhaar]');
    expect(redacted('2341 2341 2345')).toBe('2341 2341 2345');
    expect(redacted('ABCPE1234F')).toBe('[REDACTED:pan]');
    expect(redactText(all, 'a@b.co, +91 98765 43210')).toEqual({
      text: '[REDACTED:email], [REDACTED:phone]',
      redactions: 2,
      unscanned: 0,
    });
    for (const preset of presets) {
      for (const vector of vectors[preset])
        expect(redacted(vector, only(preset))).toBe(`[REDACTED:${preset}]`);
    }
  });

  it('are found wherever they stand, between any text that does not continue them', () => {
    const planted = presets.flatMap((preset) => vectors[preset].map((vector) => ({ preset, vector })));
    const around = fc.string({ unit: 'grapheme', maxLength: 40 });
    fc.assert(
      fc.property(around, fc.constantFrom(...planted), around, (before, { preset, vector }, after) => {
        const text = `${before}\u00a7(${vector})\u00a7${after}`;
        const out = redacted(text, only(preset));
        expect(out).not.toContain(vector);
        expect(out).toContain(`(${`[REDACTED:${preset}]`})`);
      }),
      { numRuns: 500 },
    );
  });

  it('are found at every place of a long text, in the order of the presets', () => {
    const filler = 'Lorem ipsum, dolor sit amet; '.repeat(20);
    const text = presets
      .flatMap((preset) => vectors[preset].map((vector) => `${filler}<${vector}>`))
      .join('');
    const count = presets.reduce((sum, preset) => sum + vectors[preset].length, 0);
    expect(redactText(all, text).redactions).toBe(count);
    for (const vector of presets.flatMap((preset) => vectors[preset]))
      expect(redacted(text)).not.toContain(vector);
  });
});

describe('the presets', () => {
  const tokens = presets
    .flatMap((preset) => vectors[preset])
    .concat([
      'eyJ',
      'eyJabcdefgh',
      '.',
      '@',
      'a@',
      'b.co',
      '+',
      '-',
      ' ',
      '  ',
      '1',
      '12',
      '4111',
      'sk-',
      'AKIA',
    ])
    .concat([
      '-----BEGIN PRIVATE KEY-----',
      '-----END PRIVATE KEY-----',
      'é',
      '_',
      '\n',
      'A',
      'a.b.c',
      '0',
      '91',
    ]);
  const texts = fc
    .array(fc.oneof(fc.constantFrom(...tokens), fc.string({ maxLength: 4 })), { maxLength: 12 })
    .map((parts) => parts.join(''));

  it.each(presets)('find what the expression of %s finds, checks included', (preset) => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(scans[preset](text) ?? []).toEqual(oracle(preset, text));
      }),
      { numRuns: 400 },
    );
  });

  it('find what the expressions find among digits and gaps, where rows touch each other', () => {
    const rows = fc.string({
      unit: fc.constantFrom('0', '1', '4', '6', '9', ' ', '-', '+', '(', '.', 'A', ','),
      minLength: 10,
      maxLength: 60,
    });
    fc.assert(
      fc.property(rows, (text) => {
        for (const preset of ['card', 'aadhaar', 'phone', 'pan'] as const)
          expect(scans[preset](text) ?? []).toEqual(oracle(preset, text));
      }),
      { numRuns: 400 },
    );
  });

  it('find each of two phone numbers that stand without a gap', () => {
    const text = '919876543210+91 98765 43210';
    expect(scans.phone(text)).toEqual(oracle('phone', text));
    expect(oracle('phone', text)).toEqual([0, 12, 12, 27]);
  });

  it('redact to what they leave alone: twice is once', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const once = redacted(text);
        expect(redactText(all, once)).toEqual({ text: once, redactions: 0, unscanned: 0 });
      }),
      { numRuns: 1_000 },
    );
  });

  it('take time in proportion to the text, whatever it is made of', () => {
    const hostile = [
      'eyJ-',
      'eyJaaaaaaaa-',
      'AKIA0123456789ABCDEFeyJ',
      'sk-aaaaaaaaaaaaaaaaaaaa-----BEGIN PRIVATE KEY-----',
      '-----BEGIN PRIVATE KEY-----',
      '-----BEGIN A ',
      'eyJaaaaaaaa.eyJbbbbbbbb.',
      'a',
      'a@',
      'a.',
      'a@b.c.',
      'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa@a.a.a.a.1',
      '1',
      '1 ',
      '12-',
      '+1 ',
      '+1(',
      '987654321 ',
      'A',
      'ABCP',
      '[REDACTED:card]',
      'sk_live_',
    ];
    const ms = (text: string) => {
      const from = performance.now();
      redacted(text);
      return performance.now() - from;
    };
    for (const unit of hostile) {
      const text = unit.repeat(Math.ceil(500_000 / unit.length));
      ms(text.slice(0, 1_000));
      // Quadratic would be minutes.
      expect([unit, ms(text) < 8_000]).toEqual([unit, true]);
    }
  });
});

describe('patterns of an organization', () => {
  const own = (...patterns: string[]) => new Redactor({ presets: [], patterns });

  it('come after the presets and are named by their place', () => {
    const redactor = new Redactor({ presets: ['email'], patterns: ['PRJ-\\d+', '(?i)secret'] });
    expect(redacted('SECRET of PRJ-17: a@b.co', redactor)).toBe(
      '[REDACTED:pattern_2] of [REDACTED:pattern_1]: [REDACTED:email]',
    );
  });

  it('do not look into markers, their own included', () => {
    expect(redacted('[REDACTED:card] REDACTED', own('REDACTED'))).toBe(
      '[REDACTED:card] [REDACTED:pattern_1]',
    );
    const once = redacted('xREDACTEDx', own('REDACTED', 'x'));
    expect(redacted(once, own('REDACTED', 'x'))).toBe(once);
  });

  it('are refused with their place where they are no RE2 syntax or match the empty string', () => {
    const refused = [
      '(?=a)b',
      '(?<=a)b',
      '(a)\\1',
      'a{1001}',
      '[',
      'a*',
      '\\b',
      '^',
      '$',
      '(?m)^',
      'x|',
      '(?:)',
    ];
    for (const pattern of refused) {
      expect(() => checkPatterns(['ok', pattern], 'data_policy.redact.patterns'), pattern).toThrow(
        expect.objectContaining({ code: 'invalid_pattern', param: 'data_policy.redact.patterns[1]' }),
      );
    }
    const too_many = Array.from({ length: 21 }, () => 'a');
    expect(() => checkPatterns(too_many, 'p')).toThrow(expect.objectContaining({ param: 'p' }));
    expect(() => checkPatterns(['a'.repeat(257)], 'p')).toThrow(expect.objectContaining({ param: 'p[0]' }));
    expect(() => checkPatterns(['a'.repeat(256), '\\p{L}{3}', '(?i)x', 'a{1000}'], 'p')).not.toThrow();
  });

  it('are refused where their repeats written out would keep the process busy', () => {
    const large = `(?:${'a?'.repeat(122)}){1000}`;
    const from = performance.now();
    for (const list of [[large], Array.from({ length: 20 }, () => large), ['ok', 'a{1000}'.repeat(36)]]) {
      expect(() => checkPatterns(list, 'p')).toThrow(expect.objectContaining({ code: 'invalid_pattern' }));
    }
    expect(performance.now() - from).toBeLessThan(12_000);
    const usual = ['a{1000}', '[A-Z]{2}\\d{6,12}', '(?:[0-9a-f]{4}-){7}[0-9a-f]{4}', '\\pL{1,500}'];
    expect(() => checkPatterns(usual, 'p')).not.toThrow();
  });

  it('do not explode on the text that is known for it', () => {
    const from = performance.now();
    expect(redacted(`${'a'.repeat(20_000)}!`, own('(a+)+$'))).toHaveLength(20_001);
    // Exponential would not end.
    expect(performance.now() - from).toBeLessThan(8_000);
  });
});

describe('the budget', () => {
  it('drops what lies behind it, and of a secret it cuts in two both halves', () => {
    const size = 1_048_576;
    for (const [before, secret] of [
      [size - 10, '4111 1111 1111 1111'],
      [size - 1_000, `${PEM.slice(0, 50)}${'A'.repeat(2_000)}\n-----END RSA PRIVATE KEY-----`],
    ] as const) {
      const text = `${'x '.repeat(before / 2)}${secret} and ${'y'.repeat(5_000)}`;
      const result = redactText(all, text);
      expect(result.text.endsWith('x [REDACTED:unscanned]')).toBe(true);
      expect(result.text).not.toMatch(/4111|BEGIN|AAAA/);
      expect(result.unscanned).toBe(text.length - (size - 4_096));
      expect(result.text.length).toBe(size - 4_096 + '[REDACTED:unscanned]'.length);
    }
  });

  it('never cuts a character in two', () => {
    for (const shift of ['', 'x']) {
      const { text } = redactText(all, shift + '😀'.repeat(600_000));
      expect(text.isWellFormed()).toBe(true);
    }
  });

  it('keeps a secret whole that it would cut, when all of it was seen', () => {
    const size = 1_048_576;
    const text = `${'x '.repeat((size - 4_106) / 2)}4111 1111 1111 1111 ${'y'.repeat(9_000)}`;
    expect(redactText(all, text).text.endsWith('x [REDACTED:card][REDACTED:unscanned]')).toBe(true);
  });
});
