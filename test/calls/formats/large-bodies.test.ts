// A large body is looked at as it comes, and sent on without being written anew: only the gateway's own members differ.
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { errorOf, open } from '../caller.ts';
import { refuse, wholeAnswer } from '../upstream.ts';
import { useWorld } from '../world.ts';

const UPSTREAM = 'large-bodies';
const MODEL = 'large/bodies';

const world = useWorld({
  extras: () => ({
    providers: '',
    models: `
  - id: ${MODEL}
    name: Large
    context_length: 4000000
    max_output: 8192
    endpoints:
      - provider: script-a
        upstream_model: ${UPSTREAM}
        region: local
        cancel_billing: stops
        price: { input: "1", output: "2" }`,
  }),
});

const SOURCE = 'if (left === \\"right\\") {\\n  return [\\"{\\", 1];\\n}\\u00e9 ';

/** A body of about `bytes` whose own members stand before, between and behind its messages. */
function bodyOf(bytes: number): string {
  const message = `{ "role":"user", "content":"${SOURCE.repeat(40)}", "name" : "n\\"}]" }`;
  const messages = new Array(Math.ceil(bytes / message.length)).fill(message).join(' ,\n');
  return (
    ` {"svc":{"metadata":{"team":"a"}} ,"seed":12345678901234567891,\t"messages": [${messages}] ,` +
    ` "user":"u1","mod\\u0065l" : "${MODEL}" ,"max_tokens":16,"stop":["a,b"]\n} `
  );
}

test.each([
  ['small', 4_000],
  ['large', 300_000],
  ['in slices', 1_500_000],
] as const)(
  'a %s body keeps every byte but those of members that are the gateway’s',
  async (_name, bytes) => {
    for (const encoding of ['identity', 'gzip'] as const) {
      const org = await world().org(100_000_000);
      world().script.on(UPSTREAM, 'a', refuse(200, wholeAnswer(UPSTREAM)));
      const text = bodyOf(bytes);
      const { status, text: said } = await open(world().gateway.base_url, {
        path: '/v1/chat/completions',
        headers: { authorization: `Bearer ${org.live_key}`, 'content-encoding': encoding },
        body: encoding === 'gzip' ? gzipSync(text) : text,
      }).reply;
      expect([status, said.slice(0, 200)]).toEqual([200, expect.any(String)]);
      const sent = world().script.received(UPSTREAM).at(-1)?.text ?? '';
      const [before = '', behind = ''] = text.split(/"svc":\{[^}]*\}\} ,/);
      const expected = `${before}${behind}`
        .replace(`"${MODEL}"`, `"${UPSTREAM}"`)
        .replace(/"user":"u1"/, /"user":"[0-9a-f]{64}"/.exec(sent)?.[0] ?? 'no hash of the user');
      expect(sent === expected, `${sent.slice(-300)}\n${expected.slice(-300)}`).toBe(true);
    }
  },
);

test('a large body whose model is named twice is refused, wherever the second stands', async () => {
  const org = await world().org();
  const before = world().script.received(UPSTREAM).length;
  const reply = await open(world().gateway.base_url, {
    path: '/v1/chat/completions',
    headers: { authorization: `Bearer ${org.live_key}` },
    body: bodyOf(300_000).replace(/\n\} $/, ',"model":"other"}'),
  }).reply;
  expect([reply.status, errorOf(reply)?.['code']]).toEqual([400, 'invalid_json']);
  expect(world().script.received(UPSTREAM)).toHaveLength(before);
});
