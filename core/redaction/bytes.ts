// Redaction of a whole body, run both by the call's own thread and by the worker.
import { isUtf8 } from 'node:buffer';
import { redactJson } from './body.ts';
import { type Redactor, Tally } from './redactor.ts';

export interface RedactedBody {
  readonly body: Buffer;
  /** Matches replaced. */
  readonly redactions: number;
  /** Characters dropped because the call's budget was used up. */
  readonly unscanned: number;
}

/** `body`, a JSON text, redacted but for the paths in `spared`; the very same bytes where nothing was found. */
export function redactBytes(redactor: Redactor, body: Buffer, spared: readonly string[]): RedactedBody {
  const tally = new Tally();
  const text = body.toString('utf8');
  const redacted = redactJson(redactor, text, tally, new Set(spared));
  // Bytes that are no UTF-8 differ from the decoded text that was scanned, so the scanned text is sent.
  const same = redacted === text && isUtf8(body);
  const { redactions, unscanned } = tally;
  return { body: same ? body : Buffer.from(redacted), redactions, unscanned };
}
