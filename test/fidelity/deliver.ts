// An answer of a family, brought to a caller of a dialect as a call would: in the raw lane where both speak one wire, in
// the canonical lane elsewhere, streamed and whole.

import { foldEvents } from '../../core/inference/canonical/assemble.ts';
import type { Relay } from '../../core/inference/canonical/contract.ts';
import { canonicalRelay } from '../../core/inference/canonical/relay.ts';
import type { CanonicalEvent, CanonicalRequest } from '../../core/inference/canonical/types.ts';
import { builtIn } from '../../core/inference/formats/index.ts';
import { chatEnd } from '../grammar/chat-fixtures.ts';
import { meta } from '../grammar/responses-cases.ts';
import { endpoint } from './endpoints.ts';
import { bodyOf, PATHS, rawLaneOf, read } from './evaluate.ts';
import type { Dialect, GenerationFamily, Json } from './types.ts';
import { MODEL, type Wire } from './wires.ts';

const { adapters, dialects } = builtIn;

export interface Delivered {
  readonly raw: boolean;
  /** Bytes of the stream for the caller. */
  readonly stream: string;
  /** The whole answer for the caller. */
  readonly whole: Json;
  /** The provider's own whole answer, read and written again, as a replay would be; null in the raw lane. */
  readonly decoded: Json | null;
}

const ASK: Readonly<Partial<Record<Dialect, Json>>> = {
  chat: { stream: true, stream_options: { include_usage: true } },
  responses: { stream: true, include: ['reasoning.encrypted_content'] },
};

function runRelay(relay: Relay, bytes: Buffer): string {
  // Odd pieces, so that every event is cut somewhere.
  let out = '';
  for (let at = 0; at < bytes.length; at += 37) out += relay.push(Buffer.from(bytes.subarray(at, at + 37)));
  out += relay.close();
  const { fault, usage, stop } = relay.state;
  if (fault !== null) throw new Error(`the provider's stream was refused: ${fault.class} ${fault.message}`);
  if (stop === null) throw new Error("the provider's stream told no stop");
  return out + relay.end(chatEnd(usage));
}

/** `more` is in the caller's body. */
export function deliver(dialect: Dialect, family: GenerationFamily, wire: Wire, more: Json = {}): Delivered {
  const asked = (stream: boolean): CanonicalRequest =>
    read(
      dialect,
      bodyOf(dialect, { ...(stream ? { stream: true, ...ASK[dialect] } : ask(dialect)), ...more }),
    );
  const target = endpoint(family);
  const adapter = adapters.get(family)!;
  const speaker = dialects.get(PATHS[dialect])!;
  const reply = { ...meta, include_usage: true, region: 'eu-west', upstream_model: MODEL, attempt: 1 };
  const request = asked(true);
  const lane = rawLaneOf(dialect, target, request);
  if (lane !== undefined) {
    const stream = runRelay(lane.relay(reply, request, target), wire.stream);
    const given = lane.whole(wire.whole, asked(false), target);
    const whole = JSON.parse(given.finish(reply, chatEnd(given.usage)).toString()) as Json;
    return { raw: true, stream, whole, decoded: null };
  }
  const stream = runRelay(
    canonicalRelay(adapter.decoder(request, target), speaker.writer(reply)),
    wire.stream,
  );
  const decoder = adapter.decoder(asked(false), target);
  const events: CanonicalEvent[] = [...decoder.push(wire.stream), ...decoder.end()];
  const { answer } = foldEvents(events);
  const written = (of: typeof answer) => JSON.parse(speaker.write(of, reply, chatEnd(of.usage))) as Json;
  return {
    raw: false,
    stream,
    whole: written(answer),
    decoded: written(adapter.decode(wire.whole, asked(false), target)),
  };
}

function ask(dialect: Dialect): Json {
  const { stream: _stream, stream_options: _options, ...rest } = ASK[dialect] ?? {};
  return rest;
}
