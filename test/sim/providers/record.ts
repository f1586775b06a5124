// What a simulator served. The oracle of the crash test compares this with what callers saw and what was charged.
import { closeSync, openSync, writeSync } from 'node:fs';

export type SimFamily = 'openai' | 'anthropic' | 'cohere' | 'responses' | 'bedrock' | 'gemini';

export interface CallRecord {
  /** From 1, in order of arrival. */
  n: number;
  family: SimFamily;
  /** Word `mark=<id>` of the last user message, or `metadata.mark`; '' when there is none. */
  mark: string;
  model: string;
  stream: boolean;
  /** Knobs as written. */
  knobs: string;
  /** Epoch milliseconds. */
  began_ms: number;
  ended_ms: number | null;
  request_bytes: number;
  /** Status sent; 0 = none was. */
  status: number;
  /** Id in the answer. */
  id: string;
  /** Bytes of the body handed to the socket. */
  bytes_delivered: number;
  /** Output tokens in them. */
  tokens_delivered: number;
  /** Output tokens of the whole answer. */
  prompt_tokens: number;
  completion_tokens: number;
  /** The usage that the answer reports (over_report, negative_usage); null if it reports none or was not sent. */
  reported: { prompt_tokens: number; completion_tokens: number } | null;
  /** The answer was sent completely. */
  finished: boolean;
  /** The caller closed the connection before that. */
  client_gone: boolean;
  /** Last four characters of the key presented. */
  key_hint: string;
  headers: Record<string, string>;
  /** Parsed request; kept for the latest calls only. */
  body: unknown;
}

const CALLS_MAX = 100_000;
const BODIES_MAX = 1_000;

/** The record of one simulator: calls in memory, and in `file` a line at the start and at the end of each. */
export class CallLog {
  calls: CallRecord[] = [];
  private count = 0;
  private readonly file: number | null;

  constructor(path: string | undefined) {
    this.file = path === undefined ? null : openSync(path, 'a');
  }

  begin(call: Omit<CallRecord, 'n'>): CallRecord {
    const record: CallRecord = { n: ++this.count, ...call };
    if (this.calls.length >= CALLS_MAX) this.calls = this.calls.slice(CALLS_MAX / 2);
    this.calls.push(record);
    const old = this.calls.at(-BODIES_MAX - 1);
    if (old !== undefined) old.body = null;
    this.line('begin', record);
    return record;
  }

  end(record: CallRecord): void {
    if (record.ended_ms !== null) return;
    record.ended_ms = Date.now();
    this.line('end', record);
  }

  reset(): void {
    this.calls.length = 0;
  }

  close(): void {
    if (this.file !== null) closeSync(this.file);
  }

  // Written at once and by the process itself: the kernel has the line even when the next thing is a kill -9.
  private line(event: 'begin' | 'end', { body: _body, headers: _headers, ...rest }: CallRecord): void {
    if (this.file !== null) writeSync(this.file, `${JSON.stringify({ event, ...rest })}\n`);
  }
}
