// A command of `svcctl`: its flags, each with a sentence, and `run`, which returns what is printed. Parsing,
// `--help`, `--json` and errors follow from the declaration, so that all commands behave alike.
import { parseArgs } from 'node:util';

export interface Flag {
  readonly type: 'text' | 'integer' | 'switch';
  readonly doc: string;
  /** The placeholder after the flag in `--help`: `ID`, `FILE`. */
  readonly value?: string;
  readonly required?: true;
  readonly choices?: readonly string[];
  readonly min?: number;
  readonly max?: number;
  /** For text: one line of 1 to this many characters. */
  readonly length_max?: number;
  /** For text: the pattern it must match, and a description of that pattern. */
  readonly form?: readonly [like: RegExp, words: string];
}

/** A flag that takes a slug. */
export const SLUG = {
  type: 'text',
  form: [/^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/, 'up to 40 of a-z, 0-9 and inner hyphens'],
} as const;
/** A flag that takes a display name. */
export const NAME = { type: 'text', length_max: 120 } as const;
/** The largest integer that PostgreSQL's `int4` can hold. */
export const INT4_MAX = 2_147_483_647;
/** A hundred years. A `Date` cannot represent every time beyond that. */
export const DAYS_MAX = 36_500;

interface Positional {
  readonly name: string;
  readonly doc: string;
  readonly required?: true;
  readonly choices?: readonly string[];
  /** Takes all remaining arguments. */
  readonly many?: true;
}

/** The result of a command: an object for programs and text for people. `ok: false` makes the exit code 1. */
export interface Result {
  readonly json: object;
  readonly text: string;
  readonly ok?: boolean;
}

/** A failure of a command whose exit code is not 1, because its 1 says something else. */
export class Failure extends Error {
  readonly exit: number;

  constructor(exit: number, cause: unknown) {
    super((cause as Error).message, { cause });
    this.exit = exit;
  }
}

export interface Command {
  readonly flags?: Readonly<Record<string, Flag>>;
  readonly positionals?: readonly Positional[];
  readonly example?: string;
  run(input: Input): Promise<Result>;
}

/** A malformed command line; printed with the usage, exit code 2. */
export class UsageError extends Error {}

/** A parsed command line. */
export class Input {
  readonly positionals: readonly string[];
  private readonly values: Readonly<Record<string, string | boolean | undefined>>;

  constructor(
    values: Readonly<Record<string, string | boolean | undefined>>,
    positionals: readonly string[],
  ) {
    this.values = values;
    this.positionals = positionals;
  }

  /** The text of a flag; null when it was not given. */
  find(name: string): string | null {
    const value = this.values[name];
    return typeof value === 'string' ? value : null;
  }

  /** The text of a required flag; parsing has refused a command line without it. */
  get(name: string): string {
    return this.find(name) as string;
  }

  /** The number of a flag; null when it was not given. */
  integer(name: string): number | null {
    const text = this.find(name);
    return text === null ? null : Number(text);
  }

  /** Whether a switch was given. */
  has(name: string): boolean {
    return this.values[name] === true;
  }
}

const common: Readonly<Record<string, Flag>> = {
  json: { type: 'switch', doc: 'print one JSON object and nothing else' },
  help: { type: 'switch', doc: 'show this help' },
};

function checkInteger(name: string, { min = 0, max = Number.MAX_SAFE_INTEGER }: Flag, value: string): void {
  const n = Number(value);
  if (/^-?\d+$/.test(value) && n >= min && n <= max) return;
  const end = max === Number.MAX_SAFE_INTEGER ? '' : ` to ${max}`;
  throw new UsageError(`--${name} takes an integer from ${min}${end}, got ${JSON.stringify(value)}`);
}

function checkText(name: string, { length_max, form }: Flag, value: string): void {
  const { length } = [...value];
  if (length_max !== undefined && (length < 1 || length > length_max || /\p{Cc}/u.test(value)))
    throw new UsageError(`--${name} takes 1 to ${length_max} characters on one line`);
  if (form !== undefined && !form[0].test(value))
    throw new UsageError(`--${name} takes ${form[1]}, got ${JSON.stringify(value)}`);
}

function checkFlag(name: string, flag: Flag, value: string | boolean | undefined): void {
  if (value === undefined) {
    if (flag.required) throw new UsageError(`--${name} is required: ${flag.doc}`);
    return;
  }
  if (flag.type === 'integer') checkInteger(name, flag, String(value));
  if (flag.type === 'text') checkText(name, flag, String(value));
  if (flag.choices !== undefined && !flag.choices.includes(String(value)))
    throw new UsageError(`--${name} takes ${flag.choices.join(' or ')}, got ${JSON.stringify(value)}`);
}

function checkPositionals(command: Command, given: readonly string[]): void {
  const declared = command.positionals ?? [];
  for (const [at, positional] of declared.entries()) {
    const { name, doc, choices } = positional;
    const value = given[at];
    if (positional.required && value === undefined) throw new UsageError(`${name} is missing: ${doc}`);
    if (choices !== undefined && value !== undefined && !choices.includes(value))
      throw new UsageError(`${name} is ${choices.join(' or ')}, got ${JSON.stringify(value)}`);
  }
  const surplus = given[declared.length];
  if (surplus !== undefined && !declared.at(-1)?.many)
    throw new UsageError(`unexpected argument ${JSON.stringify(surplus)}`);
}

/**
 * Whether the arguments ask for JSON or help. Read before the rest is parsed, so that a parse error can be JSON too.
 */
export function wants(args: readonly string[], flag: 'json' | 'help'): boolean {
  const end = args.indexOf('--');
  const flags = end < 0 ? args : args.slice(0, end);
  return flags.includes(`--${flag}`) || (flag === 'help' && flags.includes('-h'));
}

/** Every flag of `command`, with those that all commands take. */
export function flagsOf(command: Command): Readonly<Record<string, Flag>> {
  return { ...command.flags, ...common };
}

/** Parses `args` for `command`. @throws UsageError naming the flag and what was expected. */
export function parseCommand(command: Command, args: readonly string[]): Input {
  const flags = flagsOf(command);
  const options = Object.fromEntries(
    Object.entries(flags).map(([name, flag]) => [
      name,
      { type: flag.type === 'switch' ? ('boolean' as const) : ('string' as const) },
    ]),
  );
  let parsed: { values: Record<string, string | boolean | undefined>; positionals: string[] };
  try {
    parsed = parseArgs({ args: [...args], options, allowPositionals: true, strict: true }) as typeof parsed;
  } catch (error) {
    throw new UsageError((error as Error).message.replace(/\. To specify a positional argument.*$/s, ''));
  }
  for (const [name, flag] of Object.entries(flags)) checkFlag(name, flag, parsed.values[name]);
  checkPositionals(command, parsed.positionals);
  return new Input(parsed.values, parsed.positionals);
}

/** The help text of a command. */
export function helpOf(name: string, summary: string, command: Command): string {
  const positionals = command.positionals ?? [];
  const shown = positionals.map(({ name, required, many }) => {
    const word = `${name}${many ? ' …' : ''}`;
    return required ? word : `[${word}]`;
  });
  const rows: [string, string][] = positionals.map(({ name, doc }) => [name, doc]);
  for (const [flag, { type, value, doc, required, choices }] of Object.entries(flagsOf(command))) {
    const argument = choices?.join('|') ?? value ?? (type === 'integer' ? 'N' : 'TEXT');
    rows.push([
      `--${flag}${type === 'switch' ? '' : ` ${argument}`}`,
      `${doc}${required ? ' (required)' : ''}`,
    ]);
  }
  const width = Math.max(...rows.map(([left]) => left.length));
  return [
    `svcctl ${[name, ...shown, '[flags]'].join(' ')}`,
    `  ${summary}`,
    '',
    ...rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`),
    ...(command.example === undefined ? [] : ['', `  example: ${command.example}`]),
    '',
  ].join('\n');
}
