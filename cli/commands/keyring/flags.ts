// What the commands that change the file of a key ring have in common.
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { loadRootKey, now, rootKeys } from '@svc/core/kernel/index.ts';
import type { Flag, Input } from '../../command.ts';
import { keyRingFile } from '../../installation.ts';

export const FILE: Flag = {
  type: 'text',
  doc: 'the file of the key ring; without it that of this installation',
  value: 'FILE',
};

export const NAME = {
  name: 'NAME',
  doc: 'the key, as `svcctl keyring status` names it',
  required: true,
} as const;

/** The file that a command changes. */
export function fileOf(input: Input): string {
  const file = input.find('file');
  return file === null ? keyRingFile() : resolve(file);
}

/** Programs follow the file within five seconds; twice that is given to them. */
const FOLLOWED_MS = 10_000;

/**
 * Waits until every program that reads the file works with what is in it. Until then one may still seal under the key of
 * before, where a rotation has already been and which is then removed.
 */
export async function untilFollowed(file: string): Promise<void> {
  const wait_ms = statSync(file).mtimeMs + FOLLOWED_MS - now().getTime();
  if (wait_ms <= 0) return;
  process.stderr.write(
    `the ring has just changed: ${Math.ceil(wait_ms / 1_000)} s until every program has it\n`,
  );
  await setTimeout(Math.min(wait_ms, FOLLOWED_MS));
}

/** The keys of a ring without what is secret, the current one first. */
export function shownKeys(file: string): { name: string; id: string; is_current: boolean }[] {
  return rootKeys(loadRootKey(file)).map(({ name, id }, no) => ({
    ...{ name, id: id.toString('hex'), is_current: no === 0 },
  }));
}
