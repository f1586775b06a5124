// `svcctl`: finds the command, parses its arguments, runs it and prints the result. Exit code 0 on success, 1 on
// failure, 2 for a malformed command line; `evals run` tells a failure (3) from a score that is too low (1).
import { ConfigError, ServiceError } from '@svc/core/kernel/index.ts';
import { type Command, Failure, helpOf, parseCommand, type Result, UsageError, wants } from './command.ts';
import { commands, type Listed } from './commands/index.ts';
import { NoInstallation } from './installation.ts';

function overview(): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  return [
    'svcctl COMMAND [flags]    svcctl COMMAND --help',
    '',
    ...commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
    '',
    'The database is the one of SVC_DATABASE_URL, else the one that `make up` runs. Every command takes --json.',
    '',
  ].join('\n');
}

/** The command that `args` begin with (the longest name that matches) and the remaining arguments. */
function findCommand(args: readonly string[]): { listed: Listed; rest: readonly string[] } | null {
  for (let words = Math.min(3, args.length); words > 0; words--) {
    const name = args.slice(0, words).join(' ');
    const listed = commands.find((one) => one.name === name);
    if (listed !== undefined) return { listed, rest: args.slice(words) };
  }
  return null;
}

/** An error that lists the commands that begin with what was typed. */
function unknownCommand(args: readonly string[]): UsageError {
  const group = commands.filter(({ name }) => name.startsWith(`${args[0]} `)).map(({ name }) => name);
  const hint = group.length > 0 ? `there are: ${group.join(', ')}` : 'see svcctl --help';
  return new UsageError(`no command ${JSON.stringify(args.slice(0, 2).join(' '))}; ${hint}`);
}

function describe(error: unknown): { code: string; message: string; details?: object } {
  if (error instanceof Failure) return describe(error.cause);
  if (error instanceof UsageError) return { code: 'usage', message: error.message };
  if (error instanceof ConfigError) return { code: 'configuration', message: error.message };
  if (error instanceof NoInstallation) return { code: 'no_installation', message: error.message };
  if (error instanceof ServiceError) {
    const details = Object.keys(error.details).length > 0 ? { details: error.details } : {};
    return { code: error.code, message: error.message, ...details };
  }
  const { code, message, errors } = error as { code?: string; message?: string; errors?: Error[] };
  // A connection refused at several addresses has no message of its own, only those of the attempts.
  const words = message || errors?.map((one) => one.message).join('; ') || String(error);
  if (code === 'ECONNREFUSED') return { code: 'unreachable', message: `Nothing answers: ${words}` };
  return { code: 'failed', message: words };
}

function print(result: Result, json: boolean): number {
  process.stdout.write(json ? `${JSON.stringify(result.json)}\n` : `${result.text.trimEnd()}\n`);
  return result.ok === false ? 1 : 0;
}

async function run(args: readonly string[]): Promise<number> {
  if (args.length === 0 || args[0] === '--help' || args[0] === '-h' || args[0] === 'help') {
    process.stdout.write(overview());
    return args.length === 0 ? 2 : 0;
  }
  const found = findCommand(args);
  if (found === null) throw unknownCommand(args);
  const { name, summary, load } = found.listed;
  const command: Command = await load();
  if (wants(found.rest, 'help')) {
    process.stdout.write(helpOf(name, summary, command));
    return 0;
  }
  return print(await command.run(parseCommand(command, found.rest)), wants(found.rest, 'json'));
}

/** Runs `svcctl` with `args`; returns the exit code. Errors go to standard error, or to standard output as JSON. */
async function main(args: readonly string[]): Promise<number> {
  try {
    return await run(args);
  } catch (error) {
    const described = describe(error);
    if (wants(args, 'json')) process.stdout.write(`${JSON.stringify({ error: described })}\n`);
    else process.stderr.write(`svcctl: ${described.message}\n`);
    if (error instanceof Failure) return error.exit;
    return error instanceof UsageError ? 2 : 1;
  }
}

process.exitCode = await main(process.argv.slice(2));
