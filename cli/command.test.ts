import { expect, test } from 'vitest';
import { type Command, helpOf, parseCommand, UsageError } from './command.ts';
import { commands } from './commands/index.ts';

const command: Command = {
  positionals: [{ name: 'FILE', doc: 'a file', required: true }],
  flags: {
    org: { type: 'text', doc: 'an organization', required: true },
    environment: { type: 'text', doc: 'which', choices: ['live', 'test'] },
    rpm: { type: 'integer', doc: 'rate', min: 1 },
    dry: { type: 'switch', doc: 'do nothing' },
  },
  run: async () => ({ json: {}, text: '' }),
};
const parse = (...args: string[]) => parseCommand(command, args);

test('flags and positionals are read by their type', () => {
  const input = parse('a.yaml', '--org', 'acme', '--rpm=60', '--dry', '--json');
  expect(input.positionals).toEqual(['a.yaml']);
  expect(input.get('org')).toBe('acme');
  expect(input.integer('rpm')).toBe(60);
  expect(input.has('dry')).toBe(true);
  expect(input.find('environment')).toBeNull();
});

test.each([
  [['a.yaml'], '--org is required'],
  [['a.yaml', '--org', 'acme', '--nope'], "Unknown option '--nope'"],
  [['a.yaml', '--org', 'acme', '--rpm', '0'], '--rpm takes an integer from 1'],
  [['a.yaml', '--org', 'acme', '--rpm', '1.5'], '--rpm takes an integer'],
  [['a.yaml', '--org', 'acme', '--environment', 'prod'], '--environment takes live or test'],
  [['--org', 'acme'], 'FILE is missing'],
  [['a.yaml', 'b.yaml', '--org', 'acme'], 'unexpected argument "b.yaml"'],
])('%j is refused as a usage error that says why', (args, words) => {
  expect(() => parse(...args)).toThrow(UsageError);
  expect(() => parse(...args)).toThrow(words);
});

const grant = ['--org', 'acme', '--amount-micro', '5', '--reason', 'trial'];
const org = ['--slug', 'acme', '--country', 'US', '--name'];
const huge = String(Number.MAX_SAFE_INTEGER);
test.each([
  ['credits grant', [...grant, '--reason', ''], '--reason takes 1 to 500 characters on one line'],
  ['credits grant', [...grant, '--reason', 'r'.repeat(501)], '--reason takes 1 to 500 characters'],
  ['credits grant', [...grant, '--reason', 'a\nb'], '--reason takes 1 to 500 characters on one line'],
  ['credits grant', [...grant, '--expires-days', '5000000'], '--expires-days takes an integer from 1 to'],
  // A balance is reported as a number below 2^53: after two such grants nobody could read it any more.
  ['credits grant', [...grant, '--amount-micro', huge], '--amount-micro takes an integer from 1 to'],
  ['key create', ['--org', 'acme', '--rpm', '3000000000'], '--rpm takes an integer from 1 to 2147483647'],
  ['key create', ['--org', 'acme', '--tpm', '3000000000'], '--tpm takes an integer from 1 to 2147483647'],
  ['key create', ['--org', 'acme', '--expires-days', '5000000'], '--expires-days takes an integer from 1 to'],
  ['key create', ['--org', 'acme', '--name', ''], '--name takes 1 to 120 characters'],
  ['org create', [...org, 'a\u0007'], '--name takes 1 to 120 characters on one line'],
  ['org create', [...org, 'Acme', '--slug', 'Bad Slug'], '--slug takes up to 40 of a-z'],
  ['project create', ['--org', 'acme', '--slug', 'Bad Slug'], '--slug takes up to 40 of a-z'],
  ['project create', ['--org', 'acme', '--slug', 'a', '--name', ''], '--name takes 1 to 120 characters'],
])('%s %j is refused before the database is asked', async (name, args, words) => {
  const found = await commands.find((one) => one.name === name)?.load();
  expect(() => parseCommand(found as Command, args)).toThrow(UsageError);
  expect(() => parseCommand(found as Command, args)).toThrow(words);
});

test('help names every flag and positional', () => {
  const help = helpOf('do it', 'does it', command);
  for (const word of ['do it', 'FILE', '--org', '--environment live|test', '--rpm', '--dry', '--json'])
    expect(help).toContain(word);
});

test('every command loads, and its help can be shown', async () => {
  for (const { name, summary, load } of commands) expect(helpOf(name, summary, await load())).toContain(name);
});

test('no command hides another one behind its name', () => {
  const names = commands.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});
