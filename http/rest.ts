// What is left of a request whose answer was given before it had come whole.
import type { IncomingMessage } from 'node:http';

/** A client reads no answer while it sends, and gets none at all from a connection that is reset. */
const REST_BYTES = 134_217_728;
const REST_MS = 20_000;

/** Reads and drops what `request` still brings, within bounds, so that the answer is not lost in a reset. */
export function dropRest(request: IncomingMessage): void {
  request.resume();
  if (request.complete || request.destroyed) return;
  let left = REST_BYTES;
  const timer = setTimeout(() => request.destroy(), REST_MS).unref();
  request.on('data', ({ length }: Buffer) => {
    left -= length;
    if (left < 0) request.destroy();
  });
  const done = () => clearTimeout(timer);
  request.once('end', done);
  request.once('close', done);
}
