// Frameworks for Python that run loops of tools by themselves, as `make test` and `make agents` try them: what each is told
// (python/loops.py), and what it, the gateway and the provider must have seen.
import { type PythonSet, pinnedVersion } from '@svc/cli/tools/python.ts';
import type { Sim } from '../sim/providers/index.ts';
import { withClient } from '../support/books.ts';
import { runPython } from './python.ts';

export interface LoopClient {
  readonly name: string;
  readonly set: PythonSet;
  readonly version: string;
  readonly script: string;
  /** The dialects that it is tried over, in this order; true: it shows what a model thinks. */
  readonly ways: Readonly<Record<string, boolean>>;
  /** Calls of tools in each turn of the loop. */
  readonly turns: readonly number[];
}

/** One call, two at once, and a word at the end. */
const TURNS = [1, 2, 0];
/** Pieces of the long answer after which a client leaves (python/loops.py). */
const PIECES = 5;

export const loopClients: readonly LoopClient[] = [
  {
    ...{ name: 'Pydantic AI', set: 'frameworks', version: pinnedVersion('frameworks', 'pydantic-ai-slim') },
    ...{ script: 'pydantic_ai_loops.py', turns: TURNS },
    ways: { chat: true, responses: true, messages: true },
  },
  {
    ...{
      name: 'OpenAI Agents SDK',
      set: 'frameworks',
      version: pinnedVersion('frameworks', 'openai-agents'),
    },
    ...{ script: 'openai_agents_loops.py', turns: TURNS },
    ways: { chat: true, responses: true },
  },
  {
    ...{ name: 'Instructor', set: 'instructor', version: pinnedVersion('instructor', 'instructor') },
    // It turns calls into objects; a word at the end has nothing for it.
    ...{ script: 'instructor_loops.py', turns: [1, 2] },
    ways: { chat: false, messages: false },
  },
  {
    ...{ name: 'LangGraph', set: 'langchain', version: pinnedVersion('langchain', 'langgraph') },
    ...{ script: 'langgraph_loops.py', turns: TURNS },
    ways: { chat: false, responses: true, messages: true },
  },
  {
    ...{ name: 'LiteLLM', set: 'litellm', version: pinnedVersion('litellm', 'litellm') },
    ...{ script: 'litellm_loops.py', turns: TURNS },
    ways: { chat: true, messages: true },
  },
];

/** Where a loop is run: a gateway, and a model of each family behind it. */
export interface LoopPlace {
  readonly base_url: string;
  readonly key: string;
  readonly org_id: string;
  readonly database_url: string;
  readonly families: readonly string[];
  readonly sims: readonly Sim[];
}

/** OpenAI's responses tell of thoughts only who asks for a summary. */
const isShown = (family: string) => family !== 'responses';

/** What the script of `client` prints, by dialect and family, when nothing is missing. */
export function expectedOf({ ways }: LoopClient, families: readonly string[]): Record<string, unknown> {
  const seen = (shows: boolean) => (family: string) => [
    family,
    { loop: true, thought: shows && isShown(family), seen: PIECES },
  ];
  return Object.fromEntries(
    Object.entries(ways).map(([way, shows]) => [way, Object.fromEntries(families.map(seen(shows)))]),
  );
}

/** The calls that the gateway must have counted for each family: their status, and calls of tools in the answer. */
export function expectedCalls({ ways, turns }: LoopClient, families: readonly string[]) {
  const way = [...turns.map((calls) => `ok ${calls}`), 'cancelled 0'];
  const all = Object.keys(ways).flatMap(() => way);
  return Object.fromEntries(families.map((family) => [`fam/${family}`, all]));
}

/** Runs the script of `client` with the interpreter `python`. */
export function runLoops(client: LoopClient, python: string, place: LoopPlace) {
  const { base_url, key, families } = place;
  const at = families.map((family) => [
    family,
    { base_url, key, model: `fam/${family}`, mark: markOf(client, family) },
  ]);
  return runPython(python, client.script, [JSON.stringify(Object.fromEntries(at))]);
}

function markOf({ script }: LoopClient, family: string): string {
  return `${script.replace('.py', '')}-${family}`;
}

/** The calls of the place's organization by model, oldest first. */
export async function callsOf({ database_url, org_id }: LoopPlace): Promise<Record<string, string[]>> {
  const text = `select model, array_agg(status || ' ' || tool_calls order by ts) as said
    from request_row where org_id = $1 group by model`;
  const { rows } = await withClient(database_url, (client) =>
    client.query<{ model: string; said: string[] }>(text, [org_id]),
  );
  return Object.fromEntries(rows.map(({ model, said }) => [model, said]));
}

/** How many of the answers that `client` left are still being made at a provider; null: it left none of a family. */
export function stillMade(client: LoopClient, { sims, families }: LoopPlace): number | null {
  const calls = sims.flatMap((sim) => sim.calls);
  const left = families.map((family) => calls.filter(({ mark }) => mark === markOf(client, family)));
  if (left.some((of) => of.length === 0)) return null;
  return left.flat().filter(({ client_gone }) => !client_gone).length;
}
