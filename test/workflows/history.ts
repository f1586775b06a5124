// Histories of workflows as files. The SDK's own JSON form needs one copy of protobufjs where npm installs two, so this
// is the plain object of the message: enums by name, long numbers and bytes as text.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import proto from '@temporalio/proto';

const { History } = proto.temporal.api.history.v1;
type Message = Parameters<typeof History.toObject>[0];

/** Writes `history` to `path`, for a person to review. */
export function writeHistory(path: string, history: object): void {
  const plain = History.toObject(History.fromObject(history) as Message, {
    bytes: String,
    longs: String,
    enums: String,
  });
  mkdirSync(dirname(path), { recursive: true });
  // Stack traces name paths of this machine and mean nothing to a replay.
  const text = JSON.stringify(plain, (key, value) => (key === 'stackTrace' ? '' : value), 1);
  writeFileSync(path, `${text}\n`);
}

/** The history in the file at `path`. */
export function readHistory(path: string): Message {
  return History.fromObject(JSON.parse(readFileSync(path, 'utf8')) as object) as Message;
}
