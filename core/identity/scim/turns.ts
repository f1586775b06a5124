// Changes of the groups of an organization take turns: within a process before one of its connections is used, so that a
// directory that sends hundreds at once takes one connection and not all, and between processes in the database.
import type { Context, Id } from '../../kernel/index.ts';
import { takeGroupsTurn } from './group-store.ts';

/** The last turn that was asked for, by organization. */
const waiting = new Map<Id<'org'>, Promise<unknown>>();

/** Runs `work` in a transaction when the changes before it have ended. */
export async function inTurn<T>(
  context: Context,
  org_id: Id<'org'>,
  work: (context: Context) => Promise<T>,
): Promise<T> {
  const own = (waiting.get(org_id) ?? Promise.resolve()).then(() =>
    context.transaction(async (context) => {
      await takeGroupsTurn(context.db, org_id);
      return work(context);
    }),
  );
  // Whether it went well is for whoever asked; the next one only waits for its end.
  const ended = own.catch(() => {});
  waiting.set(org_id, ended);
  try {
    return await own;
  } finally {
    if (waiting.get(org_id) === ended) waiting.delete(org_id);
  }
}
