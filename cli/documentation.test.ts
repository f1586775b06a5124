// Every `svcctl` command in the documentation is one that the command line accepts.
import { readdirSync, readFileSync } from 'node:fs';
import { readConfig } from '@svc/core/kernel/index.ts';
import { NODE_FLAGS } from '@svc/test/support/entry.ts';
import { expect, test } from 'vitest';
import { type Command, parseCommand } from './command.ts';
import { commands } from './commands/index.ts';
import { root } from './installation.ts';

interface Line {
  readonly place: string;
  readonly words: readonly string[];
}

/** The words of a shell line without its comment; quotes hold words together. */
function wordsOf(line: string): string[] {
  const words = line.match(/"[^"]*"|'[^']*'|[^\s"']+/g) ?? [];
  const end = words.findIndex((word) => /^[#|&;]/.test(word));
  return (end < 0 ? words : words.slice(0, end)).map((word) => word.replace(/^["'](.*)["']$/, '$1'));
}

function linesOf(file: string): Line[] {
  const blocks = readFileSync(root + file, 'utf8').matchAll(/```sh\n(.*?)```/gs);
  return [...blocks]
    .flatMap(([, block = '']) => block.replaceAll('\\\n', ' ').split('\n'))
    .filter((line) => line.startsWith('npx svcctl '))
    .map((line) => ({ place: `${file}: ${line.trim()}`, words: wordsOf(line).slice(2) }));
}

const files = ['README.md', ...readdirSync(`${root}docs`, { recursive: true }).map((name) => `docs/${name}`)];
const lines = files.filter((file) => file.endsWith('.md')).flatMap(linesOf);

test('the documentation has commands of svcctl', () => {
  expect(lines.length).toBeGreaterThan(15);
});

test.each(lines)('$place', async ({ words }) => {
  const starts = (name: string) => `${words.join(' ')} `.startsWith(`${name} `);
  const listed = commands.filter(({ name }) => starts(name)).sort((a, b) => b.name.length - a.name.length)[0];
  if (listed === undefined) throw new Error(`there is no command ${words.join(' ')}`);
  const command: Command = await listed.load();
  parseCommand(command, words.slice(listed.name.split(' ').length));
});

test('a gateway that is started by hand runs with the flags of make up', () => {
  const started = files
    .filter((file) => file.endsWith('.md'))
    .flatMap((file) => readFileSync(root + file, 'utf8').split('\n'))
    .filter((line) => /node\b.*--.* gateway\/main\.ts/.test(line));
  expect(started.length).toBeGreaterThan(0);
  for (const line of started) expect(line).toContain(`${NODE_FLAGS.join(' ')} gateway/main.ts`);
});

test('every SVC_ variable that documentation and console name is a setting: the programs start with no other', () => {
  const folders = ['docs', 'console/src', 'charts/svc'];
  const texts = folders
    .flatMap((folder) =>
      readdirSync(root + folder, { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
    )
    .filter((file) => /\.(?:md|tsx?)$/.test(file));
  const unknown = [...texts, 'README.md'].flatMap((file) => {
    const names = readFileSync(root + file, 'utf8').match(/\bSVC_[A-Z0-9_]*[A-Z0-9]\b(?![_*<])/g) ?? [];
    return [...new Set(names)].filter((name) => !isSetting(name)).map((name) => `${file}: ${name}`);
  });
  expect(unknown).toEqual([]);
});

function isSetting(name: string): boolean {
  try {
    readConfig({ [name]: '' });
    return true;
  } catch {
    return false;
  }
}
