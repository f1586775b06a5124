// `make agents`: coding agents and frameworks, unchanged, against a gateway before a simulator of every family. Each makes
// three calls of its shell, two of them at once, thinks before each, and is then interrupted in the middle of an answer.
// `NEWEST=1` takes the newest version of each; `ONLY=codex` one of them, `FAMILY=gemini` one family. Most of it is a part of
// `make test` too (agents.test.ts, test/clients/python-loops.test.ts).
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { ensurePythonClients, installNewest } from '@svc/cli/tools/python.ts';
import { migrate } from '@svc/core/db/index.ts';
import {
  callsOf,
  expectedCalls,
  expectedOf,
  type LoopClient,
  type LoopPlace,
  loopClients,
  runLoops,
  stillMade,
} from '../clients/loops.ts';
import { startBedrockSim, startProviderSim } from '../sim/providers/index.ts';
import { startGatewayProcess } from '../support/gateway.ts';
import { startTestPostgres } from '../support/postgres.ts';
import { provision } from '../support/provision.ts';
import { agents, installed } from './agents.ts';
import { families, KEYS, providersYaml } from './families.ts';
import { eventually, trials, type World, within } from './trial.ts';

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    family: { type: 'string', default: '' },
    newest: { type: 'boolean', default: false },
  },
});

const RUN_MS = 180_000;
const LEAVE_MS = 20_000;

async function tryAll(world: World): Promise<boolean> {
  let good = true;
  for (const agent of agents.filter(({ bin }) => bin.includes(options.only))) {
    const version = options.newest ? 'latest' : agent.version;
    const bin = await installed(agent, version);
    for (const family of families.filter((name) => name.includes(options.family))) {
      const row = [agent.name, version, family];
      for (const [what, part] of Object.entries(trials)) {
        const began = Date.now();
        try {
          await part(world, agent, bin, family);
          row.push(`${what} ${((Date.now() - began) / 1_000).toFixed(0)} s`);
        } catch (error) {
          good = false;
          row.push(`${what} FAILED`);
          process.stdout.write(`${String(error)}\n`);
        }
      }
      process.stdout.write(`${row.join(' | ')}\n`);
    }
  }
  return good;
}

/** Runs one framework over all its dialects; it has an organization of its own. */
async function tryLoops(world: World, client: LoopClient): Promise<void> {
  const say = (text: string) => void process.stdout.write(`${text}\n`);
  const python = await (options.newest ? installNewest : ensurePythonClients)(say, client.set);
  const { base_url, database_url, sims } = world;
  const slug = client.script.replace('.py', '').replaceAll('_', '-');
  const org = await provision({ database_url, slug, live_micro_usd: 1_000_000_000 });
  const wanted = families.filter((name) => name.includes(options.family));
  const place: LoopPlace = {
    ...{ base_url, database_url, sims, families: wanted },
    ...{ key: org.live_key, org_id: org.org_id },
  };
  const said = await within(RUN_MS, 'the loops', runLoops(client, python, place));
  if (!isDeepStrictEqual(said, expectedOf(client, wanted))) {
    throw new Error(`it saw ${JSON.stringify(said)}`);
  }
  await eventually('the provider is left', LEAVE_MS, () => stillMade(client, place) === 0);
  const calls = expectedCalls(client, wanted);
  await eventually('each call is in its row', LEAVE_MS, async () =>
    isDeepStrictEqual(await callsOf(place), calls),
  );
}

async function tryAllLoops(world: World): Promise<boolean> {
  let good = true;
  for (const client of loopClients.filter(({ script }) => script.includes(options.only))) {
    const row = [
      client.name,
      options.newest ? 'latest' : client.version,
      Object.keys(client.ways).join(', '),
    ];
    const began = Date.now();
    try {
      await tryLoops(world, client);
      row.push(`${((Date.now() - began) / 1_000).toFixed(0)} s`);
    } catch (error) {
      good = false;
      row.push('FAILED');
      process.stdout.write(`${String(error)}\n`);
    }
    process.stdout.write(`${row.join(' | ')}\n`);
  }
  return good;
}

const dir = mkdtempSync(join(tmpdir(), 'svc-agents-'));
const server = await startTestPostgres({ dir, settings: { fsync: 'off' } });
const [sim, bedrock] = await Promise.all([startProviderSim(), startBedrockSim(KEYS.bedrock)]);
try {
  const database_url = server.urlOf('postgres');
  await migrate(database_url);
  const org = await provision({ database_url, live_micro_usd: 1_000_000_000 });
  const gateway = await startGatewayProcess({
    ...{ database_url, providers: providersYaml(sim, bedrock), env: KEYS.env },
  });
  const world = { dir, database_url, base_url: gateway.base_url, key: org.live_key, sims: [sim, bedrock] };
  const good = [await tryAll(world), await tryAllLoops(world)];
  if (good.includes(false)) process.exitCode = 1;
  await gateway.stop();
} finally {
  await Promise.all([sim.close(), bedrock.close(), server.stop()]);
  rmSync(dir, { recursive: true, force: true });
}
