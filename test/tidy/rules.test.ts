// Each rule is shown a file that keeps it and one that breaks it: a rule that finds nothing proves nothing.
import { describe, expect, test } from 'vitest';
import { citations, noOutsidePapers, outcomesTested } from './citations.ts';
import { clientsTakeTypes, conceptReadmes, fileCycles, importOrder, surfacesByIndex } from './imports.ts';
import { migrationsInOrder } from './migrations.ts';
import { inferenceRooms, roomsOfCall } from './rooms.ts';
import {
  documentedExports,
  noMachinePaths,
  noSkippedTests,
  plainModules,
  pureOutsideKernel,
  sqlInStores,
  verifiedAlone,
} from './rules.ts';
import { type Rule, type Source, shown } from './sources.ts';

const file = (path: string, text: string): Source => ({ path, text });
const faults = (rule: Rule, ...sources: Source[]) => shown(rule(sources));
const readme = (concept: string, uses: string) =>
  file(`core/${concept}/README.md`, `# ${concept}\n\nUses: ${uses}\n`);

describe('imports', () => {
  test('a concept may use one above it through its index, if its README says so', () => {
    const store = file('core/keys/store.ts', `import type { Org } from '../orgs/index.ts';\n`);
    expect(faults(importOrder, store, readme('keys', 'kernel, orgs'))).toEqual([]);
  });

  test('an import that points down the list is a fault', () => {
    const store = file('core/ledger/a.ts', `import { x } from '../keys/index.ts';\n`);
    expect(faults(importOrder, store, readme('ledger', 'keys'))).toEqual([
      'core/ledger/a.ts:1 ledger may not use keys, which stands below it',
    ]);
  });

  test('an import past the index of another concept is a fault, over several lines and by import() as well', () => {
    const source = file(
      'core/keys/a.ts',
      `\nimport {\n  x,\n} from '../orgs/store.ts';\nconst y = await import('../ledger/store.ts');\n`,
    );
    expect(faults(importOrder, source, readme('keys', 'orgs, ledger'))).toEqual([
      'core/keys/a.ts:4 past the index of orgs: core/orgs/store.ts',
      'core/keys/a.ts:5 past the index of ledger: core/ledger/store.ts',
    ]);
  });

  test('a use that the README does not name is a fault', () => {
    const source = file('core/keys/a.ts', `import { x } from '../orgs/index.ts';\n`);
    expect(faults(importOrder, source, readme('keys', 'kernel, db'))).toEqual([
      'core/keys/a.ts:1 README of keys does not name orgs in its Uses: line',
    ]);
  });

  test('a surface that another surface imports is a fault, and so is core importing a surface', () => {
    const core = file('core/keys/a.ts', `import { x } from '@svc/gateway/rest/a.ts';\n`);
    const gateway = file('gateway/main.ts', `import { x } from '@svc/cli/tools/postgres.ts';\n`);
    expect(faults(importOrder, core, gateway)).toEqual([
      'core/keys/a.ts:1 core may not import gateway',
      'gateway/main.ts:1 gateway may not import cli',
    ]);
  });

  test('the two programs do not import each other, nor do http and graphql import what stands on them', () => {
    const importing = (path: string, target: string) => file(path, `import { x } from '@svc/${target}';\n`);
    const good = [
      importing('graphql/bindings/a.ts', 'http/index.ts'),
      importing('gateway/a.ts', 'graphql/tenant/schema.ts'),
      importing('admin-graphql/a.ts', 'http/index.ts'),
    ];
    expect(faults(importOrder, ...good)).toEqual([]);
    const bad = [
      importing('gateway/b.ts', 'admin-graphql/streams.ts'),
      importing('admin-graphql/b.ts', 'gateway/start.ts'),
      importing('http/b.ts', 'graphql/limits.ts'),
      importing('http/c.ts', 'gateway/rest/bind.ts'),
      importing('graphql/tenant/b.ts', 'http/index.ts'),
      importing('graphql/bindings/b.ts', 'gateway/graphql.ts'),
    ];
    expect(faults(importOrder, ...bad)).toEqual([
      'gateway/b.ts:1 gateway may not import admin-graphql',
      'admin-graphql/b.ts:1 admin-graphql may not import gateway',
      'http/b.ts:1 http may not import graphql',
      'http/c.ts:1 http may not import gateway',
      'graphql/tenant/b.ts:1 graphql may not import http',
      'graphql/bindings/b.ts:1 graphql/bindings may not import gateway',
    ]);
  });

  test('a surface reaches a concept of core, and http, by its index alone', () => {
    const good = file('gateway/a.ts', `import { x } from '@svc/core/keys/index.ts';\n`);
    const bad = file('gateway/b.ts', `import { x } from '@svc/core/keys/store.ts';\n`);
    const http = file('gateway/c.ts', `import { x } from '@svc/http/caller.ts';\n`);
    const within = file('http/a.ts', `import { x } from './caller.ts';\n`);
    expect(faults(surfacesByIndex, good, bad, http, within)).toEqual([
      'gateway/b.ts:1 past the index of keys: core/keys/store.ts',
      'gateway/c.ts:1 past the index of http: http/caller.ts',
    ]);
  });

  test('the operator takes types of core, and values only where its definition is written', () => {
    const value = `import { policySchema } from '@svc/core/policies/index.ts';\n`;
    const good = [
      file('operator/types.ts', `import type {\n  PolicyDocument,\n} from '@svc/core/policies/index.ts';\n`),
      file('operator/definition/crd.ts', value),
      file('operator/definition/write-crd.ts', `import { routingPolicyYaml } from './crd.ts';\n`),
    ];
    expect(faults(clientsTakeTypes, ...good)).toEqual([]);
    const bad = [
      file('operator/a.ts', value),
      file('operator/b.ts', `import { x } from './definition/crd.ts';\n`),
    ];
    expect(faults(clientsTakeTypes, ...bad)).toEqual([
      'operator/a.ts:1 a value of core: core/policies/index.ts',
      'operator/b.ts:1 a tool of the build: operator/definition/crd.ts',
    ]);
  });

  test('a room of inference uses those above it, and a format the words of another', () => {
    const format = 'core/inference/formats';
    const good = [
      file('core/inference/call/a.ts', `import { b } from '../formats/index.ts';\n`),
      file(`${format}/index.ts`, `import { b } from './gemini/index.ts';\n`),
      file(`${format}/gemini/upstream/a.ts`, `import { b } from '../../openai-chat/words/b.ts';\n`),
      file(`${format}/openai-completions/raw/a.ts`, `import { b } from '../../openai-chat/raw/b.ts';\n`),
      file('core/inference/caller/a.ts', `import { b } from '../canonical/b.ts';\n`),
      file('core/inference/index.ts', `import { b } from './call/b.ts';\n`),
    ];
    expect(faults(inferenceRooms, ...good)).toEqual([]);
    const bad = [
      file('core/inference/canonical/a.ts', `import { b } from '../caller/b.ts';\n`),
      file('core/inference/wire/a.ts', `import { b } from '../canonical/b.ts';\n`),
      file(`${format}/index.ts`, `import { b } from '../call/b.ts';\n`),
      file(`${format}/gemini/upstream/a.ts`, `import { b } from '../../openai-chat/upstream/b.ts';\n`),
      file('core/inference/attic/a.ts', `import { b } from '../wire/b.ts';\n`),
    ];
    expect(faults(inferenceRooms, ...bad)).toEqual([
      'core/inference/canonical/a.ts:1 canonical may not use caller',
      'core/inference/wire/a.ts:1 wire may not use canonical',
      'core/inference/formats/index.ts:1 formats may not use call',
      'core/inference/formats/gemini/upstream/a.ts:1 past the words of openai-chat: core/inference/formats/openai-chat/upstream/b.ts',
      'core/inference/attic/a.ts:1 room attic of inference is not in the order',
    ]);
  });

  test('files that import each other are a fault, for types and by way of others as well', () => {
    const a = file('core/keys/a.ts', `import type { B } from './b.ts';\n`);
    const b = file('core/keys/b.ts', `\nimport { c } from './c.ts';\n`);
    const c = file('core/keys/c.ts', `import { d } from './d.ts';\n`);
    const d = file('core/keys/d.ts', '');
    expect(faults(fileCycles, a, b, c, d)).toEqual([]);
    const back = file('core/keys/c.ts', `import type { A } from './a.ts';\nimport { d } from './d.ts';\n`);
    expect(faults(fileCycles, a, b, back, d)).toEqual([
      'core/keys/c.ts:1 files import each other: a.ts → b.ts → c.ts → a.ts',
    ]);
  });

  test('a room of a call may use those above it, and nothing may use the way in', () => {
    const call = 'core/inference/call';
    const good = [
      file(`${call}/admit/a.ts`, `import { b } from '../attempt/b.ts';\nimport { c } from '../types.ts';\n`),
      file(`${call}/call.ts`, `import { b } from './stages/b.ts';\n`),
      file(`${call}/settle/a.ts`, `import { b } from './b.ts';\n`),
    ];
    expect(faults(roomsOfCall, ...good)).toEqual([]);
    const bad = [
      file(`${call}/attempt/a.ts`, `import type { b } from '../admit/b.ts';\n`),
      file(`${call}/record.ts`, `import { b } from './settle/b.ts';\n`),
      file(`${call}/stages/a.ts`, `import { b } from '../call.ts';\n`),
      file(`${call}/attic/a.ts`, ''),
    ];
    expect(faults(roomsOfCall, ...bad)).toEqual([
      'core/inference/call/attempt/a.ts:1 attempt may not use admit',
      'core/inference/call/record.ts:1 a file beside the rooms may not use settle',
      'core/inference/call/stages/a.ts:1 stages may not use core/inference/call/call.ts',
      'core/inference/call/attic/a.ts:1 room attic of a call is not in the order',
    ]);
  });

  test('formats that use each other are a fault, also by a third', () => {
    const uses = (from: string, to: string) =>
      file(`core/inference/formats/${from}/words/a.ts`, `import { b } from '../../${to}/words/b.ts';\n`);
    expect(faults(inferenceRooms, uses('gemini', 'native'), uses('native', 'sandbox'))).toEqual([]);
    expect(
      faults(inferenceRooms, uses('gemini', 'native'), uses('native', 'sandbox'), uses('sandbox', 'gemini')),
    ).toHaveLength(3);
  });

  test('an import in a comment or a string is none', () => {
    const source = file('core/ledger/a.ts', `// import { x } from '../keys/index.ts';\n`);
    expect(faults(importOrder, source)).toEqual([]);
  });

  test('a concept without a README or without its Uses: line is a fault', () => {
    const bare = file('core/keys/README.md', '# keys\n');
    const missing = file('core/orgs/store.ts', '');
    expect(faults(conceptReadmes, bare, missing, readme('ledger', 'kernel'))).toEqual([
      'core/keys/README.md:1 is missing or has no line that begins with "Uses:"',
      'core/orgs/README.md:1 is missing or has no line that begins with "Uses:"',
    ]);
  });
});

describe('SQL', () => {
  const text = (sql: string) => `await db.query({ name: 'a.b', text: ${sql} });\n`;

  test('stores, migrations and tests may hold it', () => {
    expect(
      faults(
        sqlInStores,
        file('core/keys/store.ts', text("'select 1 from key'")),
        file('core/ledger/batch/store.ts', text("'select 1 from key'")),
        file('core/keys/a.test.ts', text("'select 1 from key'")),
      ),
    ).toEqual([]);
  });

  test.each([
    "'select id from key'",
    '`\n  select id,\n         name\n    from key`',
    "'insert into key values ($1)'",
    '`update key set name = $1`',
    '`update key as k set name = $1`',
    "'delete from key'",
    '`with a as (select 1) select * from a`',
    "'begin'",
    "'listen keys'",
    "'select ledger_hold($1)'",
    "'truncate key'",
  ])('elsewhere %s is a fault', (sql) => {
    expect(faults(sqlInStores, file('core/keys/operations.ts', text(sql)))).toHaveLength(1);
  });

  test('English that begins with the same words is none', () => {
    const english = `throw new Error('select one of them'); const a = 'update the policy'; const b = 'delete'; const c = 'commit holds too';\n`;
    expect(faults(sqlInStores, file('core/keys/a.ts', english))).toEqual([]);
  });
});

describe('purity', () => {
  test.each([
    'const t = Date.now();',
    'const t = new Date();',
    'const n = Math.random();',
    'const v = process.env.HOME;',
    `import { randomBytes } from 'node:crypto';`,
  ])('%s is a fault in core and gateway', (line) => {
    const sources = [file('core/keys/a.ts', line), file('gateway/a.ts', line)];
    expect(faults(pureOutsideKernel, ...sources)).toHaveLength(2);
  });

  test('the kernel, tests and the command line may; times made from a number are no clock', () => {
    const line = 'const t = Date.now();';
    expect(
      faults(
        pureOutsideKernel,
        file('core/kernel/clock.ts', line),
        file('core/keys/a.test.ts', line),
        file('cli/tools/a.ts', line),
        file('core/keys/a.ts', `const t = new Date(ms); // not Date.now()\nconst s = 'process.env';`),
      ),
    ).toEqual([]);
  });
});

describe('modules', () => {
  test.each([
    `export * from './a.ts';`,
    'export default function a() {}',
    'enum A { B }',
    'export const enum A { B }',
    'namespace A {}',
  ])('%s is a fault', (line) => {
    expect(faults(plainModules, file('core/keys/a.ts', `${line}\n`))).toHaveLength(1);
  });

  test('named exports and words in comments are none', () => {
    const text = `// export * is refused\nexport { a } from './a.ts';\nconst enumerable = 1;\n`;
    expect(faults(plainModules, file('core/keys/a.ts', text))).toEqual([]);
  });

  test('an exported function without a docstring is a fault, in each of its forms', () => {
    const bare = [
      'export function a(): void {}',
      'export async function b(): Promise<void> {}',
      'export const c = (x: number) => x;',
      'export function* d() {}',
    ].join('\n');
    expect(faults(documentedExports, file('core/keys/a.ts', bare))).toHaveLength(4);
  });

  test('a documented one is none, nor is a value', () => {
    const text = `/** Says why. */\nexport function a(): void {}\nexport const b = 1;\nexport const c = { d: () => 1 };\n`;
    expect(faults(documentedExports, file('core/keys/a.ts', text))).toEqual([]);
  });
});

describe('files', () => {
  test.each(['work', 'farm', 'root'])('a path under the folder %s of a machine is a fault', (folder) => {
    expect(faults(noMachinePaths, file('docs/a.md', `see /${folder}/main for it`))).toHaveLength(1);
  });

  test('an address with such a word in its path is none', () => {
    expect(faults(noMachinePaths, file('docs/a.md', 'https://example.com/work/a and ./work/a'))).toEqual([]);
  });

  test('a test that is switched off is a fault', () => {
    expect(faults(noSkippedTests, file('core/a/a.test.ts', `test.${'skip'}('a', () => {});`))).toHaveLength(
      1,
    );
  });

  test('migrations are numbered without a gap and twice is a fault', () => {
    const at = (name: string) => file(`core/db/migrations/${name}`, '');
    expect(faults(migrationsInOrder, at('0001_a.sql'), at('0002_b.sql'))).toEqual([]);
    expect(faults(migrationsInOrder, at('0001_a.sql'), at('0003_b.sql'))).toHaveLength(1);
    expect(faults(migrationsInOrder, at('0001_a.sql'), at('0001_b.sql'))).toHaveLength(1);
    expect(faults(migrationsInOrder, at('0001_a.sql'), at('notes.md'))).toHaveLength(1);
    expect(faults(migrationsInOrder, at('0001_a.sql'), at('ledger/0001_b.sql'))).toEqual([]);
    expect(faults(migrationsInOrder, at('0001_a.sql'), at('ledger/0002_b.sql'))).toHaveLength(1);
    expect(faults(migrationsInOrder, at('ledger/0001_a.sql'), at('ledger/sub/0002_b.sql'))).toHaveLength(1);
  });
});

describe('citations', () => {
  const page = file(
    'docs/a.md',
    '# Two words\n\n## `x`, and [y](https://example.com)\n\n## Same\n\n## Same\n\n<a id="own"></a>\n',
  );
  const cite = (text: string, path = 'core/x/a.ts') => faults(citations, page, file(path, text));

  test('a page and its headings may be cited by their slugs, from the top or beside, and by names of their own', () => {
    const good = [
      'docs/a.md',
      'docs/a.md#two-words',
      'docs/a.md#x-and-y',
      'docs/a.md#same-1',
      'docs/a.md#own',
    ];
    for (const text of good) expect([text, cite(`// (${text})`)]).toEqual([text, []]);
    expect(cite('[a](a.md#same)', 'docs/b.md')).toEqual([]);
    expect(cite('see https://example.com/none.md#no')).toEqual([]);
  });

  test('a page or a heading that is not there is a fault, in comments, texts and links', () => {
    expect(cite(`\n// docs/none.md\nthrow new Error('see docs/a.md#none');`)).toEqual([
      'core/x/a.ts:2 cites what is not there: docs/none.md',
      'core/x/a.ts:3 cites what is not there: docs/a.md#none',
    ]);
    expect(cite('[a](a.md#none), [b](#none)', 'docs/b.md')).toHaveLength(2);
    expect(faults(citations, file('docs/c.md', '```\n# shown\n```\n[c](#shown)'))).toHaveLength(1);
  });

  test.each([
    ['// All codes (decisions 4.6).'],
    ['/** As P12.2 says. */'],
    ['-- The formula of P6'],
    ['// (design 15)'],
    ['// See house style 5.'],
    ['// Of the answer (4.7.2 "Stop reasons").'],
    ['// one line per kind in the order of 4.10, each'],
    ["test('row 12: usage', () => {});"],
    ['// the classes of table 2'],
    ['// (service-spec "Ids")'],
  ])('%s cites a paper', (text) => {
    expect(faults(noOutsidePapers, file('core/x/a.ts', text))).toHaveLength(1);
  });

  test.each([
    ["captured('P1', 4.5); // gpt-4.1 and the 95th percentile"],
    ['// RFC 9112, section 4: from 4.0.1 to 4.12.0'],
    ['// a decision takes 200 µs, by design'],
  ])('%s cites none', (text) => {
    expect(faults(noOutsidePapers, file('core/x/a.ts', text))).toEqual([]);
  });

  test('an outcome that no test cites is a fault', () => {
    const outcomes = file('docs/outcomes.md', '| <a id="ok"></a>ok | a |\n| <a id="cut"></a>cut | b |\n');
    const tests = file('test/calls/a.test.ts', "test('ends (docs/outcomes.md#ok)', () => {});");
    expect(faults(outcomesTested, outcomes, tests)).toEqual(['docs/outcomes.md:2 no test cites cut']);
  });
});

describe('SAML', () => {
  const library = (text: string) => file('core/identity/saml/library.ts', text);
  const once = 'const a = profile.getAssertion();';

  test('XML is parsed by one library, in one file, which takes what was verified and takes it once', () => {
    expect(faults(verifiedAlone, library(`import { SAML } from '@node-saml/node-saml';\n${once}`))).toEqual(
      [],
    );
    for (const more of ['profile.getAssertionXml();', once])
      expect(faults(verifiedAlone, library(`${once}\n${more}`))).toHaveLength(1);
    for (const line of [
      `import { DOMParser } from '@xmldom/xmldom';`,
      `import { SAML } from '@node-saml/node-saml';`,
      once,
    ])
      expect(faults(verifiedAlone, file('core/identity/saml/read.ts', line)).length).toBeGreaterThan(0);
  });
});
