// Web searches that a provider runs: requested in each dialect, run by each family that lists them with a price, shown
// with their sources, metered and charged.
import { describe, expect, test } from 'vitest';
import { checkResponsesStream } from '../../grammar/responses.ts';
import { errorOf, type Json, open, type Reply, svcOf } from '../caller.ts';
import type { Received } from '../upstream.ts';
import { grammarFaults, idOf, useWorld } from '../world.ts';
import {
  answers,
  COPIES,
  type FamilyName,
  families,
  handlerOf,
  type Kind,
  messageEvents,
  names,
  searchExtras,
  sse,
  UNIT_MICRO,
  URL_OF_SOURCE,
} from './web-search-world.ts';

const world = useWorld({ models: {}, extras: searchExtras });

const used = new Map<string, number>();
function model(family: FamilyName, kind: Kind = 'sold'): { id: string; upstream: string } {
  const key = `${family}-${kind}`;
  const n = used.get(key) ?? 0;
  if (n >= COPIES) throw new Error(`no model of kind ${key} is left`);
  used.set(key, n + 1);
  const upstream = `${key}-${n}`;
  // A Gemini body names no model: its path does.
  world().script.on(family === 'gemini' ? 'undefined' : upstream, families[family].site, handlerOf(family));
  return { id: `search/${upstream}`, upstream };
}
function sentTo(family: FamilyName, upstream: string): Received[] {
  const { script } = world();
  if (family !== 'gemini') return [...script.received(upstream)];
  return script.received(undefined as never).filter(({ path }) => path.includes(`/models/${upstream}:`));
}

const dialects = ['chat', 'responses', 'messages'] as const;
type DialectName = (typeof dialects)[number];
const paths: Record<DialectName, string> = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
};
/** The search in each dialect, as its official clients ask for it. */
const options: Record<DialectName, Json> = {
  chat: { web_search_options: {} },
  responses: { tools: [{ type: 'web_search' }] },
  messages: { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
};
const turn = [{ role: 'user', content: 'What is new?' }];
const bodies: Record<DialectName, Json> = {
  chat: { messages: turn, max_tokens: 64 },
  responses: { input: 'What is new?', max_output_tokens: 64 },
  messages: { messages: turn, max_tokens: 64 },
};

async function ask(dialect: DialectName, id: string, more: object = {}, balance = 1_000_000) {
  const org = await world().org(balance);
  const reply = await open(world().gateway.base_url, {
    path: paths[dialect],
    body: JSON.stringify({ model: id, ...bodies[dialect], ...options[dialect], ...more }),
    headers: { authorization: `Bearer ${org.live_key}` },
  }).reply;
  return { org, reply };
}

/** How each family is asked. */
const asked: Record<FamilyName, (body: Json) => unknown> = {
  chat: (body) => body['web_search_options'],
  responses: (body) => body['tools'],
  messages: (body) => body['tools'],
  gemini: (body) => body['tools'],
};
const words: Record<FamilyName, unknown> = {
  chat: {},
  responses: [{ type: 'web_search' }],
  messages: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 5 }],
  gemini: [{ googleSearch: {} }],
};

/** Addresses that a whole answer names as its sources, where its dialect's clients read them. */
const sources: Record<DialectName, (json: Json) => unknown[]> = {
  chat: (json) =>
    json['choices'][0].message.annotations.map((note: Json) => [note['type'], note['url_citation'].url]),
  responses: (json) =>
    json['output']
      .flatMap((item: Json) => item['content'] ?? [])
      .flatMap((part: Json) => part['annotations'] ?? [])
      .filter(({ type }: Json) => type === 'url_citation')
      .map((note: Json) => [note['type'], note['url']]),
  messages: (json) =>
    json['content']
      .flatMap((block: Json) => block['citations'] ?? [])
      .filter(({ type }: Json) => type === 'web_search_result_location')
      .map((note: Json) => [note['type'], note['url']]),
};
const kindOfSource = { messages: 'web_search_result_location' } as Partial<Record<DialectName, string>>;

const pairs = dialects.flatMap((dialect) => names.map((family) => ({ dialect, family })));
/** The gateway's own words: of a stream of responses they are in its last event's response. */
function reported(reply: Reply): Json {
  const svc = svcOf(reply);
  if (svc !== null && svc !== undefined) return svc;
  const last = reply.text.split('\n').findLast((line) => line.startsWith('data: ')) as string;
  return (JSON.parse(last.slice(6)) as Json)['response'].svc as Json;
}
const costOf = (reply: Reply) => reported(reply)['cost'] as Json;
/** What of the request was lost, as code and path. */
const lostOf = (reply: Reply) =>
  (reported(reply)['warnings'] as Json[])
    .filter(({ param }) => param !== undefined)
    .map(({ code, param }) => [code, param]);
const searchLine = (units: number) => ({
  ...{ kind: 'search_unit', units, unit_price_nano: UNIT_MICRO * 1_000 },
  micro_usd: units * UNIT_MICRO,
});

describe('a search asked for', () => {
  test.concurrent.each(pairs)(
    'in $dialect of $family is run, cited and paid',
    async ({ dialect, family }) => {
      const { id, upstream } = model(family);
      const { org, reply } = await ask(dialect, id);
      expect(reply.status).toBe(200);
      const raw = dialect === family;
      const [sent] = sentTo(family, upstream);
      const own = options[dialect][dialect === 'chat' ? 'web_search_options' : 'tools'];
      expect(asked[family](sent?.body as Json)).toEqual(raw ? own : words[family]);
      const json = JSON.parse(reply.text) as Json;
      expect(sources[dialect](json)).toContainEqual([kindOfSource[dialect] ?? 'url_citation', URL_OF_SOURCE]);
      const { searches } = answers[family];
      expect(costOf(reply)['lines']).toContainEqual(searchLine(searches));
      const ended = await world().ended(org, idOf(reply));
      expect(ended.charged).toBe(costOf(reply)['total_micro_usd']);
      expect(ended.charged).toBeGreaterThan(searches * UNIT_MICRO);
      expect(reported(reply)['warnings'].map(({ code }: Json) => code)).not.toContain('hold_exceeded');
    },
  );

  test.concurrent.each(pairs)(
    'in a stream of $dialect by $family too, in the order of its grammar',
    async ({ dialect, family }) => {
      const { id } = model(family);
      const { org, reply } = await ask(dialect, id, { stream: true });
      const raw = dialect === family;
      const faults =
        dialect === 'responses' ? checkResponsesStream(reply.text) : grammarFaults(dialect, reply, { raw });
      // Progress of the provider's own tools is passed on as the provider reports it.
      expect(faults.filter((fault) => !(raw && fault.includes('web_search_call')))).toEqual([]);
      expect(reply.text).toContain(URL_OF_SOURCE);
      expect(costOf(reply)['lines']).toContainEqual(searchLine(answers[family].searches));
      expect((await world().ended(org, idOf(reply))).charged).toBe(costOf(reply)['total_micro_usd']);
    },
  );

  test.concurrent('by a Gemini model that is billed once a prompt costs one, however many queries', async () => {
    const { reply } = await ask('chat', model('gemini', 'older').id);
    expect(costOf(reply)['lines']).toContainEqual(searchLine(1));
  });

  test.concurrent("in Google's own word, by the native surface, is the same search", async () => {
    const org = await world().org();
    const tool = {
      kind: 'server',
      name: 'google_search',
      family: 'gemini',
      payload: { type: 'google_search' },
    };
    for (const [family, kind] of [
      ['gemini', 'google'],
      ['messages', 'any'],
    ] as const) {
      const { id, upstream } = model(family, kind);
      const reply = await open(world().gateway.base_url, {
        path: '/v1/svc/generate',
        body: JSON.stringify({ model: id, messages: turn, tools: [tool] }),
        headers: { authorization: `Bearer ${org.live_key}` },
      }).reply;
      expect([reply.status, asked[family](sentTo(family, upstream)[0]?.body as Json)]).toEqual([
        200,
        words[family],
      ]);
      const json = JSON.parse(reply.text) as Json;
      const cited = json['candidates'][0].content.flatMap((part: Json) => part['citations'] ?? []);
      expect(cited).toMatchObject([{ kind: 'url', url: URL_OF_SOURCE }]);
      expect(json['cost'].lines).toContainEqual(searchLine(answers[family].searches));
    }
  });

  test.concurrent('of an endpoint that lists every tool is run in every dialect', async () => {
    for (const dialect of dialects) {
      const { id, upstream } = model('messages', 'any');
      expect((await ask(dialect, id)).reply.status).toBe(200);
      expect(sentTo('messages', upstream)).toHaveLength(1);
    }
  });

  test.concurrent('and not made costs nothing', async () => {
    const { id, upstream } = model('messages');
    const events = messageEvents
      .filter(({ type }) => type !== 'x')
      .map((event) =>
        event.type === 'message_delta'
          ? { ...event, usage: { input_tokens: 100, output_tokens: 40 } }
          : event,
      );
    world().script.on(upstream, 'wm', (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(sse(events, true));
    });
    const { reply } = await ask('chat', id);
    expect(costOf(reply)['lines'].map(({ kind }: Json) => kind)).toEqual(['input', 'output']);
  });

  test.concurrent('is held for: as often as it may be made, five times where nobody says', async () => {
    const { id, upstream } = model('messages');
    const refused = await ask('messages', id, {}, 5 * UNIT_MICRO);
    expect(errorOf(refused.reply)).toMatchObject({ code: 'insufficient_credits' });
    expect(sentTo('messages', upstream)).toEqual([]);
    const tools = [{ type: 'web_search_20250305', name: 'web_search', max_uses: 2 }];
    expect((await ask('messages', id, { tools }, 3 * UNIT_MICRO)).reply.status).toBe(200);
  });
});

describe('options', () => {
  const where = { type: 'approximate', city: 'Kyoto', country: 'JP' };
  const narrow = {
    tools: [
      {
        ...{ type: 'web_search_20250305', name: 'web_search', max_uses: 3 },
        ...{ allowed_domains: ['a.example'], user_location: where },
      },
    ],
  };

  test.concurrent('go on in the words of the family', async () => {
    const { id, upstream } = model('responses');
    const { reply } = await ask('messages', id, narrow);
    expect(sentTo('responses', upstream)[0]?.body['tools']).toEqual([
      { type: 'web_search', filters: { allowed_domains: ['a.example'] }, user_location: where },
    ]);
    expect(lostOf(reply)).toEqual([['search_option_dropped', 'tools[0].max_uses']]);
    const back = model('messages');
    const { type, ...approximate } = where;
    const web_search_options = { search_context_size: 'low', user_location: { type, approximate } };
    const chat = await ask('chat', back.id, { web_search_options });
    expect(sentTo('messages', back.upstream)[0]?.body['tools']).toEqual([
      { type: 'web_search_20250305', name: 'web_search', max_uses: 5, user_location: where },
    ]);
    expect(lostOf(chat.reply)).toEqual([['search_option_dropped', 'web_search_options.search_context_size']]);
  });

  test.concurrent.each(['gemini', 'chat'] as const)(
    'that hold a search to sites are not let go: %s is not asked',
    async (family) => {
      const { id, upstream } = model(family);
      const { reply } = await ask('messages', id, narrow);
      expect([reply.status, errorOf(reply)?.['param']]).toEqual([400, 'tools[0].allowed_domains']);
      expect(sentTo(family, upstream)).toEqual([]);
    },
  );

  test.concurrent.each([
    [
      'messages',
      { tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 0 }] },
      'tools[0].max_uses',
    ],
    [
      'responses',
      { tools: [{ type: 'web_search', filters: { allowed_domains: 'x' } }] },
      'tools[0].filters.allowed_domains',
    ],
    ['chat', { web_search_options: [] }, 'web_search_options'],
    ['chat', { web_search_options: { search_context_size: 1 } }, 'web_search_options.search_context_size'],
  ] as const)('of %s that are wrong are named: %j', async (dialect, more, param) => {
    const { reply } = await ask(dialect, 'search/messages-sold-0', more);
    expect([reply.status, errorOf(reply)?.['param']]).toEqual([400, param]);
  });

  test.concurrent('functions beside a search exclude Gemini, and nobody else', async () => {
    const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }];
    const { reply } = await ask('chat', model('gemini').id, { tools });
    expect([reply.status, errorOf(reply)?.['param']]).toEqual([400, 'web_search_options']);
    const { id, upstream } = model('messages');
    await ask('chat', id, { tools });
    const sent = sentTo('messages', upstream)[0]?.body['tools'] as Json[];
    expect(sent.map(({ name }) => name)).toEqual(['f', 'web_search']);
  });
});

const forced = {
  chat: {},
  responses: { tool_choice: { type: 'web_search' } },
  messages: { tool_choice: { type: 'tool', name: 'web_search' } },
} as const;

describe('without a price', () => {
  test.concurrent.each(pairs)('$family never searches for $dialect', async ({ dialect, family }) => {
    const { id, upstream } = model(family, 'listed');
    const { reply } = await ask(dialect, id, forced[dialect]);
    expect([reply.status, errorOf(reply)?.['code']]).toEqual([400, 'unsupported_parameter']);
    expect(errorOf(reply)?.['param']).toMatch(/^(tools\[0\]|web_search_options)/);
    expect(sentTo(family, upstream)).toEqual([]);
  });

  test.concurrent('a search that is only offered is left out, and reported', async () => {
    for (const family of ['chat', 'messages', 'gemini'] as const) {
      const { id, upstream } = model(family, 'listed');
      const { reply } = await ask('messages', id);
      expect(reply.status).toBe(200);
      expect(JSON.stringify(sentTo(family, upstream)[0]?.body)).not.toMatch(/web_search|googleSearch/);
      expect(lostOf(reply)).toContainEqual(['server_tool_dropped', 'tools[0]']);
      const strict = model(family, 'listed');
      const refused = await ask('messages', strict.id, { svc: { compat: 'strict' } });
      expect([refused.reply.status, errorOf(refused.reply)?.['param']]).toEqual([400, 'tools[0]']);
    }
  });

  test.concurrent('chat that lets things go is answered without, and reported', async () => {
    for (const family of names) {
      const { id, upstream } = model(family, 'listed');
      const { reply } = await ask('chat', id, { svc: { compat: 'drop' } });
      expect(reply.status).toBe(200);
      const sent = JSON.stringify(sentTo(family, upstream)[0]?.body);
      expect(sent).not.toMatch(/web_search|googleSearch/);
      expect(lostOf(reply)).toEqual([['unsupported_parameter', 'web_search_options']]);
      expect(costOf(reply)['lines'].map(({ kind }: Json) => kind)).toEqual(['input', 'output']);
    }
  });
});
