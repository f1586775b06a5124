// Messages of `application/vnd.amazon.eventstream`, written from the specification.
import { crc32 } from 'node:zlib';

const STRING = 7;

/** One message with string headers. */
export function eventMessage(headers: Readonly<Record<string, string>>, body: string | Buffer): Buffer {
  const parts: Buffer[] = [];
  for (const [name, value] of Object.entries(headers)) {
    const text = Buffer.from(value);
    const head = Buffer.from([
      name.length,
      ...Buffer.from(name),
      STRING,
      text.length >> 8,
      text.length & 255,
    ]);
    parts.push(head, text);
  }
  const head = Buffer.concat(parts);
  const payload = Buffer.from(body as string);
  const total = 16 + head.length + payload.length;
  const out = Buffer.alloc(total);
  out.writeUInt32BE(total, 0);
  out.writeUInt32BE(head.length, 4);
  out.writeUInt32BE(crc32(out.subarray(0, 8)), 8);
  head.copy(out, 12);
  payload.copy(out, 12 + head.length);
  out.writeUInt32BE(crc32(out.subarray(0, total - 4)), total - 4);
  return out;
}

/** An event with a JSON payload. */
export function jsonEvent(name: string, body: unknown): Buffer {
  return eventMessage(
    { ':event-type': name, ':content-type': 'application/json', ':message-type': 'event' },
    JSON.stringify(body),
  );
}

/** An exception that ends a stream. */
export function exceptionEvent(name: string, message: string): Buffer {
  return eventMessage(
    { ':exception-type': name, ':content-type': 'application/json', ':message-type': 'exception' },
    JSON.stringify({ message }),
  );
}
