// What may stand at the end of a command line of `svcctl`.
import { type Command, flagsOf } from '../../command.ts';
import { commands } from '../index.ts';

export interface Candidate {
  readonly value: string;
  readonly doc: string;
}

/** The next words of the commands whose names begin with `words`; of a group of commands, the first one says what it is. */
function nextWords(words: readonly string[]): Candidate[] {
  const found = new Map<string, string>();
  for (const { name, summary } of commands) {
    const parts = name.split(' ');
    const next = parts[words.length];
    if (next === undefined || words.some((word, at) => word !== parts[at])) continue;
    const is_whole = parts.length === words.length + 1;
    if (is_whole || !found.has(next)) found.set(next, is_whole ? summary : `${name}, …`);
  }
  return [...found].map(([value, doc]) => ({ value, doc }));
}

function freeFlags(command: Command, given: readonly string[]): Candidate[] {
  return Object.entries(flagsOf(command))
    .filter(([name]) => !given.some((word) => word === `--${name}` || word.startsWith(`--${name}=`)))
    .map(([name, { doc }]) => ({ value: `--${name}`, doc }));
}

/** What `command` takes after `given`; nothing where only the person or a file can say. */
function argumentsOf(command: Command, given: readonly string[], last: string): Candidate[] {
  const flag = flagsOf(command)[given.at(-1)?.replace(/^--/, '') ?? ''];
  if (flag !== undefined && flag.type !== 'switch' && given.at(-1)?.startsWith('--'))
    return (flag.choices ?? []).map((value) => ({ value, doc: flag.doc }));
  if (last.startsWith('-')) return freeFlags(command, given);
  const at = given.filter((word) => !word.startsWith('-')).length;
  const positional = command.positionals?.[at];
  return (positional?.choices ?? []).map((value) => ({ value, doc: positional?.doc ?? '' }));
}

/**
 * Candidates for the last of `words`, which may be empty or begun. A shell completes names of files where there are none.
 */
export async function candidates(words: readonly string[]): Promise<Candidate[]> {
  const last = words.at(-1) ?? '';
  const given = words.slice(0, -1);
  const listed = commands
    .filter(({ name }) => `${given.join(' ')} `.startsWith(`${name} `))
    .sort((a, b) => b.name.length - a.name.length)[0];
  const next = nextWords(given);
  const found =
    listed === undefined || next.length > 0
      ? next
      : argumentsOf(await listed.load(), given.slice(listed.name.split(' ').length), last);
  return found.filter(({ value }) => value.startsWith(last));
}
