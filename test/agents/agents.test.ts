// Coding agents as they come from npm, in the versions of the table of docs/clients, with base URL and key alone. The two
// that are quick are put before every family, each other one before one; `make agents` puts all of them before all.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBedrockSim, startProviderSim } from '../sim/providers/index.ts';
import { createTestDatabase } from '../support/database.ts';
import { provision } from '../support/provision.ts';
import { startTestGateway } from '../support/shared-gateway.ts';
import { agents, installed } from './agents.ts';
import { families, KEYS, providersYaml } from './families.ts';
import { trials, type World } from './trial.ts';

/** aider needs 660 MB of Python; `make agents` tries it. */
const before: Readonly<Record<string, readonly string[]>> = {
  claude: families,
  codex: families,
  opencode: ['chat'],
  qwen: ['gemini'],
  cline: ['bedrock'],
  aider: [],
};

let world: World;
const bins = new Map<string, string>();
const ends: (() => unknown)[] = [];

beforeAll(async () => {
  for (const agent of agents) {
    if (before[agent.bin]?.length !== 0) bins.set(agent.bin, await installed(agent, agent.version));
  }
  const sims = await Promise.all([startProviderSim(), startBedrockSim(KEYS.bedrock)]);
  ends.push(...sims.map((sim) => () => sim.close()));
  const database_url = await createTestDatabase();
  const gateway = await startTestGateway({ database_url, providers: providersYaml(...sims), env: KEYS.env });
  ends.push(() => gateway.stop());
  const org = await provision({ database_url, slug: 'agents', live_micro_usd: 1_000_000_000 });
  const dir = mkdtempSync(join(tmpdir(), 'svc-agents-'));
  ends.push(() => rmSync(dir, { recursive: true, force: true }));
  world = { dir, database_url, base_url: gateway.base_url, key: org.live_key, sims };
}, 600_000);
afterAll(async () => {
  await Promise.all(ends.map((end) => end()));
});

const tried = agents.flatMap((agent) =>
  (before[agent.bin] ?? []).flatMap((family) =>
    (['loop', 'cancelled'] as const).map((what) => [agent.name, what, family, agent] as const),
  ),
);

test('every agent is tried, or has a reason not to be', () => {
  expect(agents.map(({ bin }) => bin).sort()).toEqual(Object.keys(before).sort());
});

test('the table of clients says which versions are tried', () => {
  const table = readFileSync(new URL('../../docs/clients/README.md', import.meta.url), 'utf8');
  for (const { name, version } of agents) {
    expect(table).toMatch(new RegExp(`^\\| ${name} \\|.*\\| ${version} \\|`, 'm'));
  }
});

test.each(tried)(
  '%s: %s before %s',
  (_name, what, family, agent) => trials[what](world, agent, bins.get(agent.bin) as string, family),
  240_000,
);
