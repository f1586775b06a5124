// A parameter that one format forgets is named by the compiler, and none of those declared goes in silence.
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type ParameterName, parameterNames, parameters } from '../../core/inference/canonical/parameters.ts';
import type { CanonicalRequest } from '../../core/inference/canonical/types.ts';
import { builtIn } from '../../core/inference/formats/index.ts';
import { endpoint } from './endpoints.ts';
import { optionsFor, read } from './evaluate.ts';
import { FAMILIES } from './types.ts';

const top = new URL('../..', import.meta.url).pathname;

function compile(project: string): Promise<string> {
  const tsc = join(top, 'node_modules/typescript/bin/tsc');
  return new Promise((done) => {
    execFile(process.execPath, [tsc, '-p', project], { cwd: top }, (_error, stdout) => done(stdout));
  });
}

/** What tsc says of the product together with `file`, and which of its files match `tables`. */
async function compiledWith(file: string, tables: RegExp): Promise<{ said: string; named: string[] }> {
  mkdirSync(join(top, '.cache'), { recursive: true });
  const folder = mkdtempSync(join(top, '.cache/forgotten-'));
  try {
    const project = join(folder, 'tsconfig.json');
    const files = [`../../test/fidelity/forgotten/${file}`];
    writeFileSync(
      project,
      JSON.stringify({ extends: '../../tsconfig.json', include: [], exclude: [], files }),
    );
    const said = await compile(project);
    const named = [...said.matchAll(/^(?:\.\.\/)?(\S+?)\(\d+,\d+\): error[^\n]*/gm)].map(
      ([, name]) => name ?? '',
    );
    return { said, named: [...new Set(named)].filter((name) => tables.test(name)).sort() };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test('a parameter without a row or a rule does not compile, and each table is named', async () => {
  // Beside the tables, whoever hands one on to what reads it.
  const { said, named } = await compiledWith('parameter.ts', /\/(?:canonical|formats\/.*)\/parameters\.ts$/);
  expect(named).toEqual([
    'core/inference/canonical/parameters.ts',
    'core/inference/formats/anthropic-messages/caller/parameters.ts',
    'core/inference/formats/anthropic-messages/upstream/parameters.ts',
    'core/inference/formats/bedrock-converse/upstream/parameters.ts',
    'core/inference/formats/gemini/upstream/parameters.ts',
    'core/inference/formats/native/caller/parameters.ts',
    'core/inference/formats/openai-chat/caller/parameters.ts',
    'core/inference/formats/openai-chat/upstream/parameters.ts',
    'core/inference/formats/openai-completions/caller/parameters.ts',
    'core/inference/formats/openai-responses/caller/parameters.ts',
    'core/inference/formats/openai-responses/upstream/parameters.ts',
  ]);
  expect(said).toContain('top_n_sigma');
}, 120_000);

const FAMILY_TABLES = ['anthropic-messages', 'bedrock-converse', 'gemini', 'openai-chat', 'openai-responses'];
const DIALECT_TABLES = [
  'anthropic-messages',
  'native',
  'openai-chat',
  'openai-completions',
  'openai-responses',
];

test.each([
  { file: 'kinds.ts', asked: ['hologram'], answered: ['hologram', 'on_pulse'] },
  { file: 'members.ts', asked: ['focus', 'patience', 'danger'], answered: ['focus', 'pace'] },
])(
  'what $file adds does not compile, and each format is named',
  async ({ file, asked, answered }) => {
    const { said } = await compiledWith(file, /./);
    const missing = [
      ...FAMILY_TABLES.flatMap((format) => asked.map((name) => [`${format}/upstream/coverage.ts`, name])),
      ...DIALECT_TABLES.flatMap((format) => answered.map((name) => [`${format}/caller/coverage.ts`, name])),
    ];
    for (const [table = '', name = ''] of missing) {
      const errors = said.split(/^(?=\S)/m).filter((error) => error.includes(`/${table}(`));
      expect([table, name, errors.some((error) => error.includes(name))]).toEqual([table, name, true]);
    }
  },
  120_000,
);

/** A request that asks for `name` alone, by its example. */
function asking(name: ParameterName | null): CanonicalRequest {
  const request = read('native', { model: 'acme/fast-1', messages: [{ role: 'user', content: 'Hi' }] });
  return { ...request, generation: name === null ? {} : { [name]: parameters[name].example } };
}

for (const family of FAMILIES) {
  for (const listed of [false, true]) {
    test.each(parameterNames)(
      `${family}${listed ? ', listing all' : ''}: %s is sent or reported as lost`,
      (name) => {
        const adapter = builtIn.adapters.get(family);
        if (adapter === undefined) throw new Error(`no adapter ${family}`);
        const target = endpoint(family, listed);
        const options = { ...optionsFor(asking(null), true), max_tokens: null };
        const cap = name === 'max_tokens' ? parameters.max_tokens.example : null;
        const bodyOf = (request: CanonicalRequest, max_tokens: number | null) =>
          adapter.encode(request, target, { ...options, max_tokens }).body.toString();
        const sent = bodyOf(asking(name), cap) !== bodyOf(asking(null), null);
        const reported = adapter
          .losses(asking(name), target)
          .some(({ param }) => param === parameters[name].loss.param);
        expect(sent || reported).toBe(true);
      },
    );
  }
}
