// Each format says what becomes of every member of the canonical form (core/inference/canonical/coverage.ts); here every
// entry of those tables is tried: what is sent changes the body, what is lost is reported, what is shown changes the
// answer, streamed and whole.
import { expect, test } from 'vitest';
import { edited } from '../../core/inference/call/attempt/edits.ts';
import { foldEvents } from '../../core/inference/canonical/assemble.ts';
import type { InAnswer, InRequest } from '../../core/inference/canonical/coverage.ts';
import type { CanonicalEvent, CanonicalRequest } from '../../core/inference/canonical/types.ts';
import { builtIn } from '../../core/inference/formats/index.ts';
import { chatEnd } from '../grammar/chat-fixtures.ts';
import { meta } from '../grammar/responses-cases.ts';
import { answerPairs, type Pair, requestPairs } from './coverage.ts';
import { endpoint } from './endpoints.ts';
import { fetched, optionsFor, PATHS } from './evaluate.ts';
import { DIALECTS, type Dialect, FAMILIES, type GenerationFamily } from './types.ts';

type Rows<T> = Readonly<Record<string, Readonly<Record<string, T>>>>;

function fatesOf<T, V>(pairs: Rows<Pair<T>>, fate: (pair: Pair<T>) => V): Rows<V> {
  return Object.fromEntries(
    Object.entries(pairs).map(([row, members]) => [
      row,
      Object.fromEntries(Object.entries(members).map(([name, pair]) => [name, fate(pair)])),
    ]),
  );
}

/** What becomes of the difference of two requests on an endpoint of `family`. */
function tried(family: GenerationFamily, listed: boolean, pair: Pair<CanonicalRequest>) {
  const adapter = builtIn.adapters.get(family);
  if (adapter === undefined) throw new Error(`no adapter ${family}`);
  const target = endpoint(family, listed);
  const [before, after] = pair.map((request) => {
    const { body, headers } = adapter.encode(
      edited(fetched(request, family), 0, { adapter, target }).sent,
      target,
      optionsFor(request, false),
    );
    const losses = adapter.losses(request, target);
    return {
      sent: `${headers} ${body}`,
      lost: JSON.stringify(losses.map(({ code, param }) => [code, param])),
    };
  });
  return { sent: before?.sent !== after?.sent, lost: before?.lost !== after?.lost };
}

function requestFates(family: GenerationFamily): Rows<InRequest> {
  return fatesOf(requestPairs(family) as unknown as Rows<Pair<CanonicalRequest>>, (pair) => {
    const [ordinary, listed] = [tried(family, false, pair), tried(family, true, pair)];
    if (!(ordinary.sent || ordinary.lost || listed.sent || listed.lost)) return 'unasked';
    return ordinary.sent || listed.sent ? 'sent' : 'lost';
  });
}

function heard(dialect: Dialect, events: readonly CanonicalEvent[]) {
  const speaker = builtIn.dialects.get(PATHS[dialect]);
  if (speaker === undefined) throw new Error(`no dialect ${dialect}`);
  const { answer } = foldEvents(events);
  const end = chatEnd(answer.usage);
  const writer = speaker.writer(meta);
  const stream = events.map((event) => writer.write(event)).join('') + writer.end(end);
  return [stream, speaker.write(answer, meta, end)].map((text) => ({
    shown: text.replace(/"warnings":\[.*?\]/g, ''),
    codes: [...text.matchAll(/"code":"(\w+)"/g)].map(([, code]) => code).join(),
  }));
}

/** A family whose answers the dialect can show. */
const NATURAL: Readonly<Record<Dialect, GenerationFamily>> = {
  chat: 'gemini',
  responses: 'openai_responses',
  messages: 'anthropic_messages',
  completions: 'openai_chat',
  native: 'gemini',
};

/** Some members belong to streams alone; what is lost must be reported in streams and whole answers alike. */
function answerFates(dialect: Dialect): Rows<InAnswer> {
  return fatesOf(
    answerPairs(NATURAL[dialect]) as unknown as Rows<Pair<CanonicalEvent[]>>,
    ([before, after]) => {
      const [a, b] = [heard(dialect, before), heard(dialect, after)];
      if (a.some(({ shown }, i) => shown !== b[i]?.shown)) return 'shown';
      return a.every(({ codes }, i) => codes !== b[i]?.codes) ? 'lost' : 'hidden';
    },
  );
}

test.each(FAMILIES)('%s says what becomes of each member of a request', (family) => {
  expect(requestFates(family)).toEqual(builtIn.adapters.get(family)?.coverage);
});

test.each(DIALECTS)('%s says what becomes of each member of an answer', (dialect) => {
  expect(answerFates(dialect)).toEqual(builtIn.dialects.get(PATHS[dialect])?.coverage);
});

test('only families that take the form as it is or serve tasks alone say nothing', () => {
  const silent = [...builtIn.adapters.values()].filter(({ coverage }) => coverage === null);
  expect(silent.map(({ family }) => family)).toEqual(['embed_rerank', 'sandbox']);
});
