// What follows from an attempt, as data and pure functions: sent, tried again, or given up, and whether the address is
// the reason (docs/operate/mail.md#retries-and-refused-addresses).

/** What a mail server said, or why none could be asked. */
export interface SmtpAnswer {
  /** Three digits; 0 when there was no answer. */
  readonly code: number;
  /** `RCPT TO`, `DATA`, `AUTH …`: what was answered. */
  readonly command: string;
  readonly text: string;
}

export type Verdict =
  | { readonly kind: 'retry' }
  /** This mail is not tried again; `address`: neither is its address. */
  | { readonly kind: 'failed'; readonly address: boolean };

/** Minutes after the failure of attempt 1, 2, ...; the last one goes on until the mail is too old. */
export const RETRY_MINUTES = [1, 5, 15, 60, 180] as const;
/** Random shift in either direction, so that mails that failed together are not retried together. */
const JITTER = 0.1;

/** RFC 3463: what the server says of the address itself: none such, moved, switched off, none of ours. */
const ADDRESS_FAULT = /\b5\.(?:1\.[0-6]|1\.10|2\.1)\b/;
const ENHANCED = /\b5\.\d{1,3}\.\d{1,3}\b/;
/** Without an enhanced code: mailbox unavailable, not local, name not allowed (RFC 5321 4.2.3). */
const ADDRESS_CODES: ReadonlySet<number> = new Set([550, 551, 553]);

/**
 * What follows from a failure. A permanent answer ends the mail where it is about the recipient or the text of the mail.
 * One about us (sign-in, sender, policy, relaying) is an operator's to mend, so the mail waits.
 */
export function judgeFailure({ code, command, text }: SmtpAnswer): Verdict {
  if (code < 500) return { kind: 'retry' };
  if (command === 'DATA') return { kind: 'failed', address: false };
  if (command !== 'RCPT TO') return { kind: 'retry' };
  const enhanced = ENHANCED.exec(text);
  if (enhanced === null)
    return ADDRESS_CODES.has(code) ? { kind: 'failed', address: true } : { kind: 'retry' };
  if (ADDRESS_FAULT.test(text)) return { kind: 'failed', address: true };
  // 5.7: policy. Everything else of a recipient (mailbox full, message too large) is this mail's fault alone.
  return enhanced[0].startsWith('5.7.') ? { kind: 'retry' } : { kind: 'failed', address: false };
}

/** Milliseconds from the failure of attempt `attempt` (from 1) to the next; `unit` is uniform in [0, 1). */
export function retryDelayMs(attempt: number, unit: number): number {
  const minutes = RETRY_MINUTES[Math.min(attempt, RETRY_MINUTES.length) - 1] as number;
  return Math.round(minutes * 60_000 * (1 - JITTER + 2 * JITTER * unit));
}
