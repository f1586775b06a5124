// The thread in which patterns run. One search is linear in the text, but a text can be crafted so that each of many
// searches scans all of it, and that must not block the thread of a call.
import { parentPort } from 'node:worker_threads';
import { monotonicMs, ServiceError } from '../kernel/index.ts';
import { redactBytes } from './bytes.ts';
import { Redactor } from './redactor.ts';
import type { RedactionSettings } from './types.ts';

/** One body to redact. */
export interface Job {
  readonly id: number;
  readonly settings: RedactionSettings;
  readonly body: Uint8Array;
  readonly spared: readonly string[];
  /** Milliseconds after which no further search begins. */
  readonly patience_ms: number;
}

/** The result; `fault` is a message without content. */
export type RedactionResult =
  | {
      readonly id: number;
      readonly body: Uint8Array | null;
      readonly redactions: number;
      readonly unscanned: number;
    }
  | { readonly id: number; readonly fault: 'too_slow' | 'invalid_pattern' | 'failed' };

const REDACTORS_MAX = 64;
const redactors = new Map<string, Redactor>();

function redactorOf(settings: RedactionSettings): Redactor {
  const key = JSON.stringify(settings);
  let redactor = redactors.get(key);
  if (redactor === undefined) {
    if (redactors.size >= REDACTORS_MAX) redactors.clear();
    redactor = new Redactor(settings, monotonicMs);
    redactors.set(key, redactor);
  }
  return redactor;
}

function run({ id, settings, body, spared, patience_ms }: Job): RedactionResult {
  try {
    const redactor = redactorOf(settings);
    redactor.endAt(monotonicMs() + patience_ms);
    const given = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    const { body: made, redactions, unscanned } = redactBytes(redactor, given, spared);
    return { id, body: made === given ? null : new Uint8Array(made), redactions, unscanned };
  } catch (error) {
    if (error instanceof RangeError) return { id, fault: 'too_slow' };
    return { id, fault: error instanceof ServiceError ? 'invalid_pattern' : 'failed' };
  }
}

parentPort?.on('message', (job: Job) => {
  const outcome = run(job);
  const made = 'fault' in outcome || outcome.body === null ? [] : [outcome.body.buffer as ArrayBuffer];
  parentPort?.postMessage(outcome, made);
});
