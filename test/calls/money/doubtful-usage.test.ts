// Usage that is missing or contradicts itself does not only matter for the caller's bill: operators get a warning
// (docs/outcomes.md#usage-missing), without a word of content.
import { freePort } from '@svc/cli/tools/postgres.ts';
import { expect, test } from 'vitest';
import { svcOf } from '../caller.ts';
import { endChunks, refuse, streamHead, textChunk, wholeAnswer } from '../upstream.ts';
import { bodyOf, eventually, idOf, send, useWorld } from '../world.ts';

const metrics_port = await freePort();
const world = useWorld({ env: { SVC_METRICS_PORT: String(metrics_port) } });

interface Line {
  readonly msg: string;
  readonly endpoint_id?: string;
  readonly request_id?: string;
}

/** Warnings of the gateway so far that begin with `text`. */
function logged(text: string): Line[] {
  const lines = world().gateway.output().split('\n');
  const parsed = lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as Line);
  return parsed.filter(({ msg }) => msg.startsWith(text));
}

async function flaggedFigure(): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${metrics_port}/metrics`)).text();
  return Number(/^svc_endpoints_without_usage\{[^}]*\} (\d+)$/m.exec(text)?.[1]);
}

test('the third answer without usage flags the endpoint: one log line, and a figure of the metrics', async () => {
  const org = await world().org();
  const { id } = world().model('chat');
  const ask = (stream: boolean) =>
    world().chat(org.live_key, bodyOf(id, 'sim: no_usage=1 tokens=4 text=heron', { stream })).reply;
  await ask(true);
  await ask(false);
  expect(logged('endpoint flagged')).toEqual([]);
  expect(await flaggedFigure()).toBe(0);
  const third = await ask(true);
  const [line] = await eventually('the log line', () => {
    const lines = logged('endpoint flagged');
    return lines.length > 0 && lines;
  });
  expect(line).toMatchObject({
    request_id: idOf(third),
    endpoint_id: third.headers['x-svc-endpoint-id'],
  });
  expect(await flaggedFigure()).toBe(1);
  const fourth = await ask(false);
  expect(fourth.status).toBe(200);
  await world().ended(org, idOf(fourth));
  expect(logged('endpoint flagged')).toHaveLength(1);
  expect(JSON.stringify(logged(''))).not.toContain('heron');
});

const ways = [
  { dialect: 'chat', stream: true },
  { dialect: 'chat', stream: false },
  { dialect: 'messages', stream: true },
  { dialect: 'messages', stream: false },
] as const;

test.each(ways)('counts that were cut to fit are logged once ($dialect, stream $stream)', async (way) => {
  const org = await world().org();
  const { id, upstream } = world().model('script');
  const usage = {
    prompt_tokens: 10,
    completion_tokens: 3,
    total_tokens: 13,
    prompt_tokens_details: { cached_tokens: 12 },
  };
  // Reported twice in a stream, as some servers do.
  world().script.on(upstream, 'a', (response, received) => {
    if (received.body['stream'] !== true)
      return refuse(200, wholeAnswer(upstream, { usage }))(response, received);
    streamHead(response);
    const first = textChunk(upstream, 'a heron').replace(
      '"choices"',
      `"usage":${JSON.stringify(usage)},"choices"`,
    );
    response.end(`${first}${endChunks(upstream, usage)}`);
  });
  const body = bodyOf(id, 'Hi', { stream: way.stream });
  const reply = await send(world(), way.dialect, org.live_key, body).reply;
  const ended = await world().ended(org, idOf(reply));
  expect(ended.row).toMatchObject({
    status: 'ok',
    usage_source: 'provider',
    input_tokens: 0,
    output_tokens: 3,
  });
  expect(ended.row).toMatchObject({ cache_read_tokens: 10 });
  expect(svcOf(reply)?.['warnings']).toEqual([]);
  const mine = () => logged('usage_inconsistent').filter(({ request_id }) => request_id === idOf(reply));
  await eventually('the log line', () => mine().length > 0);
  expect(mine()).toHaveLength(1);
  expect(JSON.stringify(mine())).not.toContain('heron');
});

test('a broken answer whose counts cannot be true does not use up the tokens of its key for ever', async () => {
  const org = await world().org(undefined, [{ name: 'limited', tpm: 100_000 }]);
  const key = org.keys[0]?.secret as string;
  const { id, upstream } = world().model('script');
  const absurd = Number.MAX_SAFE_INTEGER;
  world().script.on(upstream, 'a', (response) => {
    streamHead(response);
    const usage = { prompt_tokens: absurd, completion_tokens: 3, total_tokens: absurd };
    response.write(
      textChunk(upstream, 'a heron').replace('"choices"', `"usage":${JSON.stringify(usage)},"choices"`),
    );
    response.end('data: {"error":{"message":"broken","type":"server_error","code":"server_error"}}\n\n');
  });
  const ask = () => world().chat(key, bodyOf(id, 'Hi', { stream: true })).reply;
  const reply = await ask();
  expect(reply.status).toBe(200);
  expect((await ask()).status).toBe(200);
  const { row } = await world().ended(org, idOf(reply));
  expect(row).toMatchObject({ status: 'error', output_tokens: 1, usage_source: 'estimate' });
});
