import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Endpoint } from '../catalog/index.ts';
import {
  type ExclusionReason,
  exclusionReasons,
  type RouteAttempt,
  type RoutePlan,
  routeLine,
  routeOf,
} from './index.ts';

const FIELDS = [
  'policy',
  'rule',
  'sort',
  'arm',
  'canary',
  'aff',
  'cand',
  'drop',
  'plan',
  'try',
  'win',
  'reserve',
];

/** What a reader of the line gets back. */
function parse(line: string) {
  const [version, ...fields] = line.split('; ');
  const pairs = fields.map((field) => /^([a-z]+)=(\S+)$/.exec(field)?.slice(1) as [string, string]);
  const list = (value: string | undefined) => {
    if (value === undefined || value === '-') return { items: [], more: 0 };
    const items = value.split(',');
    const more = /^\+(\d+)$/.exec(items.at(-1) as string);
    return more === null ? { items, more: 0 } : { items: items.slice(0, -1), more: Number(more[1]) };
  };
  const map = new Map(pairs);
  return { version, names: pairs.map(([name]) => name), map, list: (name: string) => list(map.get(name)) };
}
function planned(id: string, score: number) {
  return { endpoint: { id } as Endpoint, score, reason: 'score' as const, losses: [] };
}
function route(over: Partial<RoutePlan> = {}): RoutePlan {
  return {
    plan: [planned('ep_c', 0.9812), planned('ep_d', 0.7438)],
    spare: [planned('ep_e', 0.5)],
    excluded: [
      { endpoint_id: 'ep_a', provider: 'a', reason: 'region' },
      { endpoint_id: 'ep_b', provider: 'b', reason: 'circuit' },
    ],
    sort: 'latency',
    max_attempts: 2,
    timeouts: { connect_ms: 1, first_event_ms: 1, idle_ms: 1, total_ms: 1 },
    chosen_deadline: false,
    warnings: [],
    ...over,
  };
}

interface Facts {
  readonly attempts: readonly RouteAttempt[] | null;
  readonly winner: string | null;
  readonly reserve_micro_usd: number;
}

/** The line of what is stored of `plan`, read back as a row is. */
function lineOf(plan: RoutePlan, { reserve_micro_usd, ...made }: Facts): string {
  const stored = JSON.stringify(routeOf({ route: plan, catalog: 'c1', reserve_micro_usd }, made));
  return routeLine(JSON.parse(stored));
}

test('the line is that of the document', () => {
  const tries = [
    { endpoint_id: 'ep_c', outcome: 'overloaded', http_status: 503, ms: 812 },
    { endpoint_id: 'ep_d', outcome: 'ok', http_status: 200, ms: 402 },
  ];
  const facts = { attempts: tries, winner: 'ep_d', reserve_micro_usd: 5120 };
  const policy = { name: 'agents', version: 7, rule: 'office-hours' };
  expect(lineOf(route({ policy }), facts)).toBe(
    'v1; policy=agents/7; rule=office-hours; sort=latency; arm=-; canary=0; aff=-; cand=5; ' +
      'drop=ep_a:region,ep_b:circuit; plan=ep_c:0.981,ep_d:0.744; ' +
      'try=ep_c:overloaded:503:812,ep_d:ok:200:402; win=ep_d; reserve=5120',
  );
});

test('a dry run has no try and no win; empty fields read -', () => {
  const facts = { attempts: null, winner: null, reserve_micro_usd: 0 };
  const line = lineOf(route({ plan: [], excluded: [] }), facts);
  expect(line).toBe(
    'v1; policy=default; rule=-; sort=latency; arm=-; canary=0; aff=-; cand=1; drop=-; plan=-; reserve=0',
  );
});

const patterns: { readonly [field: string]: RegExp } = {
  policy: /^[A-Za-z0-9._/-]{1,100}$/,
  rule: /^[A-Za-z0-9._/-]{1,100}$/,
  sort: /^(?:price|latency|throughput|uptime|balanced)$/,
  arm: /^-$/,
  canary: /^0$/,
  aff: /^(?:hit|miss|-)$/,
  cand: /^\d+$/,
  drop: /^(?:-|\+\d+|ep_\w+:[a-z_]+(?:,ep_\w+:[a-z_]+)*(?:,\+\d+)?)$/,
  plan: /^(?:-|\+\d+|ep_\w+:\d\.\d{3}(?:,ep_\w+:\d\.\d{3})*(?:,\+\d+)?)$/,
  try: /^(?:-|\+\d+|ep_\w+:[\w./-]+:\d+:\d+(?:,ep_\w+:[\w./-]+:\d+:\d+)*(?:,\+\d+)?)$/,
  win: /^(?:-|ep_\w+)$/,
  reserve: /^\d+$/,
};

test.each(['hit', 'miss', '-'] as const)('aff is %s, and - without any affinity', (state) => {
  const facts = { attempts: null, winner: null, reserve_micro_usd: 1 };
  const affinity = { kind: 'prefix', state, key: null, ttl_ms: 0 } as const;
  expect(parse(lineOf(route({ affinity }), facts)).map.get('aff')).toBe(state);
  expect(parse(lineOf(route(), facts)).map.get('aff')).toBe('-');
});

test('a route over ten thousand endpoints is written once, not anew for each item that is cut', () => {
  const excluded = Array.from({ length: 10_000 }, (_, i) => {
    return { endpoint_id: `ep_${i}`, provider: 'p', reason: 'region' as const };
  });
  const facts = { attempts: null, winner: null, reserve_micro_usd: 1 };
  const started = performance.now();
  const lines = Array.from({ length: 100 }, () => lineOf(route({ excluded }), facts));
  // Written anew for each item that is cut, one line alone would take longer.
  expect(performance.now() - started).toBeLessThan(1_000);
  const { items, more } = parse(lines[0] as string).list('drop');
  expect(items.length + more).toBe(10_000);
  expect(items.length).toBeGreaterThan(40);
});

test('any route fits 1,024 ASCII bytes, parses back, and says how much was cut', () => {
  const id = fc.integer({ min: 0, max: 99 }).map((n) => `ep_${String(n).padStart(26, '0')}`);
  const excluded = fc.record({
    endpoint_id: id,
    provider: fc.constant('p'),
    reason: fc.constantFrom<ExclusionReason>(...exclusionReasons),
  });
  const tried = fc.record({
    endpoint_id: id,
    outcome: fc.constantFrom('ok', 'rate_limit', 'a; b=c, d'),
    http_status: fc.integer({ min: 0, max: 599 }),
    ms: fc.integer({ min: 0, max: 600_000 }),
  });
  fc.assert(
    fc.property(
      fc.array(excluded, { maxLength: 120 }),
      fc.array(id, { maxLength: 6 }),
      fc.array(tried, { maxLength: 6 }),
      fc.string({ maxLength: 200 }),
      (drops, ids, tries, name) => {
        const plan = ids.map((one, i) => planned(one, 1 / (i + 1)));
        const facts = { attempts: tries, winner: ids[0] ?? null, reserve_micro_usd: 9e15 };
        const policy = { name, version: 1, rule: name };
        const line = lineOf(route({ plan, excluded: drops, policy }), facts);
        expect(Buffer.byteLength(line)).toBeLessThanOrEqual(1024);
        expect(line).toMatch(/^[\x20-\x7e]+$/);
        const read = parse(line);
        expect(read.version).toBe('v1');
        expect(read.names).toEqual(FIELDS);
        for (const [field, value] of read.map) expect(value, field).toMatch(patterns[field] as RegExp);
        for (const [field, all] of [
          ['drop', drops.length],
          ['plan', ids.length],
          ['try', tries.length],
        ] as const) {
          const { items, more } = read.list(field);
          expect(items.length + more).toBe(all);
        }
        expect(read.list('drop').items).toEqual(
          drops.slice(0, read.list('drop').items.length).map((d) => `${d.endpoint_id}:${d.reason}`),
        );
      },
    ),
  );
});

test('the stored route has every exclusion that the line has no room for, and counts those beyond five hundred', () => {
  const excluded = Array.from({ length: 700 }, (_, i) => {
    return { endpoint_id: `ep_${i}`, provider: 'p', reason: 'region' as const };
  });
  const facts = { attempts: [], winner: null };
  const few = routeOf(
    { route: route({ excluded: excluded.slice(0, 200) }), catalog: 'c1', reserve_micro_usd: 1 },
    facts,
  );
  expect([few.excluded.length, few.excluded_hidden]).toEqual([200, 0]);
  expect(few.excluded.at(-1)).toEqual({ endpoint_id: 'ep_199', reason: 'region' });
  const many = routeOf({ route: route({ excluded }), catalog: 'c1', reserve_micro_usd: 1 }, facts);
  expect([many.excluded.length, many.excluded_hidden, many.candidates]).toEqual([500, 200, 703]);
  const { items, more } = parse(routeLine(many)).list('drop');
  expect(items.length + more).toBe(700);
});
