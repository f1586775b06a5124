// Whatever a provider does and whenever a caller leaves: the debit is the settled cost, that cost follows from the
// row and is never above what the call can have used, errors cost nothing, nothing stays held, and neither a balance
// nor a hard budget is passed. All families, four dialects.
import { findPriceVersion, type PriceVersion } from '@svc/core/catalog/index.ts';
import { createPool, type Pool } from '@svc/core/db/index.ts';
import type { RequestId } from '@svc/core/kernel/index.ts';
import { meteredUsage, readMeter } from '@svc/core/ledger/index.ts';
import { recompute } from '@svc/core/pricing/index.ts';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { type Json, open, type Reply, svcOf } from '../caller.ts';
import type { Handler, Received, ScriptedUpstream } from '../upstream.ts';
import { eventually, INPUT_MICRO, idOf, OUTPUT_MICRO, type Row, useWorld } from '../world.ts';
import { type Reported, type Script, type ScriptName, scriptNames, scripts } from './money-wires.ts';

const BATCH = 25;
const BATCHES = 4;
/** Each call has an endpoint of its own, so that no circuit opened by one is in the way of another. */
const COPIES = (BATCH / scriptNames.length) * BATCHES + 4;

const billings = ['stops', 'bills_full', 'unknown'] as const;

function catalogOf(script: ScriptedUpstream): { providers: string; models: string } {
  const provider = (name: ScriptName) => `
  - id: money-${name.toLowerCase()}
    name: ${name}
    kind: ${scripts[name].kind}
    base_url: ${script.url}/${scripts[name].site}${scripts[name].base}
    api_key_env: [${name === 'bedrock' ? 'CALLS_BEDROCK_KEY' : 'CALLS_KEY'}]
    data_policy: { trains: false, retention_days: 0, zdr: true }`;
  const model = (name: ScriptName, n: number) => `
  - id: money/${name.toLowerCase()}-${n}
    name: ${name} ${n}
    context_length: 128000
    max_output: 8192
    endpoints:
      - provider: money-${name.toLowerCase()}
        upstream_model: money-${name.toLowerCase()}-${n}
        region: local
        cancel_billing: ${billings[n % 3]}
        price: { input: "${INPUT_MICRO}", output: "${OUTPUT_MICRO}" }`;
  const numbers = Array.from({ length: COPIES }, (_, n) => n);
  return {
    providers: scriptNames.map(provider).join(''),
    models: scriptNames.flatMap((name) => numbers.map((n) => model(name, n))).join(''),
  };
}

const world = useWorld({
  env: { CALLS_BEDROCK_KEY: 'bedrock-api-key-one' },
  extras: ({ script }) => catalogOf(script),
});

const paths = {
  chat: '/v1/chat/completions',
  messages: '/v1/messages',
  responses: '/v1/responses',
  native: '/v1/svc/generate',
} as const;

const PROMPT = 'Say something.';
/** No tokenizer makes more of a prompt than its bytes, 16 a message, and what providers add (docs/money/pricing.md#reported-usage). */
const INPUT_MOST = PROMPT.length + 16 + 1_024;

const reported: fc.Arbitrary<Reported | null> = fc.oneof(
  fc.constant(null),
  fc.record({ input: fc.nat(500), output: fc.nat(3_000), cached: fc.nat(200) }),
  fc.constantFrom<Reported>(
    { input: 10, output: 40_000_000, cached: 0 },
    { input: -5, output: 7, cached: 0 },
    { input: 10, output: 1.5, cached: 0 },
    { input: 3_000_000_000, output: 7, cached: 0 },
    { input: 10, output: 0, cached: 0 },
  ),
);

const scenario = fc.record({
  dialect: fc.constantFrom(...(Object.keys(paths) as (keyof typeof paths)[])),
  stream: fc.boolean(),
  early: reported,
  /** What is claimed with each piece, by the families that do so. */
  rises: fc.constantFrom(null, null, 1, 700, 50_000_000),
  /** Answers asked for, where family and dialect have them. */
  answers: fc.constantFrom(1, 1, 3),
  /** Bytes of each piece of text. */
  pieces: fc.array(fc.integer({ min: 1, max: 4_000 }), { maxLength: 12 }),
  ending: fc.oneof(
    { weight: 4, arbitrary: fc.record({ how: fc.constant('complete' as const), usage: reported }) },
    {
      weight: 3,
      arbitrary: fc.record({
        how: fc.constantFrom('cut' as const, 'reset' as const, 'error' as const, 'garbage' as const),
        usage: fc.constant(null),
      }),
    },
  ),
  /** From one piece to the next; credit runs out only while an answer still runs. */
  pace_ms: fc.constantFrom<number>(0, 0, 8),
  /** After so many characters of the answer; null: the caller stays. */
  leaves_after: fc.option(fc.nat(4_000), { freq: 3 }),
  max_tokens: fc.constantFrom(20, 1_000, 8_000),
  balance: fc.constantFrom(300, 6_000, 22_000, 1_000_000),
  /** Hard, for a day. */
  budget: fc.constantFrom(null, null, 400, 5_000),
  idempotent: fc.boolean(),
});
type Scenario = typeof scenario extends fc.Arbitrary<infer T> ? T : never;

/** Answers that a call of `options` at family `name` is for: others of them have no word for several. */
function answersOf({ answers, dialect }: Scenario, name: ScriptName): number {
  return dialect === 'chat' && name === 'openaiChat' ? answers : 1;
}

function upstreamOf(script: Script, options: Scenario, answers: number): Handler {
  const { early, pieces, ending, pace_ms, rises } = options;
  const claimed = (n: number) => (rises === null ? null : { input: 10, output: rises * (n + 1), cached: 0 });
  const steps = [
    script.open(early),
    ...pieces.map((size, n) => script.text('lorem '.repeat(size).slice(0, size), claimed(n), n % answers)),
  ];
  return (response) => {
    response.writeHead(200, { 'content-type': script.content_type });
    const step = () => {
      if (response.destroyed) return;
      const next = steps.shift();
      if (next !== undefined) {
        if (next.length > 0) response.write(next);
        return void (pace_ms === 0 ? setImmediate(step) : setTimeout(step, pace_ms));
      }
      if (ending.how === 'complete') {
        response.end(script.close(ending.usage === null ? null : script.usage(ending.usage), answers));
      } else if (ending.how === 'error') response.end(script.error());
      else if (ending.how === 'garbage') response.end('data: {"this is\n\nno event\n\n');
      else if (ending.how === 'cut') response.end();
      else response.destroy();
    };
    step();
  };
}

// Two of the families name the model in the path alone; one handler of each site finds the script by it.
const handlers = new Map<string, Handler>();
const asked = new Set<string>();
const byPath: Handler = (response, received: Received) => {
  const [, model = ''] =
    /(money-[a-z]+-\d+)/.exec(`${received.path} ${String(received.body['model'])}`) ?? [];
  asked.add(model);
  (handlers.get(model) as Handler)(response, received);
};

function bodyOf(options: Scenario, model: string, answers: number): Json {
  const { dialect, stream, max_tokens } = options;
  const messages = [{ role: 'user', content: PROMPT }];
  if (dialect === 'responses') return { model, stream, input: PROMPT, max_output_tokens: max_tokens };
  if (dialect === 'native') {
    const content = [{ type: 'text', text: PROMPT }];
    return { model, stream, messages: [{ role: 'user', content }], generation: { max_tokens } };
  }
  return { model, stream, messages, max_tokens, ...(answers > 1 ? { n: answers } : {}) };
}

interface Seen {
  readonly reply: Reply;
  readonly row: Row & { readonly cache_read_tokens: number; readonly cache_write_tokens: number };
  readonly charged: number;
  readonly written_off: number;
  readonly estimated: boolean | null;
  readonly rest: number;
  readonly answers: number;
}

let next = 0;

/** Ends and warnings met so far. */
const met = new Set<string>();

const plain: Scenario = {
  ...{ dialect: 'chat', stream: true, early: null, pieces: [500], pace_ms: 0, leaves_after: null },
  ...{ ending: { how: 'complete', usage: { input: 10, output: 90, cached: 5 } } },
  ...{ max_tokens: 1_000, balance: 1_000_000, budget: null, idempotent: false, rises: null, answers: 1 },
};
const long = Array.from({ length: 12 }, () => 4_000);
const silent: Scenario['ending'] = { how: 'complete', usage: null };
const reported_too_much: Scenario['ending'] = {
  how: 'complete',
  usage: { input: 10, output: 40_000_000, cached: 0 },
};
/** A hold is extended beside the answer, which must still run when a busy machine has refused that. */
const SLOW_MS = 60;
/** On endpoints that stop billing, bill whole, say nothing, stop, …: as `billings` goes round. */
const surely: readonly Scenario[] = [
  { ...plain, pieces: long, pace_ms: SLOW_MS, ending: silent, max_tokens: 8_000, balance: 22_000 },
  { ...plain, dialect: 'responses', pieces: long, pace_ms: 8, ending: silent, max_tokens: 20 },
  { ...plain, dialect: 'messages', pieces: long, pace_ms: 8, max_tokens: 8_000, leaves_after: 100 },
  { ...plain, dialect: 'native', pieces: long, pace_ms: 8, max_tokens: 8_000, leaves_after: 100 },
  { ...plain, stream: false, ending: reported_too_much, balance: 6_000 },
  { ...plain, pieces: long, rises: 50_000_000, ending: reported_too_much, answers: 3, max_tokens: 20 },
  { ...plain, pieces: long, pace_ms: SLOW_MS, ending: silent, max_tokens: 8_000, budget: 5_000 },
  { ...plain, ending: silent },
];
const MET = [
  ...['ok', 'cancelled', 'error', 'rejected'],
  ...['credit_limit_reached', 'cap_enforced', 'usage_estimated', 'usage_above_bound'],
  'recomputed',
];

/** `run`, with the case added to the message of an error. */
async function runAndCheck(options: Scenario, name: ScriptName): Promise<void> {
  let seen: Seen | null = null;
  try {
    seen = await run(options, name);
    check(options, seen);
    for (const what of [seen.row.status, ...seen.row.warnings.map(({ code }) => code as string)])
      met.add(what);
  } catch (error) {
    const { reply, ...rest } = seen ?? {};
    const story = JSON.stringify({ name, options, ...rest, text: reply?.text.slice(-900) });
    throw new Error(`${(error as Error).message}\n${story}`);
  }
}

async function run(options: Scenario, name: ScriptName): Promise<Seen> {
  const n = Math.floor(next++ / scriptNames.length) % COPIES;
  const upstream = `money-${name.toLowerCase()}-${n}`;
  const script = scripts[name];
  const answers = answersOf(options, name);
  handlers.set(upstream, upstreamOf(script, options, answers));
  world().script.on('undefined', script.site, byPath);
  world().script.on(upstream, script.site, byPath);
  const { balance, budget } = options;
  const org = await world().org(
    balance,
    budget === null ? undefined : [{ name: 'tight', daily_budget_micro: budget }],
  );
  const exchange = open(world().gateway.base_url, {
    path: paths[options.dialect],
    body: JSON.stringify(bodyOf(options, `money/${name.toLowerCase()}-${n}`, answers)),
    headers: {
      authorization: `Bearer ${org.live_key}`,
      ...(options.idempotent ? { 'idempotency-key': upstream } : {}),
    },
  });
  let over = false;
  void exchange.reply.then(() => {
    over = true;
  });
  const { leaves_after } = options;
  if (leaves_after !== null) {
    // One that leaves before its request is read leaves no row.
    await eventually('the provider is asked', () => over || asked.has(upstream));
    if (options.stream) await exchange.until((text) => text.length >= leaves_after).catch(() => {});
    exchange.leave();
  }
  const reply = await exchange.reply;
  const row = await eventually('the row', async () => {
    const { rows } = await world().db.query('select * from request_row where org_id = $1', [org.org_id]);
    return rows[0] ?? null;
  });
  const ended = await world().ended(org, row.request_id as string);
  if (idOf(reply) !== '') expect(idOf(reply)).toBe(row.request_id);
  await expectRecomputed(row.request_id as RequestId);
  const { rows } = await world().db.query<{ available: string; off: string }>(
    `select available, (select coalesce(sum(amount), 0) from ledger.writeoff w where w.book_id = b.book_id) as off
       from ledger.book b where book_id = $1`,
    [org.live_book_id],
  );
  const cached = {
    cache_read_tokens: Number(row.cache_read_tokens),
    cache_write_tokens: Number(row.cache_write_tokens),
  };
  return {
    reply,
    row: { ...ended.row, ...cached },
    charged: ended.charged,
    written_off: Number(rows[0]?.off),
    estimated: ended.meter?.estimated ?? null,
    rest: Number(rows[0]?.available),
    answers,
  };
}

let pool: Pool | null = null;
afterAll(() => pool?.end());

/** The cost of a settled call follows from its metering record and the price version alone. */
async function expectRecomputed(id: RequestId): Promise<void> {
  pool ??= createPool(world().database_url);
  const metered = await readMeter(pool, id);
  if (metered === null) return;
  const version = (await findPriceVersion(pool, metered.price_no)) as PriceVersion;
  expect(recompute(meteredUsage(metered), version, metered.cost_micro_usd).exact).toBe(true);
  met.add(metered.units.other?.insured === 1 ? 'recomputed as insured' : 'recomputed');
}

const line = (units: number, micro: number) => Math.floor(units * micro + 0.5);

/** What the counts of a row cost: each line rounded on its own. */
function costOf({ row }: Seen): number {
  if (row.status === 'error' || row.status === 'rejected') return 0;
  if (row.status === 'ok' && row.output_tokens === 0 && row.stop_reason === '') return 0;
  if (row.usage_source === '') return 0;
  const { input_tokens, output_tokens, cache_read_tokens, cache_write_tokens } = row;
  return (
    line(input_tokens, INPUT_MICRO) +
    line(output_tokens, OUTPUT_MICRO) +
    line(cache_read_tokens, INPUT_MICRO) +
    line(cache_write_tokens, INPUT_MICRO)
  );
}

/** Whether counts can be true, and what they then are. */
function isSound(usage: Reported | null): usage is Reported {
  return (
    usage !== null &&
    [usage.input, usage.output].every((n) => Number.isInteger(n) && n >= 0 && n <= 2 ** 31 - 1)
  );
}

function check(options: Scenario, seen: Seen): void {
  const { reply, row, charged, written_off, answers } = seen;
  const cost = costOf(seen);
  expect(charged + written_off).toBe(cost);
  expect(seen.rest).toBe(options.balance - charged);
  expect(seen.rest).toBeGreaterThanOrEqual(0);
  // A prompt of text and an answer within its cap never cost more than was held or could be held.
  expect(written_off).toBe(0);
  const most = options.max_tokens * answers;
  expect(charged).toBeLessThanOrEqual(options.budget ?? options.balance);
  expect(charged).toBeLessThanOrEqual(line(INPUT_MOST, INPUT_MICRO) + line(most, OUTPUT_MICRO));
  if (charged > 0) expect(row.output_tokens).toBeLessThanOrEqual(most);
  if (row.status === 'error') expect(row.error_code).not.toBe('internal');
  const cuts = row.warnings.some(({ code }) => code === 'credit_limit_reached' || code === 'cap_enforced');
  const finished = row.status === 'ok' && !cuts && options.ending.how === 'complete';
  if (finished && isSound(options.ending.usage)) {
    const { input, cached, output } = options.ending.usage;
    const possible = Math.min(output, most);
    expect(row.usage_source).toBe('provider');
    if (options.balance > 200_000 && options.budget === null) {
      expect([row.output_tokens, row.input_tokens + row.cache_read_tokens]).toEqual([
        possible,
        input + cached,
      ]);
    }
  }
  if (options.ending.how !== 'complete') expect(finished).toBe(false);
  if (!reply.complete || reply.status !== 200) return;
  const reported = costReported(reply);
  expect(reported.total_micro_usd).toBe(row.status === 'ok' ? cost : 0);
  const sum = (reported.lines as Json[]).reduce((all, each) => all + each['micro_usd'], 0);
  expect(sum).toBe(reported.total_micro_usd);
}

/** The cost that an answer reports: in `svc`, of chat and messages on the last event that has one, or beside the answer. */
function costReported(reply: Reply): Json {
  const { text } = reply;
  const last = text.startsWith('{')
    ? text
    : (text.slice(text.lastIndexOf('data: {') + 6).split('\n')[0] ?? '');
  const { cost, response } = JSON.parse(last) as Json;
  return svcOf(reply)?.['cost'] ?? response?.svc?.cost ?? cost;
}

test('whatever happens, the debit is the settled cost of what the row tells, and no balance falls below zero', {
  timeout: 120_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(scenario, { minLength: BATCH, maxLength: BATCH }), async (options) => {
      await Promise.all(
        options.map((options, i) => runAndCheck(options, scriptNames[i % scriptNames.length] as ScriptName)),
      );
    }),
    {
      ...{ numRuns: BATCHES, endOnFailure: true },
      examples: [[surely.flatMap((options) => scriptNames.map(() => options))]],
    },
  );
  expect([...met]).toEqual(expect.arrayContaining(MET));
});
