// Bedrock behind a real gateway: signed requests, its binary stream in both dialects, its faults, its keys.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Sim, startBedrockSim } from '../../sim/providers/index.ts';
import { openReader, type Reader } from '../../support/books.ts';
import { createTestDatabase } from '../../support/database.ts';
import type { GatewayProcess } from '../../support/gateway.ts';
import { type Provisioned, provision } from '../../support/provision.ts';
import { startSharedGateway } from '../../support/shared-gateway.ts';
import { errorOf, type Json, open, type Reply, saidBy, svcOf } from '../caller.ts';
import { eventually, grammarFaults, idOf, uuidOf } from '../world.ts';

const account = {
  access_key_id: 'AKIASIMULATED',
  secret: 'sim/secret+one',
  session_token: 'session-token==',
};
const SIGNING_KEY = `${account.access_key_id}:${account.secret}:${account.session_token}`;
const WRONG_SECRET = 'wrong-secret-planted';
const REGION = 'eu-central-1';

let sim: Sim;
let gateway: GatewayProcess;
let org: Provisioned;
let db: Reader;

interface ModelOptions {
  readonly id: string;
  readonly providers: readonly string[];
  readonly upstream?: string;
}

const CLAUDE = 'eu.anthropic.claude-sim-v1:0';
const models: readonly ModelOptions[] = [
  { id: 'aws/claude', providers: ['bedrock'] },
  {
    id: 'aws/profile',
    providers: ['bedrock'],
    upstream: 'arn:aws:bedrock:eu-central-1:1:application-inference-profile/x',
  },
  { id: 'aws/bearer', providers: ['bedrock-bearer'] },
  { id: 'aws/pair', providers: ['bedrock', 'bedrock-two'] },
  { id: 'aws/lone', providers: ['bedrock'] },
  { id: 'aws/wrong', providers: ['bedrock-wrong'] },
  { id: 'aws/faulty', providers: ['bedrock'] },
  { id: 'aws/cut', providers: ['bedrock'] },
  { id: 'aws/damaged', providers: ['bedrock'] },
  { id: 'aws/thrown', providers: ['bedrock'] },
];

function providersYaml(): string {
  const provider = (id: string, variables: string) => `
  - id: ${id}
    name: ${id}
    kind: bedrock
    base_url: ${sim.url}
    api_key_env: [${variables}]`;
  const model = ({ id, providers, upstream = CLAUDE }: ModelOptions) => `
  - id: ${id}
    name: ${id}
    context_length: 200000
    max_output: 8192
    capabilities: { tools: true, vision: true, pdf: true, cache: true, reasoning: true, json_schema: true }
    reasoning: { controls: [budget, off], format: anthropic-claude-v1 }
    endpoints:${providers.map((name) => endpoint(name, upstream)).join('')}`;
  const endpoint = (name: string, upstream: string) => `
      - provider: ${name}
        upstream_model: "${upstream}"
        region: ${REGION}
        price: { input: "1.25", output: "4.75" }`;
  return `version: 1
providers:${provider('bedrock', 'AWS_SIM_KEY')}${provider('bedrock-two', 'AWS_SIM_KEY')}
${provider('bedrock-bearer', 'AWS_SIM_BEARER')}${provider('bedrock-wrong', 'AWS_SIM_WRONG, AWS_SIM_KEY')}
models:${models.map(model).join('')}
`;
}

beforeAll(async () => {
  sim = await startBedrockSim({ accounts: [account], api_keys: ['bedrock-api-key-one'], region: REGION });
  const database_url = await createTestDatabase();
  org = await provision({ database_url, live_micro_usd: 10_000_000 });
  db = openReader(database_url, 2);
  gateway = await startSharedGateway({
    database_url,
    providers: providersYaml(),
    env: {
      AWS_SIM_KEY: SIGNING_KEY,
      AWS_SIM_BEARER: 'bedrock-api-key-one',
      AWS_SIM_WRONG: `${account.access_key_id}:${WRONG_SECRET}:${account.session_token}`,
    },
  });
});
afterAll(async () => {
  await gateway?.kill();
  await sim?.close();
  await db?.end();
});

type Dialect = 'chat' | 'messages';

function send(dialect: Dialect, body: object): Promise<Reply> {
  const path = dialect === 'chat' ? '/v1/chat/completions' : '/v1/messages';
  const headers = { authorization: `Bearer ${org.live_key}`, 'anthropic-version': '2023-06-01' };
  return open(gateway.base_url, { path, headers, body: JSON.stringify(body) }).reply;
}

function ask(model: string, text: string, more: object = {}): object {
  return { model, max_tokens: 2_000, messages: [{ role: 'user', content: text }], ...more };
}

const callOf = (mark: string) => sim.calls.find((call) => call.mark === mark);

function sentAs(mark: string): Json {
  const call = callOf(mark);
  if (call === undefined) throw new Error(`no call with mark ${mark}`);
  return call.body as Json;
}

async function rowOf(reply: Reply): Promise<{ row: Json; attempts: string[] }> {
  const id = idOf(reply);
  const row = await eventually(`row of ${id}`, async () => {
    const held = await db.query('select 1 from ledger.hold where hold_id = $1', [uuidOf(id)]);
    const { rows } = await db.query('select * from request_row where request_id = $1', [id]);
    return held.rowCount === 0 ? ((rows[0] as Json | undefined) ?? null) : null;
  });
  const { rows } = await db.query<{ said: string }>(
    `select trim(outcome || ' ' || error_class) as said from request_attempt where request_id = $1 order by attempt`,
    [id],
  );
  return { row, attempts: rows.map(({ said }) => said) };
}

const forms = (['chat', 'messages'] as const).flatMap((dialect) =>
  [true, false].map((stream) => ({ dialect, stream })),
);

describe('answers', () => {
  test.each(forms)(
    'text comes through in $dialect, stream $stream, metered as reported',
    async ({ dialect, stream }) => {
      const mark = `text-${dialect}-${stream}`;
      const text = `sim: mark=${mark} tokens=5 cached=2 written=1 split=11`;
      const reply = await send(dialect, ask('aws/claude', text, { stream }));
      expect(reply.status).toBe(200);
      if (stream) expect(grammarFaults(dialect, reply)).toEqual([]);
      expect(saidBy(reply)).toBe('lorem ipsum dolor magna velit ');
      expect(svcOf(reply)?.['provider']).toBe('bedrock');
      const call = callOf(mark);
      // The gateway streams upstream whatever its caller asked for; a colon of the model id is encoded in the path.
      expect(call?.headers['path']).toBe('/model/eu.anthropic.claude-sim-v1%3A0/converse-stream');
      expect(call?.finished).toBe(true);
      const { row, attempts } = await rowOf(reply);
      expect(attempts).toEqual(['ok']);
      expect(row).toMatchObject({ status: 'ok', stop_reason: 'end_turn', usage_source: 'provider' });
      expect(Number(row['output_tokens'])).toBe(5);
      expect(Number(row['cache_read_tokens'])).toBe(2);
      expect(Number(row['input_tokens'])).toBe((call?.prompt_tokens ?? 0) - 3);
    },
  );

  test.each(forms)(
    'tool calls and their results travel in $dialect, stream $stream',
    async ({ dialect, stream }) => {
      const schema = { type: 'object', properties: { id: { type: 'integer' } } };
      const tools =
        dialect === 'chat'
          ? [{ type: 'function', function: { name: 'find', parameters: schema } }]
          : [{ name: 'find', input_schema: schema }];
      const reply = await send(dialect, ask('aws/claude', 'find it sim: tools=2', { stream, tools }));
      expect(reply.status).toBe(200);
      if (stream) expect(grammarFaults(dialect, reply)).toEqual([]);
      const mark = `results-${dialect}-${stream}`;
      const id = 'call_9007199254740993.x';
      const args = '{"id":9007199254740993}';
      const history =
        dialect === 'chat'
          ? [
              {
                role: 'assistant',
                tool_calls: [{ id, type: 'function', function: { name: 'find', arguments: args } }],
              },
              { role: 'tool', tool_call_id: id, content: 'found' },
              { role: 'user', content: `sim: mark=${mark}` },
            ]
          : [
              {
                role: 'assistant',
                content: [{ type: 'tool_use', id: 'toolu_1', name: 'find', input: { id: 7 } }],
              },
              {
                role: 'user',
                content: [
                  { type: 'tool_result', tool_use_id: 'toolu_1', content: 'found', is_error: true },
                  { type: 'text', text: `sim: mark=${mark}` },
                ],
              },
            ];
      const next = {
        model: 'aws/claude',
        max_tokens: 100,
        messages: [{ role: 'user', content: 'find it' }, ...history],
        tools,
        stream,
      };
      const second = await send(dialect, next);
      expect(second.status).toBe(200);
      const turns = sentAs(mark)['messages'] as Json[];
      expect(turns.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
      expect(JSON.stringify(turns[2])).toContain('"toolResult"');
    },
  );

  test.each([true, false])('signed reasoning goes back with the next turn, stream %s', async (stream) => {
    const thinking = { thinking: { type: 'enabled', budget_tokens: 1_024 } };
    const first = await send('messages', ask('aws/claude', 'think', { ...thinking }));
    const { content } = JSON.parse(first.text) as { content: Json[] };
    expect(content[0]).toMatchObject({ type: 'thinking', signature: expect.any(String) });
    const messages = [
      { role: 'user', content: 'think' },
      { role: 'assistant', content },
      { role: 'user', content: `sim: mark=thought-${stream}` },
    ];
    const reply = await send('messages', {
      model: 'aws/claude',
      max_tokens: 2_000,
      messages,
      stream,
      ...thinking,
    });
    // The simulator refuses a thought whose signature is not its own.
    expect(reply.status).toBe(200);
    if (stream) expect(grammarFaults('messages', reply)).toEqual([]);
    expect(JSON.stringify(callOf(`thought-${stream}`)?.body)).toContain('"reasoningContent"');
  });

  test('chat shows the reasoning too', async () => {
    const body = ask('aws/claude', 'think', { reasoning: { max_tokens: 1_024 } });
    const reply = await send('chat', body);
    const [choice] = (JSON.parse(reply.text) as { choices: { message: Json }[] }).choices;
    expect(choice?.message['reasoning_content'] ?? choice?.message['reasoning']).toEqual(
      expect.stringMatching(/^lorem /),
    );
  });

  test('an ARN as model id is one segment of the path, and its signature is right', async () => {
    const reply = await send('chat', ask('aws/profile', 'sim: mark=arn'));
    expect(reply.status).toBe(200);
    expect(callOf('arn')?.headers['path']).toContain('application-inference-profile%2Fx/converse-stream');
  });

  test('a key without a colon is sent as bearer', async () => {
    const reply = await send('chat', ask('aws/bearer', 'sim: mark=bearer'));
    expect(reply.status).toBe(200);
    expect(callOf('bearer')?.key_hint).toBe('-one');
  });
});

describe('faults', () => {
  test.each(['aws/thrown', 'aws/faulty'])(
    'an exception after content ends the stream of %s with its error',
    async (model) => {
      const dialect = model === 'aws/thrown' ? 'chat' : 'messages';
      const text = 'sim: tokens=6 error_after=3 chunk_ms=20 code=serviceUnavailableException';
      const reply = await send(dialect, ask(model, text, { stream: true }));
      expect(grammarFaults(dialect, reply)).toEqual([]);
      expect(errorOf(reply)).toBeTruthy();
      const { row, attempts } = await rowOf(reply);
      expect(attempts).toEqual(['error stream']);
      expect(row).toMatchObject({ status: 'error', error_code: 'upstream_overloaded' });
      expect(Number(row['cost_micro'])).toBe(0);
    },
  );

  test('a stream that is cut, and one with a damaged event, never end cleanly', async () => {
    for (const [model, words, code] of [
      ['aws/cut', 'cut_after=3', 'upstream_incomplete'],
      ['aws/damaged', 'garbage_after=3', 'upstream_invalid_response'],
    ] as const) {
      const reply = await send('chat', ask(model, `sim: tokens=6 chunk_ms=20 ${words}`, { stream: true }));
      expect(grammarFaults('chat', reply)).toEqual([]);
      const { row } = await rowOf(reply);
      expect(row).toMatchObject({ status: 'error', error_code: code });
    }
  });

  test('a throttled endpoint gives way to another, and alone it tells how long to wait', async () => {
    const reply = await send('chat', ask('aws/pair', 'sim: mark=pair fail_first=1 fail_status=429'));
    expect(reply.status).toBe(200);
    expect(reply.headers['x-svc-attempts']).toBe('2');
    expect((await rowOf(reply)).attempts).toEqual(['error rate_limit', 'ok']);
    const alone = await send('chat', ask('aws/lone', 'sim: retry_after=7'));
    expect(alone.status).toBe(429);
    expect(alone.headers['retry-after']).toBe('7');
    expect(errorOf(alone)).toMatchObject({ code: 'upstream_rate_limited' });
  });

  test('a key with a wrong secret is parked once, reported by its handle, and the other key answers', async () => {
    const replies: Reply[] = [];
    for (let i = 0; i < 5; i++) replies.push(await send('chat', ask('aws/wrong', 'hello')));
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    // Which call gets the wrong key depends on whose turn it is in the pool; only one does, and is tried again.
    const [refused, ...more] = replies.filter(({ headers }) => headers['x-svc-attempts'] !== '1') as [Reply];
    expect(more).toEqual([]);
    expect((await rowOf(refused)).attempts).toEqual(['error auth', 'ok']);
    const output = await eventually('the alert', () =>
      gateway.output().includes('provider_key_parked') ? gateway.output() : null,
    );
    expect(output.match(/provider_key_parked/g)).toHaveLength(1);
    expect(output).toContain('bedrock-wrong');
    for (const secret of [WRONG_SECRET, account.secret, account.session_token, account.access_key_id]) {
      expect(output).not.toContain(secret);
      expect(refused.text).not.toContain(secret);
    }
  });

  test('what the provider refuses is reported in its words', async () => {
    const reply = await send('chat', ask('aws/claude', 'sim: code=context_length_exceeded'));
    expect(reply.status).toBe(400);
    expect(errorOf(reply)).toMatchObject({ code: 'context_length_exceeded' });
  });
});
