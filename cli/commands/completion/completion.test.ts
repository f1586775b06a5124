// Completion as a person meets it: TAB in a real bash, with the script that it has read.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { root } from '../../installation.ts';
import { candidates } from './candidates.ts';
import { command as completion } from './script.ts';

const values = async (...words: string[]) => (await candidates(words)).map(({ value }) => value);

test('the words of commands come one after the other', async () => {
  expect(await values('led')).toEqual(['ledger']);
  expect(await values('dev', '')).toEqual(['clock']);
  expect(await values('dev', 'clock', 'a')).toEqual(['advance']);
  expect(await values('nothing', '')).toEqual([]);
});

test('after a command come its flags, each once, and the choices of a flag', async () => {
  expect(await values('key', 'create', '--r')).toEqual(['--rpm']);
  expect(await values('key', 'create', '--environment', '')).toEqual(['live', 'test']);
  expect(await values('key', 'create', '--environment', 'live', '--env')).toEqual([]);
  expect(await values('completion', 'z')).toEqual(['zsh']);
});

test('where only a person or a file can say, there is nothing', async () => {
  expect(await values('catalog', 'load', '')).toEqual([]);
  expect(await values('key', 'create', '--name', '')).toEqual([]);
});

const dir = mkdtempSync(join(tmpdir(), 'svcctl-completion-'));
afterAll(() => rmSync(dir, { recursive: true }));
beforeAll(async () => {
  const { text } = await completion.run({ positionals: ['bash'] } as never);
  const program = `svcctl() { "${process.execPath}" "${root}cli/main.ts" "$@"; }\n`;
  writeFileSync(join(dir, 'completion.bash'), program + text);
});

/** What bash shows for the words, of which the last is being typed. */
function tab(...words: string[]): string[] {
  const typed = words.map((word) => `'${word}'`).join(' ');
  const press = `source ${dir}/completion.bash; COMP_WORDS=(svcctl ${typed}); COMP_CWORD=${words.length}; _svcctl; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync('bash', ['-c', press], { encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout.trim().split('\n');
}

test('bash shows what may come next, flags that svcctl itself would take among it', () => {
  expect(tab('ledger', 've')).toEqual(['verify']);
  expect(tab('ledger', 'verify', '--js')).toEqual(['--json']);
});

test('nothing that is typed runs before the line is entered', () => {
  const spy = join(dir, 'ran');
  tab('ledger', `$(touch ${spy})`, '');
  expect(spawnSync('ls', [spy]).status).not.toBe(0);
});
