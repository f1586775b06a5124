// Answers of server-sent events. They end when the reader leaves, when the caller may no longer read, and when the process is
// about to stop: a load balancer then sends the reader, who comes again by itself, to another one.
import { Readable } from 'node:stream';
import type { EventAnswer } from '@svc/core/kernel/index.ts';
import type { FastifyReply } from 'fastify';

/** How often it is asked whether the caller may still read, and whether the process is stopping. */
const CHECK_MS = 2_000;

interface EventReader {
  /** A rejection ends the answer. */
  check(): Promise<unknown>;
  /** Whether the process accepts no more work. */
  isStopping(): boolean;
}

/** Sends `answer` as fast as it is read. */
export function sendEvents(reply: FastifyReply, answer: EventAnswer, reader: EventReader): FastifyReply {
  const ended = new AbortController();
  const end = () => ended.abort();
  const events = answer.open(ended.signal);
  const watch = setInterval(() => {
    if (reader.isStopping()) end();
    else reader.check().catch(end);
  }, CHECK_MS);
  ended.signal.addEventListener('abort', () => clearInterval(watch));
  const body = Readable.from(events, { objectMode: false, highWaterMark: 1 });
  body.once('close', end);
  if (reply.raw.destroyed) end();
  reply.raw.once('close', end);
  return reply
    .type(answer.content_type)
    .header('cache-control', 'no-store')
    .header('x-accel-buffering', 'no')
    .send(body);
}
