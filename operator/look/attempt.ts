// One attempt at an object, of whatever kind: what came of it for the queue, the metrics and the log.
import { ApiFault } from '../cluster/kubernetes.ts';
import type { Again } from '../cluster/queue.ts';
import type { Log } from '../log.ts';
import type { OperatorMetrics } from '../metrics.ts';
import { elapsedMs } from '../system.ts';

/** This process leads no more: another one goes on, and nothing is said of the attempt. */
export class NotLeading extends Error {}

/** Runs `work` and says when the object of `about` is reconciled again. Never throws. */
export async function attempt(
  { metrics, log }: { readonly metrics: OperatorMetrics; readonly log: Log },
  about: { readonly object: string; readonly kind?: string },
  work: () => Promise<Again>,
): Promise<Again> {
  const began = elapsedMs();
  let result = 'failed';
  let again: Again = 'backoff';
  try {
    again = await work();
    const ended = again === 'never' ? 'released' : 'settled';
    result = again === 'backoff' ? 'waiting' : ended;
  } catch (error) {
    if (error instanceof NotLeading) return 'backoff';
    if (error instanceof ApiFault && error.status === 409) {
      // It changed meanwhile: reconciled again at once, as it is now.
      result = 'conflict';
      again = { after_ms: 0 };
    } else log.warn({ ...about, message: (error as Error).message }, 'reconcile failed');
  } finally {
    metrics.reconciled(result, (elapsedMs() - began) / 1_000);
  }
  return again;
}
