// Official clients retry by themselves after a cut or a timeout; they send no Idempotency-Key, only a retry count.
// This registry finds what waits for such a retry: an answer whose caller has just left (comeback.ts), or a whole
// answer that is being drained because its provider bills it anyway (docs/outcomes.md#left-whole-answer). So a
// client's own retry never pays twice.
import { sha256Hex } from '../../../kernel/index.ts';
import type { Drained, Incoming, Reattachable } from '../types.ts';
import { RETRY_COUNT } from './comeback.ts';

function fingerprint(incoming: Incoming): string {
  return sha256Hex(`${incoming.grant.key_id} ${incoming.path} ${sha256Hex(incoming.body)}`);
}

/** The drained calls of one process. Hashing is only needed for calls whose caller left, and for retries. */
export function createDrained(): Drained {
  const calls = new Map<string, Reattachable>();
  const prints = new Map<Reattachable, string>();
  return {
    add(incoming, call) {
      const print = fingerprint(incoming);
      calls.set(print, call);
      prints.set(call, print);
    },
    delete(call) {
      const print = prints.get(call);
      if (print === undefined) return;
      prints.delete(call);
      if (calls.get(print) === call) calls.delete(print);
    },
    take(incoming) {
      const count = incoming.headers[RETRY_COUNT];
      if (calls.size === 0 || count === undefined || !(Number(count) >= 1)) return null;
      const print = fingerprint(incoming);
      const call = calls.get(print) ?? null;
      if (call !== null) {
        calls.delete(print);
        prints.delete(call);
      }
      return call;
    },
  };
}
