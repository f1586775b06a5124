// The body of a call becomes a request: at once, or in the slices of a turn that large bodies wait for.
import type { CanonicalRequest } from '../../canonical/types.ts';
import type { Incoming } from '../types.ts';
import { parseText } from './parse.ts';
import { parseInSlices } from './sliced-json.ts';
import { type Turn, Turns } from './turns.ts';

/** The large bodies of this process. */
const turns = new Turns();

/** Resolves when a large body of `org_id` may be decoded or read; to be ended. */
export function largeBodyTurn(org_id: string): Promise<Turn> {
  return turns.take(org_id);
}

/** Runs `work` when it is the caller's turn. */
export async function inTurn<T>({ grant }: Incoming, work: (turn: Turn) => Promise<T>): Promise<T> {
  const turn = await largeBodyTurn(grant.org_id);
  try {
    return await work(turn);
  } finally {
    turn.end();
  }
}

/** A body as it was read. */
export interface Read {
  /** The decoded body. */
  readonly text: string;
  readonly body: unknown;
  readonly request: CanonicalRequest;
}

/** The whole body in one go. @throws ServiceError what reading refuses. */
export function readAtOnce({ body: bytes, members, dialect, headers }: Incoming): Read {
  const text = bytes.toString('utf8');
  const body = parseText(text, members);
  return { text, body, request: dialect.read(body, headers) };
}

/** The body in slices of `turn`; the reader itself takes one. @throws ServiceError what reading refuses. */
export async function readInSlices({ body: bytes, dialect, headers }: Incoming, turn: Turn): Promise<Read> {
  const body = await parseInSlices(bytes, turn);
  await turn.rest(true);
  const request = dialect.read(body, headers);
  await turn.rest(true);
  const text = bytes.toString('utf8');
  await turn.rest(true);
  return { text, body, request };
}
