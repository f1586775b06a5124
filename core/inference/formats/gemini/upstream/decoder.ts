// Reads the family's event stream into canonical events. It has no end mark: the connection closes after the last
// chunk.

import { isObject } from '../../../../kernel/index.ts';
import type { StreamDecoder, Target } from '../../../canonical/contract.ts';
import { guarded } from '../../../canonical/guarded.ts';
import { TRUNCATED } from '../../../canonical/truncated.ts';
import type { CanonicalEvent, CanonicalRequest } from '../../../canonical/types.ts';
import { parseExact } from '../../../wire/exact.ts';
import { ProtocolFault } from '../../../wire/fault.ts';
import { SseReader } from '../../../wire/sse.ts';
import { ChunkReader } from './chunks.ts';

/** Only arguments are passed on; other numbers need not be exact, which would cost time. */
function parse(text: string): unknown {
  try {
    return text.includes('"functionCall"') ? parseExact(text) : JSON.parse(text);
  } catch {
    throw new ProtocolFault('the data of an event is not JSON');
  }
}

function isWhole(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

export class GeminiDecoder implements StreamDecoder {
  readonly #sse = new SseReader();
  readonly #chunks: ChunkReader;
  #over = false;

  constructor(request: CanonicalRequest, target: Target) {
    this.#chunks = new ChunkReader(request, target);
  }

  push(bytes: Buffer): CanonicalEvent[] {
    return this.#guard((out) => {
      for (const event of this.#sse.push(bytes)) this.#event(event.data, out);
    });
  }

  end(): CanonicalEvent[] {
    return this.#guard((out) => {
      // Bytes after the last blank line count only when they are a whole event; one that is cut off says nothing.
      for (const event of this.#sse.end()) if (isWhole(event.data)) this.#event(event.data, out);
      if (this.#over) return;
      this.#over = true;
      this.#chunks.close(out);
      this.#chunks.report(out);
      if (this.#chunks.stopped) out.push({ type: 'finish' });
      else out.push({ type: 'error', fault: { ...TRUNCATED } });
    });
  }

  #guard(read: (out: CanonicalEvent[]) => void): CanonicalEvent[] {
    const out: CanonicalEvent[] = [];
    if (this.#over) return out;
    guarded(
      () => read(out),
      (fault) => {
        this.#over = true;
        out.push({ type: 'error', fault });
      },
    );
    return out;
  }

  #event(text: string, out: CanonicalEvent[]): void {
    // Proxies in front of the provider end the stream with OpenAI's mark.
    if (this.#over || text === '' || text === '[DONE]') return;
    const data = parse(text);
    if (!isObject(data)) return;
    const fault = this.#chunks.take(data, out);
    if (fault === null) return;
    this.#over = true;
    this.#chunks.close(out);
    out.push({ type: 'error', fault });
  }
}
