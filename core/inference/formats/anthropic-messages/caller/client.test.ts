// The official client against the bytes of both lanes, over a real socket.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Anthropic, { APIError } from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  finalMessage,
  fixture,
  fixtures,
  meta,
  paid,
  request,
  runRelay,
  target,
} from '../../../../../test/grammar/messages-cases.ts';
import { ServiceError } from '../../../../kernel/index.ts';
import type { Relay } from '../../../canonical/contract.ts';
import { canonicalRelay } from '../../../canonical/relay.ts';
import { anthropicMessages } from '../upstream/index.ts';
import { messagesDialect, messagesRawLane } from './index.ts';

let server: Server;
let client: Anthropic;
/** What the server answers next. */
let answer = { status: 200, type: 'text/event-stream', body: '' };

beforeAll(async () => {
  server = createServer((req, res) => {
    req.resume();
    req.on('end', () => {
      res.writeHead(answer.status, { 'content-type': answer.type, 'request-id': meta.request_id });
      res.end(answer.body);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  client = new Anthropic({ apiKey: 'k', baseURL: `http://127.0.0.1:${port}`, maxRetries: 0 });
});

afterAll(async () => {
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
});

const params = { model: meta.model, max_tokens: 64, messages: [{ role: 'user' as const, content: 'Hi' }] };
const lanes: [string, () => Relay][] = [
  ['raw', () => messagesRawLane.relay(meta, request(), target())],
  [
    'canonical',
    () => canonicalRelay(anthropicMessages.decoder(request(), target()), messagesDialect.writer(meta)),
  ],
];

describe.each(lanes)('%s lane', (_lane, relay) => {
  // The client throws on block and delta types it does not know, as upstream's own would make it.
  const whole = fixtures('.sse').filter((name) => !['error-mid', 'cut', 'unknown-event'].includes(name));

  test.each(whole)('%s: the stream class ends with the message we meant, and its svc', async (name) => {
    answer = { status: 200, type: 'text/event-stream', body: runRelay(relay(), [fixture(`${name}.sse`)]) };
    const message = (await client.messages.stream(params).finalMessage()) as unknown as Record<
      string,
      unknown
    >;
    const meant = finalMessage(answer.body).message as Record<string, unknown>;
    expect(message['id']).toBe(meta.request_id);
    expect(message['stop_reason']).toBe(meant['stop_reason']);
    expect(message['usage']).toMatchObject({
      output_tokens: (meant['usage'] as Record<string, unknown>)['output_tokens'],
    });
    // The class keeps the start's svc; the cost stands beside the last usage.
    expect(message['svc']).toMatchObject({ request_id: meta.request_id, provider: 'anthropic', cost: null });
    const blocks = (meant['content'] as Record<string, unknown>[]).map((block) =>
      typeof block['input'] === 'string' ? { ...block, input: JSON.parse(block['input']) } : block,
    );
    expect(JSON.parse(JSON.stringify(message['content']))).toEqual(blocks);
  });

  test('a reader of events finds the settled cost in message_delta', async () => {
    answer = { status: 200, type: 'text/event-stream', body: runRelay(relay(), [fixture('tool.sse')]) };
    const events: unknown[] = [];
    for await (const event of await client.messages.create({ ...params, stream: true })) events.push(event);
    expect(events.at(-2)).toMatchObject({ type: 'message_delta', svc: { cost: { total_micro_usd: 1_234 } } });
    expect(events.at(-1)).toMatchObject({ type: 'message_stop' });
  });

  test('an error after content is thrown with its type and code', async () => {
    answer = { status: 200, type: 'text/event-stream', body: runRelay(relay(), [fixture('error-mid.sse')]) };
    const failed = await client.messages
      .stream(params)
      .finalMessage()
      .catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(APIError);
    expect(failed).toMatchObject({
      type: 'api_error',
      errorCode: 'upstream_error',
      requestID: meta.request_id,
    });
  });
});

test.each(fixtures('.message.json'))('%s: a whole answer reads the same from both lanes', async (name) => {
  const raw = messagesRawLane.whole(fixture(`${name}.message.json`), request(), target());
  const decoded = anthropicMessages.decode(fixture(`${name}.message.json`), request(), target());
  const end = paid(raw.usage ?? expect.fail('usage'));
  for (const body of [raw.finish(meta, end).toString('utf8'), messagesDialect.write(decoded, meta, end)]) {
    answer = { status: 200, type: 'application/json', body };
    const message = (await client.messages.create(params)) as unknown as Record<string, unknown>;
    expect(message).toMatchObject({
      id: meta.request_id,
      model: meta.model,
      svc: { cost: { total_micro_usd: 1_234 } },
    });
    expect(message['stop_reason']).toBe(raw.stop?.raw);
  }
});

test('a refusal is thrown with type, code, details and our request id', async () => {
  const error = new ServiceError('insufficient_credits', 'Not enough credit.', {
    details: { required_micro: 5 },
  });
  const body = JSON.stringify(messagesDialect.error(error, meta));
  answer = { status: error.status, type: 'application/json', body };
  await expect(client.messages.create(params)).rejects.toMatchObject({
    status: 402,
    type: 'billing_error',
    errorCode: 'insufficient_credits',
    details: { required_micro: 5 },
    requestID: meta.request_id,
  });
});
