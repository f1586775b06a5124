// Frameworks for Python, unchanged, before every family of provider with base URL and key alone: a loop of three calls of
// tools, two of them at once, with thinking before each, and an answer that is left in its middle.
import { readFileSync } from 'node:fs';
import { ensurePythonClients } from '@svc/cli/tools/python.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { families, KEYS, providersYaml } from '../agents/families.ts';
import { type Sim, startBedrockSim, startProviderSim } from '../sim/providers/index.ts';
import { createTestDatabase } from '../support/database.ts';
import { provision } from '../support/provision.ts';
import { startTestGateway, type TestGateway } from '../support/shared-gateway.ts';
import {
  callsOf,
  expectedCalls,
  expectedOf,
  type LoopClient,
  type LoopPlace,
  loopClients,
  runLoops,
  stillMade,
} from './loops.ts';

/** LiteLLM takes 340 MB; `make agents` tries it. */
const clients = loopClients.filter(({ set }) => set !== 'litellm');

let sims: readonly [Sim, Sim];
let database_url = '';
let gateway: TestGateway;
const pythons = new Map<string, string>();

beforeAll(async () => {
  for (const { set } of clients) pythons.set(set, await ensurePythonClients(() => {}, set));
  sims = await Promise.all([startProviderSim(), startBedrockSim(KEYS.bedrock)]);
  database_url = await createTestDatabase();
  gateway = await startTestGateway({ database_url, providers: providersYaml(...sims), env: KEYS.env });
}, 300_000);
afterAll(async () => {
  await gateway?.stop();
  await Promise.all(sims.map((sim) => sim.close()));
});

async function placeOf({ script }: LoopClient): Promise<LoopPlace> {
  const slug = script.replace('.py', '').replaceAll('_', '-');
  const org = await provision({ database_url, slug, live_micro_usd: 100_000_000 });
  const { base_url } = gateway;
  return { base_url, key: org.live_key, org_id: org.org_id, database_url, families, sims };
}

test.each(clients.map((client) => [client.name, client] as const))(
  '%s runs its loop to the end and leaves an answer, over every dialect that it has',
  async (_name, client) => {
    const place = await placeOf(client);
    expect(await runLoops(client, pythons.get(client.set) as string, place)).toEqual(
      expectedOf(client, families),
    );
    // What was left ends at the provider too, and each call is in its row.
    await expect.poll(() => stillMade(client, place), { timeout: 10_000 }).toBe(0);
    await expect.poll(() => callsOf(place), { timeout: 20_000 }).toEqual(expectedCalls(client, families));
  },
  120_000,
);

test('the table of clients says which versions were tried, and over which dialects', () => {
  const table = readFileSync(new URL('../../docs/clients/README.md', import.meta.url), 'utf8');
  for (const { name, ways, version } of loopClients) {
    expect(table).toContain(`| ${name} | ${Object.keys(ways).join(', ')} | ${version} |`);
  }
});
