// Official clients retry by themselves after a cut or a timeout; they send no Idempotency-Key, only a retry count.
// This registry finds what such a retry belongs to: an answer whose caller has just left or seems to be connected
// still, one that was sent when its caller had just given up (comeback.ts), or a whole answer that is being drained because its provider bills it anyway
// (docs/outcomes.md#left-whole-answer). So a client's own retry never pays twice.
import { LRUCache } from 'lru-cache';
import { monotonicMs } from '../../../kernel/index.ts';
import type { Drained, Incoming, Reattachable } from '../types.ts';
import { RETRY_COUNT } from './comeback.ts';

/** Keys with a failed call, for which a retry may be meant. */
const FAILED_MAX = 10_000;
/** Whole answers that were sent and are kept for a moment. */
const DELIVERED_MAX = 1_000;

/** Requests in one bucket are compared byte by byte, which only a retry pays for; nothing is hashed. */
function bucketOf({ grant, path, body }: Incoming): string {
  return `${grant.key_id} ${path} ${body.length}`;
}

function isSame(one: Incoming, other: Incoming): boolean {
  const key = 'idempotency-key';
  return one.headers[key] === other.headers[key] && one.body.equals(other.body);
}

/** What waits for a retry in one process. */
export function createDrained(): Drained {
  const buckets = new Map<string, Map<Reattachable, Incoming>>();
  const names = new Map<Reattachable, string>();
  const failed = new LRUCache<string, number>({ max: FAILED_MAX });
  let delivered = 0;
  const remove = (call: Reattachable): void => {
    const name = names.get(call);
    if (name === undefined) return;
    names.delete(call);
    if (call.delivered) delivered--;
    const bucket = buckets.get(name);
    bucket?.delete(call);
    if (bucket?.size === 0) buckets.delete(name);
  };
  const hasFailed = (key_id: string): boolean => (failed.get(key_id) ?? 0) > monotonicMs();
  return {
    add(incoming, call) {
      remove(call);
      if (call.delivered && delivered >= DELIVERED_MAX) return;
      if (call.delivered) delivered++;
      const name = bucketOf(incoming);
      const bucket = buckets.get(name) ?? new Map<Reattachable, Incoming>();
      bucket.set(call, incoming);
      buckets.set(name, bucket);
      names.set(call, name);
    },
    delete: remove,
    failed(key_id, awaited_ms) {
      if (awaited_ms > 0) failed.set(key_id, monotonicMs() + awaited_ms);
    },
    take(incoming) {
      const count = incoming.headers[RETRY_COUNT];
      if (buckets.size === 0 || count === undefined || !(Number(count) >= 1)) return null;
      const bucket = buckets.get(bucketOf(incoming)) ?? new Map<Reattachable, Incoming>();
      const same = [...bucket].filter(([, other]) => isSame(incoming, other)).map(([call]) => call);
      const waiting = same.find(({ waits, delivered }) => waits && !delivered);
      // Of several that are connected nobody can say which is meant, nor whether a call that failed is.
      const unclear = hasFailed(incoming.grant.key_id);
      const running = same.filter(({ delivered }) => !delivered);
      const meant = running.length > 0 ? running : same;
      const call = waiting ?? (unclear || meant.length > 1 ? null : (meant[0] ?? null));
      if (call !== null) remove(call);
      return call;
    },
  };
}
