// The corpus of the grammar: what is a policy, and which error at which place a text gets that is none.
import fc from 'fast-check';
import { Compile } from 'typebox/compile';
import { describe, expect, test } from 'vitest';
import { policySchema, validatePolicy } from '../index.ts';
import { shapeFindings } from '../shape.ts';
import { knownNames } from '../test-kit.ts';
import { PolicyDocument, reservedKeys } from '../types.ts';

function judge(text: string, name: string | null = null) {
  return validatePolicy(text, knownNames, name);
}
/** `path: message` of each fault. */
function faults(text: string): string[] {
  const verdict = judge(text);
  return verdict.valid ? [] : verdict.faults.map(({ path, message }) => `${path}: ${message}`);
}
function notices(text: string, name: string | null = null): string[] {
  const verdict = judge(text, name);
  if (!verdict.valid) throw new Error(verdict.faults.map((fault) => fault.message).join());
  return verdict.notices.map(({ path, message }) => `${path}: ${message}`);
}

const valid = {
  'an empty mapping': '{}',
  'the private example': `version: 1
policy: eu-private
defaults: {sort: price, require: {zdr: true, no_train: true, regions: [eu]}, lock: [providers]}
rules: [{name: no-images, match: {modalities_in: [image]}, deny: {message: Images may not leave the network}}]`,
  'the example of agents': `version: 1
policy: agents
defaults: {sort: balanced, weights: {price: 0.5, latency: 0.3, uptime: 0.2}, affinity: session, max_attempts: 4}
rules:
  - {name: long, match: {input_tokens: {min: 200000}}, sort: price, timeouts: {first_event_ms: 180000}}
  - name: office-hours
    match: {models: ["acme/*"], time: {tz: Asia/Kolkata, days: [mon, tue], from: "09:00", to: "19:00"}}
    sort: latency
    fallback_models: [other/medium]`,
  'JSON, which is YAML': '{"version":1,"rules":[{"match":{},"deny":{"message":"no"}}]}',
  'every single form of match': `rules:
  - match: {model: acme/**, vendor: acme, project_id: prj_01KACZ3V8S6T5R4Q3P2N1M0K9J,
      key_id: key_01KACZ3V8S6T5R4Q3P2N1M0K9J, dialect: chat, stream: true, has: [tools], apps: [x],
      metadata: {team: ["a-*", b]}, not: {models: [acme/small]}}
    require: {max_price: {input: 3, output: 15.5, request: 0.01}, capabilities: [tools], min_uptime: 0.9}`,
};

test.each(Object.entries(valid))('%s is a policy', (_name, text) => {
  expect(faults(text)).toEqual([]);
});

const invalid: [string, string, string][] = [
  ['an empty text', '', '$: the document is empty; expected a policy'],
  ['a comment alone', '# nothing\n', '$: the document is empty; expected a policy'],
  ['null', '~', '$: null; expected a mapping'],
  ['a list', '- a', '$: a list; expected a mapping'],
  ['plain text', 'price', '$: "price"; expected a mapping'],
  ['two documents', '{}\n---\n{}', '$: not YAML: '],
  ['broken YAML', 'rules: [', '$: not YAML: '],
  ['a doubled key', 'sort: price\nsort: price', '$: not YAML: '],
  ['an anchor', 'defaults: &a {sort: price}', '$: an anchor; expected none'],
  ['a merge by alias', 'defaults: &a {}\nrules: [*a]', '$: an anchor; expected none'],
  ['a tag', 'description: !!str 1', '$: a tag; expected none'],
  ['a number as key', '1: x', '$: a key that is not text; expected text'],
  ['another version', 'version: 2', 'version: 2; expected 1'],
  ['an unknown key', 'routes: []', 'routes: unknown key "routes"; expected version, policy'],
  ['a key of Object', '__proto__: {}', '__proto__: unknown key "__proto__"; expected version'],
  ['an unknown sort', 'sort: fast', 'sort: "fast"; expected price, latency, throughput, uptime or balanced'],
  ['a missing match', 'rules: [{sort: price}]', 'rules[0].match: match is missing; expected a mapping'],
  [
    'a scalar for a list',
    'rules: [{match: {}}, {match: {}}, {match: {models: acme/large}}]',
    'rules[2].match.models: "acme/large"; expected a list',
  ],
  [
    'an empty list',
    'defaults: {providers: {only: []}}',
    'defaults.providers.only: an empty list; expected at',
  ],
  [
    'a fraction',
    'defaults: {max_attempts: 1.5}',
    'defaults.max_attempts: 1.5; expected an integer from 1 to 6',
  ],
  ['text for a number', 'defaults: {max_attempts: "3"}', 'defaults.max_attempts: "3"; expected an integer'],
  [
    'too many attempts',
    'defaults: {max_attempts: 7}',
    'defaults.max_attempts: 7; expected an integer from 1 to 6',
  ],
  [
    'an infinite price',
    'defaults: {require: {max_price: {input: .inf}}}',
    'defaults.require.max_price.input: Inf',
  ],
  ['null for a mapping', 'defaults:', 'defaults: null; expected a mapping'],
  ['yes for true', 'defaults: {fallbacks: yes}', 'defaults.fallbacks: "yes"; expected true or false'],
  [
    'deny with actions',
    'rules: [{match: {}, deny: {}, sort: price}]',
    'rules[0].deny: deny beside "sort"; expected deny or actions, not both',
  ],
  ['hedging', 'defaults: {hedge: {after_ms: 300}}', 'defaults.hedge: hedge is reserved for a later release;'],
  ['defaults_for', 'defaults: {defaults_for: {}}', 'defaults.defaults_for: defaults_for is reserved'],
  ['users', 'rules: [{match: {users: {hash_mod: [1, 2]}}}]', 'rules[0].match.users: users is reserved'],
  [
    'an inner not',
    'rules: [{match: {not: {not: {}}}}]',
    'rules[0].match.not.not: unknown key "not"; expected',
  ],
  ['101 rules', `rules: [${'{match: {}},'.repeat(101)}]`, 'rules: 101 items; expected at most 100'],
  [
    'six fallbacks',
    'defaults: {fallback_models: [a,b,c,d,e,f]}',
    'defaults.fallback_models: 6 items; expected at',
  ],
  [
    'an unknown provider',
    'defaults: {providers: {only: [gamma]}}',
    'defaults.providers.only[0]: no provider "gam',
  ],
  [
    'an unknown endpoint',
    'defaults: {endpoints: {order: [ep_z]}}',
    'defaults.endpoints.order[0]: no endpoint "ep',
  ],
  [
    'a provider as endpoint',
    'defaults: {endpoints: {only: [alpha]}}',
    'defaults.endpoints.only[0]: no endpoint "al',
  ],
  [
    'an unknown model',
    'rules: [{match: {models: [acme/huge]}}]',
    'rules[0].match.models[0]: no model "acme/huge"',
  ],
  [
    'an unknown fallback',
    'defaults: {fallback_models: [acme/huge]}',
    'defaults.fallback_models[0]: no model',
  ],
  [
    'a doubled rule name',
    'rules: [{name: a, match: {models: [acme/*]}}, {name: a, match: {}}]',
    'rules[1].name: "a" names two rules; expected a name of its own',
  ],
  [
    'weights beside price',
    'defaults: {sort: price, weights: {price: 1}}',
    'defaults.weights: weights beside sort',
  ],
  [
    'weights under a default that sorts by price',
    'sort: price\nrules: [{match: {}, weights: {price: 1}}]',
    'rules[0].weights: weights beside sort price; expected sort balanced',
  ],
  [
    'a turned range',
    'rules: [{match: {input_tokens: {min: 2, max: 1}}}]',
    'rules[0].match.input_tokens: min 2 ab',
  ],
  [
    'a time zone',
    'rules: [{match: {time: {tz: Mars/Base}}}]',
    'rules[0].match.time.tz: "Mars/Base"; expected a',
  ],
  [
    'an hour of 25',
    'rules: [{match: {time: {tz: UTC, from: "25:00"}}}]',
    'rules[0].match.time.from: "25:00"; exp',
  ],
  [
    'nine wildcards',
    'rules: [{match: {models: ["*a*a*a*a*a*a*a*a*"]}}]',
    'rules[0].match.models[0]: 9 wildcards;',
  ],
  [
    'arms of 90 percent',
    'rules: [{match: {}, experiment: {name: x, arms: [{name: control, percent: 90}]}}]',
    'rules[0].experiment.arms: percents sum to 90; expected 100',
  ],
  [
    'a canary that its own policy excludes',
    'defaults: {require: {zdr: true}}\nrules: [{match: {}, canary: {endpoint: ep_a, percent: 5}}]',
    "rules[0].canary.endpoint: the policy's own require.zdr excludes it; expected an endpoint that may serve",
  ],
  [
    'an endpoint that is the canary of two rules',
    'rules: [{match: {stream: true}, canary: {endpoint: ep_a, percent: 5}}, {match: {}, canary: {endpoint: ep_a, percent: 1}}]',
    'rules[1].canary.endpoint: "ep_a" is the canary of another rule; expected one rule for each',
  ],
  [
    'a shadow at the expense of the platform',
    'rules: [{match: {}, shadow: {endpoint: ep_a, percent: 5, bill: platform}}]',
    'rules[0].shadow.bill: platform, but the organization has no shadow allowance; expected org',
  ],
  ['control characters', 'description: "a\\u0007"', 'description: "a\\u0007"; expected text without control'],
];

test.each(invalid)('%s is refused where it stands', (_name, text, expected) => {
  const [first] = faults(text);
  expect(first?.slice(0, expected.length)).toBe(expected);
});

test('a text of 64 KiB passes and one byte more does not', () => {
  const text = `{} #${'x'.repeat(65_532)}`;
  expect(Buffer.byteLength(text)).toBe(65_536);
  expect(faults(text)).toEqual([]);
  expect(faults(`${text}x`)).toEqual(['$: 65537 bytes; expected at most 65536']);
});

test('brackets without end, or keys without end, are refused and end no process', () => {
  for (const text of ['['.repeat(60_000), '{a: '.repeat(15_000), '- '.repeat(30_000), '? '.repeat(30_000)]) {
    const verdict = judge(text);
    expect(verdict.valid).toBe(false);
  }
});

test('an error has the line and column of the part, or of its parent where the part is missing', () => {
  const text = 'version: 1\nrules:\n  - name: a\n    match: {}\n  - name: b\n    sort: fast\n';
  const verdict = judge(text);
  expect(verdict).toEqual({
    valid: false,
    faults: [
      {
        path: 'rules[1].match',
        ...{ line: 5, column: 5 },
        code: 'invalid',
        message: 'match is missing; expected a mapping',
      },
      {
        path: 'rules[1].sort',
        ...{ line: 6, column: 5 },
        code: 'invalid',
        message: '"fast"; expected price, latency, throughput, uptime or balanced',
      },
    ],
  });
});

test('what this release does not execute is refused as such, key by key', () => {
  const codes = (policy: string) => {
    const verdict = judge(policy);
    return verdict.valid ? [] : verdict.faults.map(({ path, code }) => `${path} ${code}`);
  };
  expect(codes('defaults: {hedge: {}}')).toEqual(['defaults.hedge not_supported']);
  expect(codes('defaults: {sort: fast}')).toEqual(['defaults.sort invalid']);
});

describe('notices', () => {
  test('what is executed has none', () => {
    const executed = '{affinity: key, affinity_ttl_s: 60, failover: {on: [content_filtered, -rate_limit]}}';
    expect(notices(`defaults: ${executed}`)).toEqual([]);
    const canary =
      '{endpoint: ep_a, percent: 5, max_error_rate: 0.03, min_samples: 200, on_breach: rollback}';
    expect(notices(`rules: [{match: {models: [acme/large]}, canary: ${canary}}]`)).toEqual([]);
    const shadow = '{endpoint: ep_b, percent: 1, max_per_day: 500}';
    expect(notices(`rules: [{match: {models: [acme/large]}, shadow: ${shadow}}]`)).toEqual([]);
  });

  test('a rule behind one that matches everything is reported', () => {
    expect(notices('rules: [{name: all, match: {}}, {match: {stream: true}}]')).toEqual([
      'rules[1]: never reached: rule all matches every call',
    ]);
    expect(notices('rules: [{match: {}, continue: true}, {match: {stream: true}}]')).toEqual([]);
  });

  test('a glob without a model, another name and a duplicate sort are reported', () => {
    expect(notices('rules: [{match: {models: ["nobody/*"]}}]')[0]).toContain('matches no model');
    expect(notices('policy: a', 'b')).toEqual(['policy: the text names the policy a; it is stored as b']);
    expect(notices('sort: price\ndefaults: {sort: latency}')).toEqual([
      'sort: defaults.sort is given too and wins',
    ]);
  });
});

describe('the one source', () => {
  const check = Compile(PolicyDocument);
  const anyLeaf = fc.oneof(
    fc.constantFrom<unknown>('price', 'acme/*', 'ep_a', 'a', '', 'chat', 'live', 'x\u0001', '09:00'),
    fc.constantFrom<unknown>(0, 1, 3, 0.5, 7, -1, 1e12, true, false, null),
  );
  const names = [
    ...Object.keys(PolicyDocument.properties),
    ...[
      'match',
      'name',
      'continue',
      'deny',
      'message',
      'only',
      'order',
      'zdr',
      'regions',
      'min',
      'max',
      'input',
    ],
    ...[
      'models',
      'metadata',
      'time',
      'tz',
      'from',
      'providers',
      'endpoints',
      'require',
      'limits',
      'lock',
      'weights',
    ],
    ...['price', 'max_price', 'input_tokens', 'canary', 'endpoint', 'percent', 'unknown'],
  ].filter((name) => !reservedKeys.has(name));
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { maxDepth: 6 },
      anyLeaf,
      fc.dictionary(fc.constantFrom(...names), tie('tree'), { maxKeys: 4 }),
      fc.array(tie('tree'), { maxLength: 3 }),
    ),
  }));
  const part = fc.dictionary(fc.constantFrom(...names), tree, { maxKeys: 3 });
  const anyDocument = fc.oneof(
    tree,
    fc.record({ defaults: part, rules: fc.array(part.map((rule) => ({ match: {}, ...rule }))) }),
    fc.record({ rules: fc.array(fc.record({ match: part })) }),
  );

  test('the check that explains agrees with the compiled schema on any structure', () => {
    fc.assert(
      fc.property(anyDocument, (document) => {
        expect(shapeFindings(document).length === 0).toBe(check.Check(document));
      }),
      { numRuns: 3_000 },
    );
  });

  test('nothing that is thrown at it makes the validator throw', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          tree.map((value) => JSON.stringify(value) ?? ''),
        ),
        (text) => {
          const verdict = judge(text);
          if (!verdict.valid) {
            expect(verdict.faults.length).toBeGreaterThan(0);
            for (const { line, column, message } of verdict.faults) {
              expect(line).toBeGreaterThan(0);
              expect(column).toBeGreaterThan(0);
              expect(message).toContain('; expected ');
            }
          }
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test('the schema for a custom resource is structural and keeps its words within RE2', () => {
    const schema = policySchema('kubernetes');
    expect(Object.keys(schema['properties'] as object)).toEqual(['description', 'sort', 'defaults', 'rules']);
    const text = JSON.stringify(schema);
    expect(text).not.toContain('"additionalProperties":false');
    expect(text).not.toMatch(/"(?:const|\$ref|patternProperties|\$defs)"/);
    for (const [, pattern] of text.matchAll(/"pattern":"((?:[^"\\]|\\.)*)"/g)) {
      expect(pattern).not.toMatch(/\\\\u|\(\?[=!<]/);
    }
  });

  test('the schema for editors takes what the validator takes', () => {
    const editor = Compile(policySchema('json') as never);
    expect(editor.Check({ rules: [{ match: { metadata: { team: ['a'] } }, sort: 'price' }] })).toBe(true);
    expect(editor.Check({ rules: [{ match: { metadata: { team: 'a' } } }] })).toBe(false);
    expect(editor.Check({ rules: [{ match: {}, deny: {}, sort: 'price' }] })).toBe(false);
  });
});

test('a mapping of thousands of keys is judged about as quickly as a list of as many items', () => {
  const names = Array.from({ length: 11_000 }, (_, i) => `k${i.toString(36)}`).join();
  const quickest = (text: string) =>
    Math.min(
      ...Array.from({ length: 5 }, () => {
        const began = performance.now();
        expect(faults(text)).toHaveLength(1);
        return performance.now() - began;
      }),
    );
  expect(quickest(`policy: {${names}}`) / quickest(`policy: [${names}]`)).toBeLessThan(5);
});

test('a duplicate key is reported at its second place', () => {
  const verdict = judge('rules:\n  - match: {}\n    sort: price\n    sort: latency\n');
  expect(verdict).toMatchObject({ faults: [{ path: '$', line: 4, column: 5 }] });
});
