// Providers that take keys of callers, beside those of every world, and what tests do with such keys.
import { expect } from 'vitest';
import type { Reply } from '../caller.ts';
import {
  INPUT_MICRO,
  idOf,
  type Org,
  OUTPUT_MICRO,
  priceOf,
  useWorld,
  type World,
  type WorldOptions,
} from '../world.ts';

const COPIES = 16;
export const FEE_BPS = 500;
/** What the simulator sees of the gateway's own key. */
export const POOL_TAIL = '-one';

/** Providers of each kind of model: `own-r` takes callers' keys alone, `own-n` has none of the gateway's. */
const kinds = {
  a: ['own-a'],
  x: ['own-x'],
  s: ['own-s'],
  r: ['own-r'],
  n: ['own-n'],
  aws: ['own-aws'],
  's-plain': ['own-s', 'own-p'],
  embed: ['own-a'],
  'embed-c': ['own-c'],
  'embed-r': ['own-r'],
  rank: ['own-c'],
  'rank-n': ['own-cn'],
} as const;
type Kind = keyof typeof kinds;

/** Micro-USD per search unit. */
export const UNIT_MICRO = 2_000;
/** Kinds that make something other than text, and their prices. */
const made: Partial<Record<Kind, { out: string; price: string }>> = {
  embed: { out: 'embedding', price: `input: "${INPUT_MICRO}", output: "0"` },
  'embed-c': { out: 'embedding', price: `input: "${INPUT_MICRO}", output: "0"` },
  'embed-r': { out: 'embedding', price: `input: "${INPUT_MICRO}", output: "0"` },
  rank: { out: 'ranking', price: `input: "0", output: "0", search_unit: "${UNIT_MICRO}"` },
  'rank-n': { out: 'ranking', price: `input: "0", output: "0", search_unit: "${UNIT_MICRO}"` },
};

export interface OwnKey {
  readonly id: string;
  readonly secret: string;
  /** Last four characters. */
  readonly tail: string;
  readonly hint: string;
}

export interface OwnWorld {
  (): World;
  /** A model of `kind` that no other test uses. */
  model(kind: Kind): { readonly id: string; readonly upstream: string };
  /** A management call of `key`. */
  manage(
    method: string,
    path: string,
    key: string,
    body?: object,
    // biome-ignore lint/suspicious/noExplicitAny: every assertion says what it expects
  ): Promise<{ status: number; text: string; json: any }>;
  /** Brings a key of `org` for `provider_id`; its last four characters are its own. */
  bring(org: Org, provider_id: string, more?: object): Promise<OwnKey>;
  /** What the simulator was sent for upstream model `name`: the tail of each credential, in order. */
  tailsAt(name: string): string[];
  attemptsOf(reply: Reply): Promise<{ pool_id: string; key_hint: string; outcome: string }[]>;
}

/** Micro-USD of a call with an own key. */
export function feeOf(input: number, output: number): number {
  return feeOfList(priceOf(input, output));
}

/** Micro-USD of a call whose list cost is `micro_usd`. */
export function feeOfList(micro_usd: number): number {
  return Math.floor((micro_usd * FEE_BPS) / 10_000 + 0.5);
}

interface Sites {
  readonly sim: { readonly url: string };
  readonly script: { readonly url: string };
}

function providersOf({ sim, script }: Sites, aws_url: string): string {
  const provider = (id: string, kind: string, base: string, ...more: string[]) => `
  - id: ${id}
    name: ${id}
    kind: ${kind}
    base_url: ${base}
    regions: [local]
    data_policy: { trains: false, retention_days: 0, zdr: true }
    ${more.join('\n    ')}`;
  const pool = 'api_key_env: [CALLS_KEY]';
  const capable = 'byok: capable';
  return [
    provider('own-a', 'openai', `${sim.url}/v1`, capable, pool),
    provider('own-x', 'anthropic', `${sim.url}/v1`, capable, pool),
    provider('own-s', 'openai', `${script.url}/a/v1`, capable, pool),
    provider('own-r', 'openai', `${sim.url}/v1`, 'byok: required', pool),
    provider('own-n', 'openai', `${sim.url}/v1`, capable, 'api_key_env: [CALLS_KEY_NOBODY_SET]'),
    provider('own-v', 'openai', `${script.url}/v/v1`, capable),
    provider('own-c', 'cohere', `${sim.url}/v2`, capable, pool),
    provider('own-cn', 'cohere', `${sim.url}/v2`, capable, 'api_key_env: [CALLS_KEY_NOBODY_SET]'),
    provider('own-aws', 'bedrock', aws_url, capable, pool),
    provider('own-p', 'openai', `${script.url}/b/v1`, pool),
  ].join('');
}

function modelText(kind: Kind, n: number): string {
  const endpoints = kinds[kind].map(
    (id) => `
      - provider: ${id}
        upstream_model: own-${kind}-${n}
        region: local
        cancel_billing: stops
        price: { ${made[kind]?.price ?? `input: "${INPUT_MICRO}", output: "${OUTPUT_MICRO}"`} }`,
  );
  const of = made[kind];
  if (of !== undefined) {
    return `
  - id: own/${kind}-${n}
    name: ${kind} ${n}
    context_length: 8192
    modalities: { in: [text], out: [${of.out}] }
    endpoints:${endpoints.join('')}`;
  }
  return `
  - id: own/${kind}-${n}
    name: ${kind} ${n}
    context_length: 128000
    max_output: 32768
    capabilities: { tools: true, json_schema: true, vision: true, pdf: true, cache: true, reasoning: true }
    endpoints:${endpoints.join('')}`;
}

/** Opens a world of such providers before the tests of the file; call the result inside tests. */
export function useOwnWorld(
  aws_url: () => string = () => 'http://127.0.0.1:9',
  more: Pick<WorldOptions, 'env' | 'gateway'> = {},
): OwnWorld {
  const world = useWorld({
    ...more,
    models: { 'messages-pair': 0, dead: 0, 'dead-pair': 0, keyed: 0, hung: 0, 'script-sim-messages': 0 },
    extras: (sites) => ({
      providers: providersOf(sites, aws_url()),
      models: (Object.keys(kinds) as Kind[])
        .flatMap((kind) => Array.from({ length: COPIES }, (_, n) => modelText(kind, n)))
        .join(''),
    }),
  });
  const taken = new Map<string, number>();
  let keys = 0;
  const manage: OwnWorld['manage'] = async (method, path, key, body) => {
    const answer = await fetch(`${world().gateway.base_url}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, text, json: text === '' ? null : JSON.parse(text) };
  };
  return Object.assign(() => world(), {
    manage,
    model(kind: Kind) {
      const n = taken.get(kind) ?? 0;
      if (n >= COPIES) throw new Error(`no model of kind ${kind} is left`);
      taken.set(kind, n + 1);
      return { id: `own/${kind}-${n}`, upstream: `own-${kind}-${n}` };
    },
    async bring(org: Org, provider_id: string, more: object = {}) {
      const n = ++keys;
      const wanted = { secret: `sk-own-0123456789-${String(n).padStart(4, '0')}`, ...more };
      const body = { provider_id, label: `key ${n}`, ...wanted };
      const { status, json } = await manage('POST', '/v1/byok', org.live_key, body);
      expect(status).toBe(201);
      const { secret } = wanted;
      const tail = secret.slice(-4);
      return { id: json.key.id as string, secret, tail, hint: `...${tail}` };
    },
    tailsAt: (name: string) =>
      world()
        .sim.calls.filter((call) => call.model === name)
        .map((call) => call.key_hint),
    async attemptsOf(reply: Reply) {
      const { rows } = await world().db.query<{ pool_id: string; key_hint: string; outcome: string }>(
        'select pool_id, key_hint, outcome from request_attempt where request_id = $1 order by attempt',
        [idOf(reply)],
      );
      return rows;
    },
  });
}
