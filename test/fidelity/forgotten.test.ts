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

test('a parameter without a row or a rule does not compile, and each table is named', async () => {
  mkdirSync(join(top, '.cache'), { recursive: true });
  const folder = mkdtempSync(join(top, '.cache/forgotten-'));
  try {
    const project = join(folder, 'tsconfig.json');
    const files = ['../../test/fidelity/forgotten/parameter.ts'];
    writeFileSync(
      project,
      JSON.stringify({ extends: '../../tsconfig.json', include: [], exclude: [], files }),
    );
    const said = await compile(project);
    const named = [...said.matchAll(/^(?:\.\.\/)?(\S+?)\(\d+,\d+\): error[^\n]*/gm)].map(([, file]) => file);
    // Beside the tables, whoever hands one on to what reads it.
    const tables = named.filter((file) => /\/(?:canonical|formats\/.*)\/parameters\.ts$/.test(file ?? ''));
    expect([...new Set(tables)].sort()).toEqual([
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
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, 120_000);

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
