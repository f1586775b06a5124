// What a stream is charged of which no usage is known, because its caller left or its provider reports none
// (docs/money/pricing.md#counting-what-was-delivered), against what was delivered: every family, five kinds of text, tokens one
// by one or several an event. It is counted with the figures learnt from earlier answers of its endpoint.
import { beforeAll, expect, test } from 'vitest';
import { type Exchange, eventsOf, type Json, open } from '../caller.ts';
import type { Handler, Received } from '../upstream.ts';
import { eventually, type Org, useWorld } from '../world.ts';
import { provider } from './family-bills.ts';
import { type ScriptName, scriptNames, scripts } from './money-wires.ts';
import { type TextKind, textKinds, texts, tokensOf } from './texts.ts';

/** Tokens of one event after the other: the first two send each by itself, the others as they have them together. */
const bundles: Readonly<Record<ScriptName, readonly number[]>> = {
  openaiChat: [1],
  openaiResponses: [1],
  anthropic: [3, 2, 4],
  gemini: [12, 9, 14, 11],
  bedrock: [2, 1, 3],
};
/** Two of the families through the raw lane of their own dialect beside the first. */
const paths: Readonly<Partial<Record<ScriptName, string>>> = {
  openaiResponses: '/v1/responses',
  anthropic: '/v1/messages',
};
/** Of 100 answers with tokens enough an endpoint's own figures count; every fifth is too short. */
const ANSWERS = 140;

const model = (name: ScriptName, state: 'new' | 'known') => `
  - id: left/${name.toLowerCase()}-${state}
    name: ${name} ${state}
    context_length: 128000
    max_output: 8192
    endpoints:
      - provider: fam-${name.toLowerCase()}
        upstream_model: left-${name.toLowerCase()}-${state}
        region: local
        cancel_billing: stops
        price: { input: "1", output: "1" }`;

const world = useWorld({
  env: { CALLS_BEDROCK_KEY: 'bedrock-api-key-one' },
  extras: ({ script }) => ({
    providers: scriptNames.map((name) => provider(script.url, name)).join(''),
    models: scriptNames.flatMap((name) => [model(name, 'new'), model(name, 'known')]).join(''),
  }),
});

interface Event {
  readonly text: string;
  readonly tokens: number;
}

/** `text` as a family sends it. */
function eventsFrom(name: ScriptName, text: string): Event[] {
  const tokens = tokensOf(text);
  const sizes = bundles[name];
  const events: Event[] = [];
  for (let at = 0; at < tokens.length; ) {
    const bundle = tokens.slice(at, at + (sizes[events.length % sizes.length] as number));
    events.push({ text: bundle.join(''), tokens: bundle.length });
    at += bundle.length;
  }
  return events;
}

/** The answer to a call, by the number in its prompt: the events, and whether it then ends, and with its usage. */
const answers: { readonly events: readonly Event[]; readonly ends: 'counted' | 'uncounted' | 'never' }[] = [];

function answer(name: ScriptName): Handler {
  const script = scripts[name];
  return (response, { body }: Received) => {
    const number = Number(/call (\d+)/.exec(JSON.stringify(body))?.[1]);
    const { events, ends } = answers[number] as (typeof answers)[number];
    response.writeHead(200, { 'content-type': script.content_type });
    response.write(script.open(null));
    for (const { text } of events) response.write(script.text(text));
    if (ends === 'never') return;
    if (ends === 'uncounted') return void response.end(script.close(null));
    // Providers count the token that ends an answer, which is no text.
    const output = events.reduce((sum, { tokens }) => sum + tokens, 1);
    response.end(script.close(script.usage({ input: 300, output, cached: 0 })));
  };
}

let org: Org;
beforeAll(async () => {
  org = await world().org(100_000_000);
  for (const name of scriptNames) {
    for (const id of ['undefined', `left-${name.toLowerCase()}-new`, `left-${name.toLowerCase()}-known`])
      world().script.on(id, scripts[name].site, answer(name));
  }
});

function ask(name: ScriptName, state: 'new' | 'known', answered: (typeof answers)[number]): Exchange {
  const path = paths[name] ?? '/v1/chat/completions';
  const prompt = `This is call ${answers.push(answered) - 1}.`;
  const words =
    path === '/v1/responses' ? { input: prompt } : { messages: [{ role: 'user', content: prompt }] };
  const cap = path === '/v1/responses' ? 'max_output_tokens' : 'max_tokens';
  const body = JSON.stringify({
    model: `left/${name.toLowerCase()}-${state}`,
    stream: true,
    [cap]: 500,
    ...words,
  });
  return open(world().gateway.base_url, {
    path,
    body,
    headers: { authorization: `Bearer ${org.live_key}` },
  });
}

/** Bytes of text in a stream so far, in any of the dialects. */
function saidSoFar(text: string): number {
  const whole = text.slice(0, text.lastIndexOf('\n\n') + 2);
  return eventsOf(whole).reduce((sum, { type, choices, delta }) => {
    if (type === 'response.output_text.delta') return sum + (delta as string).length;
    const said = choices?.[0]?.delta?.content ?? delta?.text ?? '';
    return sum + (said as string).length;
  }, 0);
}

interface Charged {
  readonly kind: TextKind;
  readonly delivered: number;
  readonly charged: number;
}

/** Leaves a stream of `events` when all of them are there; what was delivered, and what was charged for. */
async function leaveAfter(
  name: ScriptName,
  state: 'new' | 'known',
  { kind, events }: { kind: TextKind; events: readonly Event[] },
): Promise<Charged> {
  const exchange = ask(name, state, { events, ends: 'never' });
  const said = events.reduce((sum, { text }) => sum + text.length, 0);
  await exchange.until((text) => saidSoFar(text) === said);
  exchange.leave();
  const id = (await exchange.reply).headers['x-svc-request-id'] as string;
  return { kind, delivered: tokensIn(events), charged: await chargedFor(id, 'cancelled') };
}

const tokensIn = (events: readonly Event[]) => events.reduce((sum, { tokens }) => sum + tokens, 0);

/** The output tokens that call `id` was charged. */
async function chargedFor(id: string, status: 'ok' | 'cancelled'): Promise<number> {
  const row = await eventually<Json>('the row', async () => {
    const { rows } = await world().db.query<Json>(
      'select status, usage_source, output_tokens::int as output_tokens from request_row where request_id = $1',
      [id],
    );
    return rows[0] ?? null;
  });
  expect(row).toMatchObject({ status, usage_source: 'estimate' });
  return row['output_tokens'] as number;
}

/** Reads streams of every kind of text to their end, of which their provider reports no usage. */
function readAll(name: ScriptName): Promise<Charged[]> {
  const all = textKinds.flatMap((kind) =>
    texts[kind].map(async (text) => {
      const events = eventsFrom(name, text);
      const reply = await ask(name, 'known', { events, ends: 'uncounted' }).reply;
      const charged = await chargedFor(reply.headers['x-svc-request-id'] as string, 'ok');
      return { kind, delivered: tokensIn(events), charged };
    }),
  );
  return Promise.all(all);
}

/** Leaves streams of every kind of text early, in the middle and before their last event. */
function leaveAll(name: ScriptName, state: 'new' | 'known'): Promise<Charged[]> {
  const all: Promise<Charged>[] = [];
  for (const kind of textKinds) {
    for (const text of texts[kind]) {
      const events = eventsFrom(name, text);
      const places = [0.3, 0.6, 0.9].map((share) => Math.max(1, Math.ceil((events.length - 1) * share)));
      for (const n of new Set(places.filter((place) => place < events.length)))
        all.push(leaveAfter(name, state, { kind, events: events.slice(0, n) }));
    }
  }
  return Promise.all(all);
}

/** Answers of every kind and of any length, until their endpoint is known; ten at a time. */
async function teach(name: ScriptName): Promise<void> {
  let n = 0;
  const asker = async (): Promise<void> => {
    while (n < ANSWERS) {
      const of_kind = texts[textKinds[n % textKinds.length] as TextKind];
      const events = eventsFrom(name, of_kind[n % of_kind.length] as string);
      const length = Math.ceil((events.length * (4 + ((n * 7) % 7))) / 10);
      n++;
      const reply = await ask(name, 'known', { events: events.slice(0, length), ends: 'counted' }).reply;
      expect(reply.status, reply.text).toBe(200);
    }
  };
  await Promise.all(Array.from({ length: 10 }, asker));
}

const shareOf = ({ delivered, charged }: Charged) => charged / delivered;

/** The median of how far the charges are from what was delivered. */
function medianError(all: readonly Charged[]): number {
  const errors = all.map((one) => Math.abs(1 - shareOf(one))).toSorted((a, b) => a - b);
  return errors[errors.length >> 1] as number;
}

test.each(scriptNames)(
  'a stream of %s without usage is charged what was delivered, left or read, of every kind of text',
  async (name) => {
    await teach(name);
    const all = [...(await leaveAll(name, 'known')), ...(await readAll(name))];
    for (const one of all) expect(shareOf(one), JSON.stringify(one)).toBeLessThanOrEqual(1.05);
    expect(medianError(all), JSON.stringify(all)).toBeLessThanOrEqual(0.05);
  },
);

test.each(scriptNames)(
  'before there are a hundred answers of %s, no more than was delivered',
  async (name) => {
    const all = await leaveAll(name, 'new');
    for (const one of all) {
      expect(one.charged).toBeGreaterThan(0);
      expect(shareOf(one), JSON.stringify(one)).toBeLessThanOrEqual(1.05);
      // Where every event is a token, what was delivered is known from the first call on.
      if (bundles[name].length === 1) expect(one.charged).toBe(one.delivered);
    }
  },
);
