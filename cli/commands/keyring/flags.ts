// What the commands that change the file of a key ring have in common.
import { resolve } from 'node:path';
import { loadRootKey, rootKeys } from '@svc/core/kernel/index.ts';
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

/** The keys of a ring without what is secret, the current one first. */
export function shownKeys(file: string): { name: string; id: string; is_current: boolean }[] {
  return rootKeys(loadRootKey(file)).map(({ name, id }, no) => ({
    ...{ name, id: id.toString('hex'), is_current: no === 0 },
  }));
}
