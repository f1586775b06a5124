// Callers of a run: each sends its call, once or as often as its habit says, and reports what it saw.
import { newUlid } from '@svc/core/kernel/index.ts';
import {
  begunMs,
  bodyOf,
  endNotKept,
  idsOf,
  isAfter,
  isForNow,
  readAnswer,
  type Seen,
  type Sent,
} from '../../crash/caller.ts';
import type { Loop } from '../engine/loop.ts';
import type { Asked } from './gateway.ts';
import { isOpen } from './models.ts';
import type { SimCall } from './plan.ts';
import { CallerSink } from './sink.ts';

/** Takes what a caller sends; false: nobody is there. */
export type Reach = (gateway: 0 | 1, asked: Asked, sink: CallerSink) => boolean;

/** How long a caller with a key asks for its answer: a lease lapses, and a sweep comes, within that. */
const PATIENCE_MS = 200_000;
const BETWEEN_MS = 1_500;
const SLOW_READERS = 0.2;
/** Official clients wait for so long before their first retry, or a quarter less; a gateway waits for them a second longer. */
const CLIENT_PAUSE_MS = 500;
const AWAITED_MS = 1_500;
/** What only its provider can count. */
const PICTURE =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=';

interface Try {
  readonly gateway: 0 | 1;
  readonly headers: Readonly<Record<string, string>>;
  readonly leave_after_ms: number | null;
  /** It leaves only where nothing has come. */
  readonly unanswered?: boolean;
  /** Told of the connection. */
  readonly watch?: (sink: CallerSink) => void;
}

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

/** The body of `call`, with a picture beside the text where its model sees. */
function bodyFor(call: SimCall): string {
  const body = bodyOf(call);
  if (!isOpen(call.model)) return body;
  const asked = JSON.parse(body) as { messages: { content: unknown }[] };
  const url = `data:image/png;base64,${PICTURE}`;
  const picture =
    call.dialect === 'chat'
      ? { type: 'image_url', image_url: { url } }
      : { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PICTURE } };
  const [message] = asked.messages;
  const text = message?.content;
  return JSON.stringify({
    ...asked,
    messages: [{ role: 'user', content: [{ type: 'text', text }, picture] }],
  });
}

async function exchange(loop: Loop, reach: Reach, call: SimCall, how: Try): Promise<Seen> {
  const sink = new CallerSink(loop, loop.draw.unit() < SLOW_READERS);
  how.watch?.(sink);
  const path = call.dialect === 'chat' ? '/v1/chat/completions' : '/v1/messages';
  const asked = { path, secret: call.key, body: bodyFor(call), headers: how.headers };
  if (!reach(how.gateway, asked, sink)) return { kind: 'lost', request_id: null };
  const leave = () => (how.unanswered === true && sink.status !== 0 ? undefined : sink.leave());
  const timer = how.leave_after_ms === null ? null : setTimeout(leave, how.leave_after_ms);
  const end = await sink.over;
  if (timer !== null) clearTimeout(timer);
  const { status, request_id, text } = sink;
  const is_stream = status === 200 && !text.startsWith('{');
  if (request_id !== null && (end === 'ended' || is_stream)) {
    const seen = readAnswer(status, request_id, text);
    if (seen !== null) return seen;
  }
  return { kind: end === 'left' ? 'left' : 'lost', request_id };
}

/**
 * Asks with an Idempotency-Key until there is an answer, and then once more. A caller without patience leaves a gateway that keeps
 * it waiting, and asks the other one.
 */
async function sendKeyed(loop: Loop, reach: Reach, call: SimCall): Promise<Sent> {
  const deadline_ms = loop.now_ms + PATIENCE_MS;
  const headers = { 'idempotency-key': `simulated-${call.no}` };
  const all: Seen[] = [];
  let { leave_after_ms } = call;
  let gateway = loop.draw.pick([0, 1] as const);
  for (;;) {
    const how = { gateway, headers, leave_after_ms };
    const got = await exchange(loop, reach, call, how);
    const not_kept = endNotKept(got, all);
    const seen = not_kept ?? got;
    all.push(seen);
    leave_after_ms = call.patience_ms;
    gateway = call.patience_ms === null ? loop.draw.pick([0, 1] as const) : ((1 - gateway) as 0 | 1);
    if (not_kept === null && isForNow(seen) && loop.now_ms < deadline_ms) {
      await pause(BETWEEN_MS);
      continue;
    }
    const again =
      seen.kind === 'final' ? await exchange(loop, reach, call, { ...how, leave_after_ms: null }) : null;
    return { call, seen, again, late: false, ids: idsOf(again === null ? all : [...all, again]) };
  }
}

/** Asks as an official client does: once more, where nothing has come for too long, on another connection. */
async function sendAsClient(loop: Loop, reach: Reach, call: SimCall): Promise<Sent> {
  const { gateway, client } = call;
  if (client === undefined) throw new Error('not a call of an official client');
  const sinks: CallerSink[] = [];
  const watch = (sink: CallerSink) => void sinks.push(sink);
  const tryOf = (count: number, leave_after_ms: number | null) =>
    exchange(loop, reach, call, {
      watch,
      ...{ gateway, headers: { 'x-stainless-retry-count': String(count) }, leave_after_ms, unanswered: true },
    });
  let ended_ms = Number.POSITIVE_INFINITY;
  /** Ids rise: what has a smaller one began before the client had left. */
  let left = '';
  const earlier = tryOf(0, client.stays ? null : client.gives_up_ms).finally(() => {
    ended_ms = loop.now_ms;
    left = newUlid();
  });
  await (client.stays ? Promise.race([earlier, pause(client.gives_up_ms)]) : earlier);
  if (ended_ms <= loop.now_ms) {
    const seen = await earlier;
    if (seen.kind !== 'left') return { call, seen, again: null, late: false, ids: idsOf([seen]) };
    await pause(CLIENT_PAUSE_MS * (1 - loop.draw.unit() / 4));
  }
  loop.note(`caller ${call.no} asks again as a client`);
  const [first, second] = await Promise.all([earlier, tryOf(1, null)]);
  // The answer was being sent when the gateway heard that its client had left.
  const begun = first.kind === 'left' && sinks[0]?.status !== 0;
  const late = begun || begunMs(second) > ended_ms + AWAITED_MS || isAfter(first, second);
  // A refusal of the call that it had left is the end of that call.
  const is_older = second.request_id !== null && second.request_id < left;
  const joined = second.kind === 'refused' && is_older && !client.stays;
  const [seen, again] = second.kind === 'final' || joined ? [second, first] : [first, second];
  return { call, seen, again, late, ids: idsOf([first, second]) };
}

/** Sends `call` and reports what its caller saw. */
export async function send(loop: Loop, reach: Reach, call: SimCall): Promise<Sent> {
  if (call.habit === 'keyed') return sendKeyed(loop, reach, call);
  if (call.habit === 'retries') return sendAsClient(loop, reach, call);
  const { gateway, leave_after_ms } = call;
  const seen = await exchange(loop, reach, call, { gateway, headers: {}, leave_after_ms });
  return { call, seen, ids: idsOf([seen]), again: null, late: false };
}
