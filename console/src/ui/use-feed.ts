// The live list of calls: rows that were read and rows that arrive, merged without duplicates. New rows are shown once
// a second, so that the page of a busy organisation does not flicker; while the feed is held they wait.
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import {
  type FeedRowFragment,
  RequestAddedDocument,
  type RequestAddedSubscriptionVariables,
} from '../api/gen/graphql.ts';
import { type LiveState, useLive } from '../api/use-live.ts';
import { useOrg } from '../app/org.tsx';

const FLUSH_MS = 1_000;
const ROWS_MAX = 500;

export interface Feed {
  readonly rows: readonly FeedRowFragment[];
  /** Rows that came with the last flush. */
  readonly fresh: ReadonlySet<string>;
  /** Rows that wait while the feed is held. */
  readonly waiting: number;
  readonly live: LiveState;
  release(): void;
}

/** Newest first, each call once; of two rows of one call the one that was read later stays. Pure. */
export function mergeRows(
  newer: readonly FeedRowFragment[],
  older: readonly FeedRowFragment[],
): FeedRowFragment[] {
  const by_id = new Map(older.map((row) => [row.id, row]));
  for (const row of newer) by_id.set(row.id, row);
  // Ids are ULIDs: their order is the order in which the calls began.
  return [...by_id.values()].sort((a, b) => (a.id < b.id ? 1 : -1));
}

/** Adds a new row to those that wait; beyond 500 the oldest are dropped. */
export function enqueue(queue: FeedRowFragment[], row: FeedRowFragment): void {
  queue.push(row);
  if (queue.length > ROWS_MAX) queue.shift();
}

/** Calls `onOther` when another choice is made than before. */
function useChoice(wanted: object | undefined, onOther: () => void): void {
  const choice = JSON.stringify(wanted ?? null);
  const before = useRef(choice);
  const latest = useRef(onOther);
  latest.current = onOther;
  useEffect(() => {
    if (before.current === choice) return;
    before.current = choice;
    latest.current();
  }, [choice]);
}

export function useFeed(options: {
  /** What was read; undefined while it is being read. */
  readonly read: readonly FeedRowFragment[] | undefined;
  readonly key_id?: string | undefined;
  /** Which calls are sent at all; those that came under another choice are not shown. */
  readonly wanted?: Omit<RequestAddedSubscriptionVariables, 'environment'>;
  /** Whether a row that arrives belongs to what the page shows. */
  readonly matches?: (row: FeedRowFragment) => boolean;
  readonly held?: boolean;
  readonly off?: boolean;
  /** Reads again after a gap. */
  readonly onBack?: () => void;
  readonly onRow?: (row: FeedRowFragment) => void;
}): Feed {
  const { environment } = useOrg();
  const [arrived, setArrived] = useState<readonly FeedRowFragment[]>([]);
  const [fresh, setFresh] = useState<ReadonlySet<string>>(new Set());
  const [waiting, setWaiting] = useState(0);
  const queue = useRef<FeedRowFragment[]>([]);
  const latest = useRef(options);
  latest.current = options;

  useChoice(options.wanted, () => {
    queue.current.length = 0;
    setArrived([]);
    setWaiting(0);
    // What came between two choices is read.
    latest.current.onBack?.();
  });

  const release = useCallback(() => {
    const rows = queue.current.splice(0);
    setWaiting(0);
    if (rows.length === 0) return;
    // Rows that arrive by themselves are bounded; rows that a person asked for are not dropped.
    setArrived((before) => mergeRows(rows, before).slice(0, ROWS_MAX));
    setFresh(new Set(rows.map(({ id }) => id)));
  }, []);
  useEffect(() => {
    const timer = setInterval(() => {
      if (latest.current.held) setWaiting(queue.current.length);
      else release();
    }, FLUSH_MS);
    return () => clearInterval(timer);
  }, [release]);

  const variables = options.off
    ? null
    : { environment, ...options.wanted, ...(options.key_id === undefined ? {} : { keyId: options.key_id }) };
  const live = useLive({
    document: RequestAddedDocument,
    variables,
    onData: ({ requestAdded: row }) => {
      if (latest.current.matches?.(row) === false) return;
      enqueue(queue.current, row);
      latest.current.onRow?.(row);
    },
    onBack: () => latest.current.onBack?.(),
  });
  const { read } = options;
  const { matches } = options;
  const rows = useMemo(
    () => mergeRows(matches === undefined ? arrived : arrived.filter(matches), read ?? []),
    [arrived, read, matches],
  );
  return { rows, fresh, waiting, live, release };
}
