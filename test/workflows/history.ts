// Histories of workflows as files. The SDK's own JSON form needs one copy of protobufjs where npm installs two, so this
// is the plain object of the message: enums by name, long numbers and bytes as text.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import proto from '@temporalio/proto';
import { expect } from 'vitest';

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

/** Payloads of a message, wherever they are in it, as the values that they hold. */
function* valuesIn(message: unknown): Generator<unknown> {
  if (typeof message !== 'object' || message === null || message instanceof Uint8Array) return;
  const { metadata, data } = message as { metadata?: object; data?: unknown };
  if (metadata && data instanceof Uint8Array) {
    if (data.length > 0) yield JSON.parse(Buffer.from(data).toString());
    return;
  }
  for (const part of Object.values(message)) yield* valuesIn(part);
}

function* leaves(value: unknown): Generator<unknown> {
  if (typeof value !== 'object' || value === null) yield value;
  else for (const part of Object.values(value)) yield* leaves(part);
}

/** An id of ours, a day, or a word of ours; texts of people and rails have other forms. */
const PLAIN = /^(?:[a-z]+_[0-9A-HJKMNP-TV-Z]{26}|\d{4}-\d\d-\d\d|[a-z_]*)$/;

/** Until when some activities are tried, in seconds. */
const PATIENCE_SECONDS: Readonly<Record<string, number>> = {
  sendRefund: 7 * 86_400,
  releaseMandate: 7 * 86_400,
  eraseSubject: 7 * 86_400,
  mailReceipt: 86_400,
};

/** How long one try of an activity may last, in seconds, where that is not thirty: as long as all that it asks a rail. */
const TRY_SECONDS: Readonly<Record<string, number>> = { announceAttempt: 60, chargeAttempt: 60 };

/**
 * Holds a run that has ended to what is true of all: its payloads are ids, integers and words of ours, and an activity is
 * tried after 1 s and then after twice as long, 5 minutes at most, unless `slower` names it.
 */
export function expectPlain(
  history: proto.temporal.api.history.v1.IHistory,
  slower: readonly string[] = [],
): void {
  let values = 0;
  for (const event of history.events ?? []) {
    const { userMetadata: _, workflowExecutionStartedEventAttributes: started, ...rest } = event;
    // Memo, summary and headers are for people; what is computed with is in the input.
    const payloads = [...valuesIn([started?.input, rest])];
    values += payloads.length;
    const odd = payloads
      .flatMap((value) => [...leaves(value)])
      .filter((leaf) =>
        typeof leaf === 'string' ? !PLAIN.test(leaf) : typeof leaf === 'number' && !Number.isInteger(leaf),
      );
    expect(odd).toEqual([]);
    const scheduled = event.activityTaskScheduledEventAttributes;
    const name = scheduled?.activityType?.name ?? '';
    if (!scheduled) continue;
    const { startToCloseTimeout, scheduleToCloseTimeout, retryPolicy } = scheduled;
    const patience = PATIENCE_SECONDS[name];
    if (patience !== undefined)
      expect([name, Number(scheduleToCloseTimeout?.seconds)]).toEqual([name, patience]);
    if (slower.includes(name)) continue;
    const seconds = [startToCloseTimeout, retryPolicy?.initialInterval, retryPolicy?.maximumInterval];
    expect([
      name,
      ...seconds.map((duration) => Number(duration?.seconds)),
      retryPolicy?.backoffCoefficient,
    ]).toEqual([name, TRY_SECONDS[name] ?? 30, 1, 300, 2]);
  }
  expect(values).toBeGreaterThan(0);
}

/** The history in the file at `path`. */
export function readHistory(path: string): Message {
  return History.fromObject(JSON.parse(readFileSync(path, 'utf8')) as object) as Message;
}
