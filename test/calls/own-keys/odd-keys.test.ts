// Keys of a provider as deployments really set them: with the line end of the file they came from, or damaged.
import { expect, test } from 'vitest';
import { errorOf } from '../caller.ts';
import { refuse, wholeAnswer } from '../upstream.ts';
import { bodyOf, useWorld } from '../world.ts';

const KEYS = { LINE_KEY: 'sk-line\n', SPOILT_KEY: 'sk-spoilt“secret”\nsk' };

const world = useWorld({
  models: {},
  env: KEYS,
  extras: ({ script }) => ({
    providers: Object.keys(KEYS)
      .map(
        (name) => `
  - { id: ${name.toLowerCase().replace('_', '-')}, name: x, kind: openai, base_url: "${script.url}/k/v1", api_key_env: ${name} }`,
      )
      .join(''),
    models: Object.keys(KEYS)
      .map(
        (name) => `
  - id: calls/${name.toLowerCase()}
    name: x
    context_length: 128000
    max_output: 8192
    endpoints:
      - { provider: ${name.toLowerCase().replace('_', '-')}, upstream_model: ${name}, price: { input: "1", output: "1" } }`,
      )
      .join(''),
  }),
});

async function ask(name: keyof typeof KEYS) {
  world().script.on(name, 'k', refuse(200, wholeAnswer(name)));
  const org = await world().org();
  return world().chat(org.live_key, bodyOf(`calls/${name.toLowerCase()}`, 'Hi')).reply;
}

test('a key that kept the end of its line is sent without it', async () => {
  expect(await ask('LINE_KEY')).toMatchObject({ status: 200 });
  expect(world().script.received('LINE_KEY')[0]?.headers.authorization).toBe('Bearer sk-line');
});

test('a key that no header can carry counts as missing, and the log says so without showing it', async () => {
  const reply = await ask('SPOILT_KEY');
  expect([reply.status, errorOf(reply)?.['code']]).toEqual([400, 'no_endpoint_available']);
  const output = world().gateway.output();
  expect(output).toMatch(/"provider_key_unusable","provider":"spoilt-key"/);
  expect(output + reply.text).not.toMatch(/sk-spoilt|secret”/);
});
