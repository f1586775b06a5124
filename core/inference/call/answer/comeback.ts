// Official clients retry by themselves when a connection is cut, or when an answer takes too long to begin, and say
// so in a header. Between two of their tries nobody is connected, or the
// first connection only seems to be. The answer then waits for a moment, or goes over to the newer one, so that a
// client's own retry never pays twice, for streams as well. A caller that sends no such header counts as gone at once
// (docs/outcomes.md#the-caller-leaves), and so does one that stays away longer.
import { monotonicMs } from '../../../kernel/index.ts';
import type { Drained, Incoming, Reattachable, Sink } from '../types.ts';

/** Header of the official clients; 0 on the first try. */
export const RETRY_COUNT = 'x-stainless-retry-count';
/** The clients' delay before the first retry; it doubles with each retry, up to eight seconds. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 8_000;
/** Time for the retry to arrive, including a new connection from another continent. */
const ON_THE_WAY_MS = 1_000;
/** A timer is so late only where the process has stood still: it has not read what came meanwhile, the retry perhaps among it. */
const STOOD_STILL_MS = 100;
/** Bytes of an answer that are kept while waiting; beyond them the provider is not read. */
const HELD_MAX = 1_048_576;

/** Bytes of request and answer together, of whole answers that are kept for a moment after they were sent. */
const DELIVERED_MAX = 65_536;

interface Head {
  readonly status: number;
  readonly headers: string[];
}

interface End {
  readonly bytes: Buffer | string;
  readonly trailers: readonly [string, string][];
}

/** What an answer produced while its caller was away. */
interface Held {
  head: Head | null;
  pieces: (Buffer | string)[];
  bytes: number;
  end: End | null;
  timer: NodeJS.Timeout;
}

/** How many ms after a cut the client that sent `headers` may retry: 0 when it does not retry by itself. */
export function awaitedMs(headers: Incoming['headers']): number {
  const count = headers[RETRY_COUNT];
  // With an Idempotency-Key the answer is kept anyway, and for longer.
  if (count === undefined || !/^\d{1,2}$/.test(count) || headers['idempotency-key'] !== undefined) return 0;
  return Math.min(FIRST_PAUSE_MS * 2 ** Number(count), LONGEST_PAUSE_MS) + ON_THE_WAY_MS;
}

/** The caller's side of a call, which outlives its connection for the short time in which the caller may retry. */
export class PatientSink implements Sink, Reattachable {
  onDrain: (() => void) | null = null;
  onGone: (() => void) | null = null;
  /** Whether a provider may have been asked. Before that, a caller that leaves owes nothing and is not waited for. */
  asked: () => boolean = () => true;
  private readonly drained: Drained;
  private sink: Sink;
  /** Null once the caller has seen something or has come back: from then on the new sink does the waiting. */
  private incoming: Incoming | null;
  private held: Held | null = null;
  /** How an answer began that its caller is being sent; null again when it is a stream. */
  private begun: { readonly incoming: Incoming; readonly head: Head } | null = null;
  delivered = false;

  constructor(drained: Drained, incoming: Incoming, sink: Sink) {
    this.drained = drained;
    this.sink = sink;
    this.listen();
    this.incoming = incoming;
    drained.add(incoming, this);
  }

  get waits(): boolean {
    return this.held !== null;
  }

  get gone(): boolean {
    return this.held === null && this.sink.gone;
  }

  head(status: number, headers: string[]): void {
    const { held, incoming } = this;
    // A failed call was free, so its retry is executed anew.
    if (status >= 400 && incoming !== null)
      this.drained.failed(incoming.grant.key_id, awaitedMs(incoming.headers));
    if (held === null || status >= 400) this.forget();
    if (held === null) {
      if (incoming !== null && status < 400) this.begun = { incoming, head: { status, headers } };
      return this.sink.head(status, headers);
    }
    this.incoming = null;
    if (status < 400) held.head = { status, headers };
  }

  write(bytes: Buffer | string): boolean {
    const { held } = this;
    this.begun = null;
    if (held === null) return this.sink.write(bytes);
    held.pieces.push(bytes);
    held.bytes += bytes.length;
    return held.bytes < HELD_MAX;
  }

  end(bytes: Buffer | string, trailers: readonly [string, string][] = []): void {
    const { held, begun } = this;
    if (held !== null) {
      held.end = { bytes, trailers };
      return;
    }
    this.sink.end(bytes, trailers);
    if (begun !== null && begun.incoming.body.length + bytes.length <= DELIVERED_MAX)
      this.keep(begun, { bytes, trailers });
  }

  destroy(): void {
    this.forget();
    this.sink.destroy();
  }

  /**
   * The caller has retried and is connected through `sink`: it gets what it missed, and the answer continues there. Its
   * older connection is closed where it is not yet; nothing has been sent on it.
   */
  reattach(sink: Sink): void {
    const { held, sink: older } = this;
    this.incoming = this.held = null;
    older.onGone = older.onDrain = null;
    if (held === null) older.destroy();
    this.sink = sink;
    this.listen();
    if (held === null) {
      if (sink.gone) this.onGone?.();
      return;
    }
    clearTimeout(held.timer);
    if (held.head !== null) sink.head(held.head.status, held.head.headers);
    for (const piece of held.pieces) sink.write(piece);
    if (held.end !== null) sink.end(held.end.bytes, held.end.trailers);
    else if (sink.gone) this.onGone?.();
    else this.onDrain?.();
  }

  private listen(): void {
    this.sink.onDrain = () => this.onDrain?.();
    this.sink.onGone = () => this.left();
  }

  /**
   * The caller may have given up in the moment in which its whole answer was sent, and ask again: it then gets this one.
   */
  private keep({ incoming, head }: { incoming: Incoming; head: Head }, end: End): void {
    const timer = this.awaitRetry(awaitedMs(incoming.headers), () => this.forget());
    this.held = { head, pieces: [], bytes: 0, end, timer };
    this.begun = null;
    this.delivered = true;
    this.drained.add(incoming, this);
  }

  private left(): void {
    const { incoming } = this;
    if (this.delivered) return;
    if (incoming === null || !this.asked()) {
      this.forget();
      return this.onGone?.();
    }
    const timer = this.awaitRetry(awaitedMs(incoming.headers), () => this.stayedAway());
    this.held = { head: null, pieces: [], bytes: 0, end: null, timer };
  }

  /** Calls `over` when a retry has not come in `wait_ms`; while the process stands still, that time does not pass. */
  private awaitRetry(wait_ms: number, over: () => void): NodeJS.Timeout {
    const due_ms = monotonicMs() + wait_ms;
    const check = () => {
      const { held } = this;
      const stood_still = monotonicMs() > due_ms + STOOD_STILL_MS;
      if (held !== null && stood_still) held.timer = this.awaitRetry(ON_THE_WAY_MS, over);
      else over();
    };
    return setTimeout(check, wait_ms).unref();
  }

  private stayedAway(): void {
    this.forget();
    this.onGone?.();
  }

  private forget(): void {
    if (this.held !== null) clearTimeout(this.held.timer);
    this.incoming = this.held = this.begun = null;
    this.drained.delete(this);
  }
}
