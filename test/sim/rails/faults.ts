// Faults of a rail's API on request: the next calls that match fail, wait, or lose their answer.
import type { IncomingMessage, ServerResponse } from 'node:http';

/** A fault of the next API calls that match. */
export interface ApiFault {
  /** Beginning of `METHOD /path`. */
  readonly match: string;
  /** How many calls; 1 when absent. */
  times?: number;
  /**
   * `error`: `status` without acting. `garbled`: acts, and answers something else. `delay`: acts after `delay_ms`. `late_answer`: acts at once and answers after
   * `delay_ms`. `lost_answer`: acts, then breaks the connection.
   */
  readonly mode: 'error' | 'garbled' | 'delay' | 'late_answer' | 'lost_answer';
  readonly status?: number;
  /** What a refusal says of itself; the words of a broken rail when absent. */
  readonly reason?: string;
  readonly description?: string;
  /** These bytes instead of the answer, with `status` or 200; acts before. */
  readonly body?: string;
  readonly content_type?: string;
  readonly delay_ms?: number;
}

export class Faults {
  private waiting: ApiFault[] = [];

  set(faults: readonly ApiFault[]): void {
    this.waiting = faults.map((fault) => ({ ...fault }));
  }

  /** The fault of this call, used up by it; null when it has none. */
  take(call: string): ApiFault | null {
    const fault = this.waiting.find(({ match, times = 1 }) => times > 0 && call.startsWith(match));
    if (fault === undefined) return null;
    fault.times = (fault.times ?? 1) - 1;
    return fault;
  }
}

/** Waits as long as `fault` says. */
export function pause(fault: ApiFault): Promise<void> {
  return new Promise((done) => setTimeout(done, fault.delay_ms ?? 1_000));
}

/** Answers what no client of this rail expects. */
export function garble(response: ServerResponse, { status = 200, body = '', content_type }: ApiFault): void {
  response.writeHead(status, { 'content-type': content_type ?? 'application/json' });
  response.end(body);
}

/** The whole body of a request, as text. */
export async function bodyOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString('utf8');
}
