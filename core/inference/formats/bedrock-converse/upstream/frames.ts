// `application/vnd.amazon.eventstream`: length-prefixed messages with two checksums each. The library decodes one
// whole message; this code collects it from pieces of any size and limits what it collects.
import { crc32 } from 'node:zlib';
import { EventStreamCodec } from '@smithy/eventstream-codec';
import { ProtocolFault } from '../../../wire/fault.ts';
import { Rest } from '../../../wire/rest.ts';

/** AWS limits a message to 16 MiB of payload and 128 KiB of headers. */
export const MESSAGE_MAX = 16_777_216 + 131_072 + 16;
const HEADERS_MAX = 131_072;
const PRELUDE = 12;
/** Size of the prelude and the message's checksum. */
const OVERHEAD = 16;

export interface Frame {
  /** `event`, `exception` or `error`. */
  readonly type: string;
  /** Name of the event or exception, or code of the error. */
  readonly name: string;
  /** Text of an `error`, which has no payload. */
  readonly message: string;
  readonly payload: Buffer;
}

const codec = new EventStreamCodec(
  (bytes) => (typeof bytes === 'string' ? bytes : viewOf(bytes).toString('utf8')),
  (text) => Buffer.from(text),
);

/** The same bytes as a Buffer, uncopied. */
function viewOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function parse(bytes: Buffer): Frame {
  let message: ReturnType<EventStreamCodec['decode']>;
  try {
    message = codec.decode(bytes);
  } catch (error) {
    throw new ProtocolFault(`an event cannot be read: ${(error as Error).message}`.slice(0, 500));
  }
  const text = (name: string): string => {
    const header = Object.hasOwn(message.headers, name) ? message.headers[name] : undefined;
    return header?.type === 'string' ? header.value : '';
  };
  const type = text(':message-type');
  const name = text(`:${type === 'error' ? 'error-code' : `${type}-type`}`);
  return { type, name, message: text(':error-message'), payload: viewOf(message.body) };
}

/** Length of the message that `bytes` begins. @throws ProtocolFault for a damaged or implausible prelude. */
function lengthOf(bytes: Buffer): number {
  const total = bytes.readUInt32BE(0);
  const headers = bytes.readUInt32BE(4);
  // Checked before waiting for the rest: with a damaged length, the bytes would never come.
  if (crc32(bytes.subarray(0, 8)) !== bytes.readUInt32BE(8)) {
    throw new ProtocolFault('the prelude of an event is damaged');
  }
  if (total > MESSAGE_MAX) throw new ProtocolFault(`an event of ${total} bytes is too large`);
  if (headers > HEADERS_MAX || total < OVERHEAD + headers) {
    throw new ProtocolFault('the lengths of an event contradict each other');
  }
  return total;
}

export class FrameReader {
  readonly #rest = new Rest();
  /** Bytes needed before anything can be read. */
  #want = PRELUDE;

  /** Whether bytes of an unfinished message are kept. */
  get partial(): boolean {
    return this.#rest.length > 0;
  }

  /** The messages that `bytes` complete. @throws ProtocolFault for a damaged one, after returning those before it. */
  *push(bytes: Buffer): Generator<Frame> {
    if (this.#rest.length + bytes.length < this.#want) return this.#rest.add(bytes);
    const all = this.#rest.take(bytes);
    let at = 0;
    for (;;) {
      const left = all.length - at;
      this.#want = PRELUDE;
      if (left < PRELUDE) break;
      this.#want = lengthOf(all.subarray(at));
      if (left < this.#want) break;
      const end = at + this.#want;
      yield parse(all.subarray(at, end));
      at = end;
    }
    if (at < all.length) this.#rest.add(all.subarray(at));
  }
}
