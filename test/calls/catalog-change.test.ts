// The providers file is changed while calls run: a call ends with the endpoints and prices that it began with.
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { refuse, wholeAnswer } from './upstream.ts';
import { bodyOf, eventually, idOf, useWorld } from './world.ts';

const SITES = ['p', 'q'];
const providerOf = (site: string, url: string) => `
  - { id: site-${site}, name: ${site}, kind: openai, base_url: "${url}/${site}/v1", api_key_env: CALLS_KEY }`;
const endpointOf = (site: string) => `
      - { provider: site-${site}, upstream_model: moving, price: { input: "1", output: "1" } }`;

const world = useWorld({
  models: {},
  extras: ({ script }) => ({
    providers: SITES.map((site) => providerOf(site, script.url)).join(''),
    models: `
  - id: calls/moving
    name: moving
    context_length: 128000
    max_output: 8192
    endpoints:${SITES.map(endpointOf).join('')}`,
  }),
});

test('a call fails over to an endpoint whose provider was taken out of the file while the call ran', async () => {
  const { gateway, script } = world();
  const org = await world().org();
  const path = join(gateway.data_dir, `providers-test-${gateway.port}.yaml`);
  let fail = () => {};
  for (const site of SITES) {
    script.on('moving', site, (response, received) => {
      if (script.received('moving').length > 1) return refuse(200, wholeAnswer('moving'))(response, received);
      fail = () => refuse(500, { error: { message: 'down' } })(response, received);
    });
  }
  const { reply } = world().chat(org.live_key, bodyOf('calls/moving', 'Hi'));
  const [first] = await eventually('the first attempt runs', () => {
    const all = script.received('moving');
    return all.length > 0 && all;
  });
  const other = SITES.find((site) => site !== first?.site) as string;
  const text = await readFile(path, 'utf8');
  await writeFile(
    `${path}.new`,
    text.replace(providerOf(other, script.url), '').replace(endpointOf(other), ''),
  );
  await rename(`${path}.new`, path);
  await eventually('the gateway follows its file', async () => {
    const headers = { authorization: `Bearer ${org.live_key}` };
    const answer = await fetch(`${gateway.base_url}/v1/models/calls/moving/endpoints`, { headers });
    return ((await answer.json()) as { data: unknown[] }).data.length === 1;
  });
  fail();
  expect(await reply).toMatchObject({ status: 200 });
  const { attempts } = await world().ended(org, idOf(await reply));
  expect(attempts).toEqual(['error server', 'ok']);
});
