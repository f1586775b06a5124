// The canonical lane as a relay: decodes, keeps the state, and writes; one piece out for each read.
import type { Relay, RelayState, StreamDecoder, StreamWriter } from './contract.ts';
import { EventTracker } from './relay-state.ts';
import type { CanonicalEvent, ReplyEnd, StreamFault } from './types.ts';

class CanonicalRelay implements Relay {
  readonly #decoder: StreamDecoder;
  readonly #writer: StreamWriter;
  readonly #tracker = new EventTracker();

  constructor(decoder: StreamDecoder, writer: StreamWriter) {
    this.#decoder = decoder;
    this.#writer = writer;
  }

  get state(): RelayState {
    return this.#tracker.state;
  }

  push(bytes: Buffer): string {
    return this.#write(this.#decoder.push(bytes));
  }

  close(): string {
    return this.#write(this.#decoder.end());
  }

  end(end: ReplyEnd): string {
    return this.#writer.end(end);
  }

  fail(fault: StreamFault, end: ReplyEnd): string {
    return this.#writer.fail(fault, end);
  }

  keepAlive(): string {
    return this.#writer.keepAlive();
  }

  #write(events: CanonicalEvent[]): string {
    let out = '';
    const shown = shownOf(events);
    for (let i = 0; i < events.length; i++) {
      // Nothing after a fault belongs to the answer; the call ends the stream with `fail`.
      if (this.#tracker.state.fault !== null) break;
      const event = events[i] as CanonicalEvent;
      this.#tracker.see(event);
      if (i < shown) out += this.#writer.write(event);
    }
    return out;
  }
}

/** How many of `events` are written: the parts that a decoder closes after a fault have not really ended. */
function shownOf(events: readonly CanonicalEvent[]): number {
  let shown = events.findIndex(({ type }) => type === 'error');
  if (shown < 0) return events.length;
  while (events[shown - 1]?.type === 'part_stop') shown--;
  return shown;
}

/** A relay that decodes with `decoder` and writes with `writer`. Faults go to its state and are not written. */
export function canonicalRelay(decoder: StreamDecoder, writer: StreamWriter): Relay {
  return new CanonicalRelay(decoder, writer);
}
