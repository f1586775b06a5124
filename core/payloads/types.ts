// Stored content of calls as other concepts see it.
import type { Id, RequestId } from '../kernel/index.ts';
import type { RedactionSettings } from '../redaction/index.ts';

export const payloadStates = ['available', 'none', 'pending', 'expired', 'erased'] as const;
export type PayloadState = (typeof payloadStates)[number];

/** Request and response of a call as JSON texts; null where there is none. */
export interface PayloadTexts {
  readonly request: string | null;
  readonly response: string | null;
}

/** What a call hands over at its end. */
export interface NewPayload {
  readonly request_id: RequestId;
  readonly org_id: Id<'org'>;
  /** Taken out of the response; the request came redacted. */
  readonly redact: RedactionSettings | null;
  /** Bytes that it keeps alive until it is written. */
  readonly bytes: number;
  /** Asked once, off the call's path. */
  texts(): PayloadTexts | Promise<PayloadTexts>;
}

/** Space for a call in the log; exactly one of the two methods is called, once. */
export interface PayloadSlot {
  write(payload: NewPayload): void;
  /** The call has nothing to keep. */
  free(): void;
}

/** The writer of one process. Bounded: a store that is behind costs payloads, never memory or calls. */
export interface PayloadLog {
  /**
   * Space for a call of `org_id` whose request has `bytes`; null while too much waits, of this organization or in all,
   * which is counted and logged.
   */
  open(org_id: Id<'org'>, bytes: number): PayloadSlot | null;
  /** Calls that were not kept although their organization asked for it. */
  readonly dropped: number;
  /** Bytes that wait or may come. */
  readonly waiting_bytes: number;
  /** Resolves when what was handed over at the call is stored or given up. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

/** Stored content, opened. */
export interface Payload {
  readonly request: unknown;
  readonly response: unknown;
}
