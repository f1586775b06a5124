// One agent before one family: its loop to the end, and an answer that it is interrupted in.
import { mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Sim } from '../sim/providers/index.ts';
import { withClient } from '../support/books.ts';
import { type Agent, type Place, run } from './agents.ts';

const RUN_MS = 180_000;
const LEAVE_MS = 20_000;
const PROMPT = 'Write the three files with your shell.';
/** A long answer without calls, of which an agent that is interrupted sees a part. */
const LONG = 'sim: tools=0 tokens=4000 chunks=4000 chunk_ms=25; Tell me a story.';

/** A gateway before the simulators of every family. */
export interface World {
  readonly dir: string;
  readonly database_url: string;
  readonly base_url: string;
  readonly key: string;
  readonly sims: readonly Sim[];
}

/** @throws Error when `work` takes longer. */
export async function within<T>(ms: number, what: string, work: Promise<T>): Promise<T> {
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

async function loop(world: World, agent: Agent, bin: string, family: string): Promise<void> {
  const at = placeOf(world, agent, family);
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

/** @throws Error when `holds` is not true in time. */
export async function eventually(
  what: string,
  ms: number,
  holds: () => boolean | Promise<boolean>,
): Promise<void> {
  const until = Date.now() + ms;
  while (!(await holds())) {
    if (Date.now() > until) throw new Error(`${what}: not within ${ms} ms`);
    await new Promise((wake) => setTimeout(wake, 50));
  }
}

async function cancelled(world: World, agent: Agent, bin: string, family: string): Promise<void> {
  const at = placeOf(world, agent, family);
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

/** What every agent is put to; each rejects with what the agent printed. */
export const trials = { loop, cancelled };
