// A gateway process, a simulator and a scripted upstream behind it, and organizations of known balance. Every test
// takes models and an organization of its own, so that tests neither see each other's circuits nor each other's money.
import { rmSync } from 'node:fs';
import { freePort } from '@svc/cli/tools/postgres.ts';
import type { Formats } from '@svc/core/inference/index.ts';
import type { Log } from '@svc/core/kernel/index.ts';
import type { Route } from '@svc/core/routing/index.ts';
import { afterAll, beforeAll, expect } from 'vitest';
import { checkChatStream } from '../grammar/chat.ts';
import { checkMessagesStream } from '../grammar/messages.ts';
import { type Sim, startProviderSim } from '../sim/providers/index.ts';
import { openReader, type Reader, readBook, ulidOf } from '../support/books.ts';
import { createTestDatabase } from '../support/database.ts';
import {
  freshDataDir,
  type GatewayProcess,
  startGatewayHere,
  startGatewayProcess,
} from '../support/gateway.ts';
import { type KeyOptions, type Provisioned, provision } from '../support/provision.ts';
import { startSharedGateway } from '../support/shared-gateway.ts';
import { type CallOptions, type Exchange, type Json, open, type Reply } from './caller.ts';
import { type Hung, startHung } from './hung.ts';
import { type ScriptedUpstream, startScriptedUpstream } from './upstream.ts';

/** Micro-USD per token of every model here. */
export const INPUT_MICRO = 1.25;
export const OUTPUT_MICRO = 4.75;
/** Models of each kind where the file names no number of its own. */
const COPIES = 12;

/** Micro-USD of so many tokens: each line rounded half up. */
export function priceOf(input: number, output: number): number {
  return Math.floor(input * INPUT_MICRO + 0.5) + Math.floor(output * OUTPUT_MICRO + 0.5);
}

interface EndpointOptions {
  readonly provider: string;
  readonly billing?: 'stops' | 'bills_full' | 'unknown';
}

const kinds = {
  chat: [{ provider: 'sim-a' }],
  messages: [{ provider: 'sim-x' }],
  full: [{ provider: 'sim-a', billing: 'bills_full' }],
  unknown: [{ provider: 'sim-a', billing: 'unknown' }],
  hidden: [{ provider: 'sim-a' }],
  pair: [{ provider: 'sim-a' }, { provider: 'sim-b' }],
  cross: [{ provider: 'sim-a' }, { provider: 'sim-x' }],
  'gemini-3': [{ provider: 'sim-g' }],
  'gemini-3-cross': [{ provider: 'sim-g' }, { provider: 'sim-a' }],
  'gemini-3-between': [{ provider: 'sim-a' }, { provider: 'sim-g' }, { provider: 'sim-b' }],
  'messages-pair': [{ provider: 'sim-x' }, { provider: 'sim-y' }],
  script: [{ provider: 'script-a' }],
  'script-full': [{ provider: 'script-a', billing: 'bills_full' }],
  'script-pair': [{ provider: 'script-a' }, { provider: 'script-b' }],
  'script-messages': [{ provider: 'script-x' }],
  dead: [{ provider: 'dead' }],
  'dead-pair': [{ provider: 'dead' }, { provider: 'sim-a' }],
  keyed: [{ provider: 'keyed' }],
  hung: [{ provider: 'hung' }],
  'script-cross': [{ provider: 'script-a' }, { provider: 'sim-x' }],
  'script-cross-back': [{ provider: 'script-x' }, { provider: 'sim-a' }],
  'script-sim-messages': [{ provider: 'script-x' }, { provider: 'sim-x' }],
} as const satisfies Record<string, readonly EndpointOptions[]>;
export type Kind = keyof typeof kinds;

/** Entries of a test's own in the providers file, as YAML list items. */
export interface Extras {
  readonly providers: string;
  readonly models: string;
}

function providersYaml(
  parts: { sim: Sim; script: ScriptedUpstream; dead_port: number; hung: Hung },
  copiesOf: (kind: Kind) => number,
  more: Extras = { providers: '', models: '' },
): string {
  const { sim, script, dead_port, hung } = parts;
  const provider = (id: string, kind: string, base: string, more = '') => `
  - id: ${id}
    name: ${id}
    kind: ${kind}
    base_url: ${base}
    api_key_env: [CALLS_KEY${more}]
    regions: [local]
    data_policy: { trains: false, retention_days: 0, zdr: ${id !== 'sim-b'} }`;
  const endpoint = (model: string, wanted: EndpointOptions) => `
      - provider: ${wanted.provider}
        upstream_model: ${model}
        region: local
        cancel_billing: ${wanted.billing ?? 'stops'}
        price: { input: "${INPUT_MICRO}", output: "${OUTPUT_MICRO}" }`;
  const models: string[] = [];
  for (const [kind, endpoints] of Object.entries(kinds) as [Kind, readonly EndpointOptions[]][]) {
    for (let n = 0; n < copiesOf(kind); n++) {
      models.push(`
  - id: calls/${kind}-${n}
    name: ${kind} ${n}
    context_length: 128000
    max_output: 8192
    capabilities: { tools: true, json_schema: true, vision: true, cache: true, reasoning: true }
    ${kind === 'hidden' ? 'reasoning: { controls: [effort], hidden: true }' : 'reasoning: { controls: [effort] }'}
    endpoints:${endpoints.map((wanted) => endpoint(`${kind}-${n}`, wanted)).join('')}`);
    }
  }
  return `version: 1
providers:${provider('sim-a', 'openai', `${sim.url}/v1`)}${provider('sim-b', 'openai', `${sim.url}/v1`)}
${provider('sim-g', 'gemini', `${sim.url}/v1beta`)}
${provider('sim-x', 'anthropic', `${sim.url}/v1`)}${provider('sim-y', 'anthropic', `${sim.url}/v1`)}
${provider('script-a', 'openai', `${script.url}/a/v1`)}${provider('script-b', 'openai', `${script.url}/b/v1`)}
${provider('script-x', 'anthropic', `${script.url}/x/v1`)}${provider('dead', 'openai', `http://127.0.0.1:${dead_port}/v1`)}
${provider('keyed', 'openai', `${script.url}/k/v1`, ', CALLS_KEY_TWO')}
${provider('hung', 'openai', `https://127.0.0.1:${hung.port}/v1`)}${more.providers}
models:${models.join('')}${more.models}
`;
}

export interface Row {
  readonly status: string;
  readonly http_status: number;
  readonly error_code: string;
  readonly stop_reason: string;
  readonly attempts: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly usage_source: string;
  readonly cost_micro: number;
  readonly stream: boolean;
  readonly zdr: boolean;
  readonly tags: Json;
  readonly warnings: Json[];
  readonly provider: string;
  readonly replays: number;
  readonly duration_ms: number;
  readonly route_trace: Route | null;
}

export interface Ended {
  readonly row: Row;
  /** `outcome class` of each attempt, `outcome` alone when there is no class. */
  readonly attempts: readonly string[];
  /** What left the balance. */
  readonly charged: number;
  readonly meter: {
    readonly cost: number;
    readonly estimated: boolean;
    readonly input: number;
    readonly output: number;
  } | null;
}

export interface Org extends Provisioned {
  readonly balance: number;
}

export interface World {
  readonly gateway: GatewayProcess;
  readonly sim: Sim;
  readonly script: ScriptedUpstream;
  readonly hung: Hung;
  readonly database_url: string;
  readonly db: Reader;
  /** Starts the gateway again, on the same database and data directory, after it has ended. */
  restart(): Promise<void>;
  close(): Promise<void>;
  /** An organization with `balance` micro-USD. */
  org(balance?: number, keys?: readonly KeyOptions[]): Promise<Org>;
  /** A model of `kind` that no other test uses: its id, and its name upstream. */
  model(kind: Kind): { readonly id: string; readonly upstream: string };
  chat(key: string, body: object, more?: Partial<CallOptions>): Exchange;
  messages(key: string, body: object, more?: Partial<CallOptions>): Exchange;
  /** What the books and the rows say of a call once it has come to rest. */
  ended(org: Org, request_id: string): Promise<Ended>;
}

/** Pauses between two looks: short at first, and then such that looking costs a busy machine little. */
const PAUSE_MS = { first: 5, last: 60, growth: 1.5 };

/** Waits until `look` gives a value. @throws Error with `what` after `timeout_ms`. */
export async function eventually<T>(
  what: string,
  look: () => Promise<T | null | false> | T | null | false,
  timeout_ms = 20_000,
): Promise<T> {
  const deadline = performance.now() + timeout_ms;
  for (let pause_ms = PAUSE_MS.first; ; pause_ms = Math.min(PAUSE_MS.last, pause_ms * PAUSE_MS.growth)) {
    const found = await look();
    if (found !== null && found !== false) return found;
    if (performance.now() > deadline) throw new Error(`not within ${timeout_ms} ms: ${what}`);
    await new Promise((done) => setTimeout(done, pause_ms));
  }
}

/** `balance - charges` is what the book must show when nothing is held. */
export async function expectBooksInOrder(world: Pick<World, 'db' | 'database_url'>, org: Org): Promise<void> {
  const book = await eventually('the book is at rest', async () => {
    const read = await readBook(world.database_url, org.live_book_id);
    return read.held === 0 ? read : null;
  });
  const charged = book.charges.reduce((sum, { amount }) => sum + amount, 0);
  expect(book.available).toBe(org.balance + charged);
  expect(book.entries_sum).toBe(book.available);
  const { rows } = await world.db.query<{ cost: string }>(
    `select coalesce(sum(cost), 0) - coalesce((select sum(amount) from ledger.writeoff w where w.book_id = $1), 0)
            as cost from ledger.meter where book_id = $1`,
    [org.live_book_id],
  );
  expect(Number(rows[0]?.cost)).toBe(0 - charged);
}

/** The uuid that keeps ULID `id`. */
export function uuidOf(id: string): string {
  let bits = 0n;
  for (const letter of id) bits = (bits << 5n) | BigInt('0123456789ABCDEFGHJKMNPQRSTVWXYZ'.indexOf(letter));
  const hex = bits.toString(16).padStart(32, '0');
  return [0, 8, 12, 16, 20].map((at, i, all) => hex.slice(at, all[i + 1] ?? 32)).join('-');
}

async function readEnded(db: Reader, id: string): Promise<Ended | null> {
  const uuid = uuidOf(id);
  if (ulidOf(uuid) !== id) throw new Error(`not a request id: ${id}`);
  const hold = await db.query('select 1 from ledger.hold where hold_id = $1', [uuid]);
  const rows = await db.query('select * from request_row where request_id = $1', [id]);
  const found = rows.rows[0] as Json | undefined;
  if ((hold.rowCount ?? 0) > 0 || found === undefined) return null;
  const attempts = await db.query<{ said: string }>(
    `select trim(outcome || ' ' || error_class) as said from request_attempt where request_id = $1 order by attempt`,
    [id],
  );
  const entry = await db.query<{ amount: string }>('select amount from ledger.entry where request_id = $1', [
    uuid,
  ]);
  const meter = await db.query<{ cost: string; estimated: boolean; input: number; output: number }>(
    `select cost, estimated, input_tokens as input, output_tokens as output from ledger.meter where request_id = $1`,
    [uuid],
  );
  const metered = meter.rows[0];
  const numbers = ['input_tokens', 'output_tokens', 'cost_micro'].map((name) => [name, Number(found[name])]);
  return {
    row: { ...found, ...Object.fromEntries(numbers) } as unknown as Row,
    attempts: attempts.rows.map(({ said }) => said),
    charged: 0 - Number(entry.rows[0]?.amount ?? 0),
    meter: metered === undefined ? null : { ...metered, cost: Number(metered.cost) },
  };
}

export interface WorldOptions {
  /** How many models of a kind the file's tests take. */
  readonly models?: Readonly<Partial<Record<Kind, number>>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly database_url?: string;
  /** Providers and models beside those of every world. */
  readonly extras?: (parts: { sim: Sim; script: ScriptedUpstream }) => Extras;
  /**
   * Where the gateway runs. Absent: in the process that test files share. `alone`: in one of its own, which is killed or
   * measured. `here`: in the test's, whose clock the test can move.
   */
  readonly gateway?: 'alone' | 'here';
  /** Of a gateway `here`: other formats than the product's, and who is told what it logs. */
  readonly formats?: Formats;
  readonly log?: Log;
}

const starters = {
  shared: startSharedGateway,
  alone: startGatewayProcess,
  here: startGatewayHere,
} as const;

/** Opens a world; the caller closes it. */
export async function openWorld(wanted: WorldOptions = {}): Promise<World> {
  const database_url = wanted.database_url ?? (await createTestDatabase());
  const data_dir = freshDataDir();
  const copiesOf = (kind: Kind) => wanted.models?.[kind] ?? COPIES;
  const sim = await startProviderSim();
  const script = await startScriptedUpstream();
  const hung = await startHung();
  const options: Parameters<typeof startGatewayHere>[0] = {
    database_url,
    ...(wanted.formats === undefined ? {} : { formats: wanted.formats }),
    ...(wanted.log === undefined ? {} : { log: wanted.log }),
    providers: providersYaml(
      { sim, script, dead_port: await freePort(), hung },
      copiesOf,
      wanted.extras?.({ sim, script }),
    ),
    env: { CALLS_KEY: 'sk-calls-one', CALLS_KEY_TWO: 'sk-calls-two', ...wanted.env },
    data_dir,
  };
  const start = starters[wanted.gateway ?? 'shared'];
  let gateway = await start(options);
  const db = openReader(database_url, 4);
  const used = new Map<Kind, number>();
  let orgs = 0;
  const post = (path: string, key: string, body: object, more: Partial<CallOptions> = {}): Exchange =>
    open(gateway.base_url, {
      path,
      body: JSON.stringify(body),
      ...more,
      headers: { authorization: `Bearer ${key}`, ...(more.headers ?? {}) },
    });
  return {
    ...{ sim, script, hung, database_url, db },
    get gateway() {
      return gateway;
    },
    async restart() {
      gateway = await start(options);
    },
    async close() {
      await gateway.kill();
      await sim.close();
      await script.close();
      hung.close();
      await db.end();
      rmSync(data_dir, { recursive: true, force: true });
    },
    async org(balance = 1_000_000, keys) {
      const slug = `org-${++orgs}`;
      const provisioned = await provision({
        ...{ database_url, slug, live_micro_usd: balance },
        ...(keys === undefined ? {} : { keys }),
      });
      return { ...provisioned, balance };
    },
    model(kind) {
      const n = used.get(kind) ?? 0;
      if (n >= copiesOf(kind)) throw new Error(`no model of kind ${kind} is left`);
      used.set(kind, n + 1);
      return { id: `calls/${kind}-${n}`, upstream: `${kind}-${n}` };
    },
    chat: (key, body, more) => post('/v1/chat/completions', key, body, more),
    messages: (key, body, more) => post('/v1/messages', key, body, more),
    async ended(org, request_id) {
      const found = await eventually(`row of ${request_id}`, () => readEnded(db, request_id));
      expect(found.row.cost_micro).toBe(found.charged);
      await expectBooksInOrder({ db, database_url }, org);
      return found;
    },
  };
}

/** Opens a world before the tests of the file; call the result inside tests. */
export function useWorld(wanted: WorldOptions = {}): () => World {
  let world: World | null = null;
  beforeAll(async () => {
    world = await openWorld(wanted);
  });
  afterAll(() => world?.close());
  return () => {
    if (world === null) throw new Error('the world is not open yet');
    return world;
  };
}

export type Dialect = 'chat' | 'messages';

/** A request body of either dialect that says `text`, with a cap of 64 tokens. */
export function bodyOf(model: string, text: string, more: object = {}): object {
  return { model, max_tokens: 64, messages: [{ role: 'user', content: text }], ...more };
}

/** Sends `body` in `dialect`. */
export function send(
  world: World,
  dialect: Dialect,
  key: string,
  body: object,
  more?: Partial<CallOptions>,
): Exchange {
  return dialect === 'chat' ? world.chat(key, body, more) : world.messages(key, body, more);
}

/** Faults of a streamed answer by the grammar of its dialect. */
export function grammarFaults(
  dialect: Dialect,
  reply: Reply,
  how: { include_usage?: boolean; raw?: boolean } = {},
): string[] {
  return dialect === 'chat'
    ? checkChatStream(reply.text, { include_usage: how.include_usage ?? false })
    : checkMessagesStream(reply.text, how.raw === true ? 'raw' : 'canonical');
}

/** The request id of an answer. */
export function idOf(reply: Reply): string {
  return reply.headers['x-svc-request-id'] ?? '';
}
