// The compiler names a parameter that one format forgets, and no declared parameter is silently dropped.
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
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

// Of what one table lacks the compiler names one kind at a time: what adds members is compiled by itself.
const programs = [['parameter.ts', 'kinds.ts'], ['members.ts']];

/** What tsc says of the product together with `plants`, an error each. */
async function compiledWith(plants: readonly string[]): Promise<string[]> {
  mkdirSync(join(top, '.cache'), { recursive: true });
  const folder = mkdtempSync(join(top, '.cache/forgotten-'));
  try {
    const project = join(folder, 'tsconfig.json');
    const files = plants.map((file) => `../../test/fidelity/forgotten/${file}`);
    writeFileSync(
      project,
      JSON.stringify({ extends: '../../tsconfig.json', include: [], exclude: [], files }),
    );
    return (await compile(project)).split(/^(?=\S)/m);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const errors: string[] = [];
beforeAll(async () => {
  for (const plants of programs) errors.push(...(await compiledWith(plants)));
}, 120_000);

test('a parameter without a row or a rule does not compile, and each table is named', () => {
  const named = errors
    .filter((error) => error.includes('top_n_sigma'))
    .map((error) => /^(?:\.\.\/)?(\S+?)\(\d+,\d+\): error/.exec(error)?.[1] ?? '')
    // Beside the tables, whoever hands one on to what reads it.
    .filter((name) => /\/(?:canonical|formats\/.*)\/parameters\.ts$/.test(name));
  expect([...new Set(named)].sort()).toEqual([
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
});

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
])('what $file adds does not compile, and each format is named', ({ asked, answered }) => {
  const missing = [
    ...FAMILY_TABLES.flatMap((format) => asked.map((name) => [`${format}/upstream/coverage.ts`, name])),
    ...DIALECT_TABLES.flatMap((format) => answered.map((name) => [`${format}/caller/coverage.ts`, name])),
  ];
  for (const [table = '', name = ''] of missing) {
    const ofTable = errors.filter((error) => error.includes(`/${table}(`));
    expect([table, name, ofTable.some((error) => error.includes(name))]).toEqual([table, name, true]);
  }
});

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
