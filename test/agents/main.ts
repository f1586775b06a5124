// `make agents`: coding agents and frameworks, unchanged, against a gateway before a simulator of every family. Each makes
// three calls of its shell, two of them at once, thinks before each, and is then interrupted in the middle of an answer.
// `NEWEST=1` takes the newest version of each; `ONLY=codex` one of them, `FAMILY=gemini` one family. The agents need more
// than a gigabyte, so they are no part of `make test`; most of the frameworks are (test/clients/python-loops.test.ts).
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
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
import { type Sim, startBedrockSim, startProviderSim } from '../sim/providers/index.ts';
import { withClient } from '../support/books.ts';
import { startGatewayProcess } from '../support/gateway.ts';
import { startTestPostgres } from '../support/postgres.ts';
import { provision } from '../support/provision.ts';
import { type Agent, agents, installed, type Place, run } from './agents.ts';
import { families, KEYS, providersYaml } from './families.ts';

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    family: { type: 'string', default: '' },
    newest: { type: 'boolean', default: false },
  },
});

const RUN_MS = 180_000;
const LEAVE_MS = 20_000;
const PROMPT = 'Write the three files with your shell.';
/** A long answer without calls, of which an agent that is interrupted sees a part. */
const LONG = 'sim: tools=0 tokens=4000 chunks=4000 chunk_ms=25; Tell me a story.';

interface World {
  readonly dir: string;
  readonly database_url: string;
  readonly base_url: string;
  readonly key: string;
  readonly sims: readonly Sim[];
}

async function within<T>(ms: number, what: string, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took longer than ${ms} ms`)), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

function placeOf(world: World, agent: Agent, family: string): Place {
  const folder = mkdtempSync(join(world.dir, `${agent.bin}-${family}-`));
  const [home, cwd] = [join(folder, 'home'), join(folder, 'work')];
  mkdirSync(home);
  mkdirSync(cwd);
  return { base_url: world.base_url, key: world.key, model: `fam/${family}`, home, cwd };
}

/** Calls of `model` since `began` that the gateway refused or failed. */
async function badCalls({ database_url }: World, model: string, began: Date): Promise<string[]> {
  const text = `select dialect_in || ' ' || status || ' ' || error_code as said from request_row
    where model = $1 and ts >= $2 and status <> 'ok'`;
  const { rows } = await withClient(database_url, (client) =>
    client.query<{ said: string }>(text, [model, began]),
  );
  return rows.map(({ said }) => said);
}

async function loop(world: World, agent: Agent, bin: string, at: Place): Promise<void> {
  const began = new Date();
  const started = await run(agent, bin, at, agent.prompt ?? PROMPT);
  const code = await within(RUN_MS, 'the loop', started.ended).catch((error: unknown) => {
    started.interrupt();
    throw new Error(`${String(error)}\n${started.output()}`);
  });
  if (code !== 0) throw new Error(`ended with ${code}\n${started.output()}`);
  for (const word of ['one', 'two', 'three']) {
    const written = readFileSync(join(at.cwd, `${word}.txt`), 'utf8').trim();
    if (written !== word) throw new Error(`${word}.txt says ${written}`);
  }
  const bad = await badCalls(world, at.model, began);
  if (bad.length > 0) throw new Error(`calls were refused: ${bad.join(', ')}`);
}

async function eventually(what: string, ms: number, holds: () => boolean | Promise<boolean>): Promise<void> {
  const until = Date.now() + ms;
  while (!(await holds())) {
    if (Date.now() > until) throw new Error(`${what}: not within ${ms} ms`);
    await new Promise((wake) => setTimeout(wake, 50));
  }
}

async function cancelled(world: World, agent: Agent, bin: string, at: Place): Promise<void> {
  const before = world.sims.map(({ calls }) => calls.length);
  const fresh = () => world.sims.flatMap(({ calls }, i) => calls.slice(before[i]));
  const started = await run(agent, bin, at, LONG);
  try {
    await eventually('an answer under way', RUN_MS, () => fresh().some(({ tokens_delivered: n }) => n > 5));
    started.interrupt();
    await eventually('the provider is left', LEAVE_MS, () =>
      fresh().every((call) => call.client_gone || call.finished),
    );
    if (!fresh().some(({ client_gone }) => client_gone)) throw new Error('no call was left');
  } catch (error) {
    throw new Error(`${String(error)}\n${started.output()}`);
  } finally {
    started.interrupt();
  }
  await within(RUN_MS, 'the end after an interrupt', started.ended);
}

async function tryAll(world: World): Promise<boolean> {
  let good = true;
  for (const agent of agents.filter(({ bin }) => bin.includes(options.only))) {
    const version = options.newest ? 'latest' : agent.version;
    const bin = await installed(agent, version);
    for (const family of families.filter((name) => name.includes(options.family))) {
      const row = [agent.name, version, family];
      for (const [what, part] of Object.entries({ loop, cancelled })) {
        const began = Date.now();
        try {
          await part(world, agent, bin, placeOf(world, agent, family));
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
