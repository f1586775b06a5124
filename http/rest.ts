// What is left of a request whose answer was given before it had come whole.
import type { IncomingMessage } from 'node:http';

/** A client reads no answer while it sends, and gets none at all from a connection that is reset. */
const REST_BYTES = 134_217_728;
const REST_MS = 20_000;

/**
 * Reads and drops what `request` still brings, within bounds, so that the answer is not lost in a reset; `dropped` is
 * then called with how much that was.
 */
export function dropRest(request: IncomingMessage, dropped: (bytes: number) => void = () => {}): void {
  request.resume();
  if (request.complete || request.destroyed) return;
  let bytes = 0;
  let over = false;
  const timer = setTimeout(() => request.destroy(), REST_MS).unref();
  request.on('data', ({ length }: Buffer) => {
    bytes += length;
    if (bytes > REST_BYTES) request.destroy();
  });
  const done = () => {
    clearTimeout(timer);
    if (!over) dropped(bytes);
    over = true;
  };
  request.once('end', done);
  request.once('close', done);
}
