// GET /v1/usage/advice: sentences about what could cost less, each with the query that proves it.
import { type Static, Type } from 'typebox';
import {
  type Environment,
  idOf,
  named,
  nullable,
  oneOf,
  operation,
  orgCaller,
  Time,
} from '../../kernel/index.ts';
import { readerOf } from '../engine/postgres.ts';
import { adviceKinds, advise, type Finding } from './advise.ts';
import { type Looked, lookedAt } from './range.ts';

const HOUR_MS = 3_600_000;
const spans = { '24h': 24 * HOUR_MS, '7d': 168 * HOUR_MS, '30d': 720 * HOUR_MS } as const;
export const adviceRanges = ['24h', '7d', '30d'] as const;
/** Calls that are looked at, the newest; beyond that the range begins later. */
const CALLS_MAX = 5_000;
const ITEMS_MAX = 20;

const Window = Type.Object({ from: Time, to: Time });
const Item = Type.Object({
  kind: oneOf(adviceKinds, 'AdviceKind'),
  sentence: Type.String(),
  saving_micro: Type.Integer({ description: 'micro-USD in the range' }),
  model: Type.String(),
  key_id: nullable(Type.String({ description: 'the key that it is about; null: it is about every key' })),
  provider: Type.String(),
  endpoint_id: idOf('endpoint'),
  instead_provider: nullable(Type.String()),
  instead_endpoint_id: nullable(Type.String({ description: 'the cheaper endpoint' })),
  query: named(
    'AdviceQuery',
    Type.Object({
      method: Type.Literal('GET'),
      path: Type.String({
        description: 'answers with the calls, or their sums, that the numbers are made of',
      }),
    }),
  ),
  numbers: Type.Record(Type.String(), Type.Integer()),
});
export const UsageAdviceView = named(
  'UsageAdvice',
  Type.Object({
    object: Type.Literal('usage_advice'),
    range: Type.Object(Window.properties, { description: 'of the calls that were looked at' }),
    calls: Type.Integer({ description: 'how many were looked at, at most 5,000, the newest' }),
    data: Type.Array(named('AdviceItem', Item), { description: 'the largest saving first, at most 20' }),
  }),
);

/** Micro-USD in words: exact, without the zeros at the end beyond cents. */
function dollars(micro: number): string {
  const [whole, part] = [Math.floor(micro / 1_000_000), String(micro % 1_000_000).padStart(6, '0')];
  return `$${whole}.${part.slice(0, 2)}${part.slice(2).replace(/0+$/, '')}`;
}

function count(calls: number): string {
  return calls === 1 ? '1 call' : `${calls} calls`;
}

function sentenceOf({ kind, model, endpoint, instead, numbers }: Finding): string {
  const n = (name: string) => numbers[name] ?? 0;
  if (kind === 'cache_reads_missed') {
    return (
      `${n('cache_write_tokens')} tokens were written into the cache of ${model} with this key and ` +
      `${n('cache_read_tokens')} read from it: writing cost ${dollars(n('write_surcharge_micro'))} more than plain ` +
      `input, and reading saved ${dollars(n('read_saving_micro'))}.`
    );
  }
  const [from, to] = [endpoint.provider_name, instead?.provider_name ?? ''];
  const would = `${dollars(n('instead_micro'))} at ${to} by today's prices`;
  if (kind === 'retries_paid') {
    return (
      `${count(n('calls'))} of ${model} failed at ${to} first and moved on to ${from}: they cost ` +
      `${dollars(n('cost_micro'))}, and would have cost ${would}.`
    );
  }
  return (
    `${count(n('calls'))} of ${model} went to ${from} and cost ${dollars(n('cost_micro'))}; your policy allowed ` +
    `${to} for each of them, which was not known to be ill, and they would have cost ${would}.`
  );
}

function pathOf({ kind, model, key_id, endpoint }: Finding, { from, to }: Looked, environment: Environment) {
  const times = [from.toISOString(), to.toISOString()] as const;
  if (kind === 'cache_reads_missed') {
    const query = {
      range: 'custom',
      from: times[0],
      to: times[1],
      granularity: 'hour',
      model,
      key_id: key_id ?? '',
    };
    return `/v1/usage?${new URLSearchParams({ ...query, environment })}`;
  }
  const query = { since: times[0], until: times[1], model, provider: endpoint.provider, status: 'ok' };
  const moved = kind === 'retries_paid' ? { fallbacks_only: 'true' } : {};
  return `/v1/requests?${new URLSearchParams({ ...query, ...moved, environment })}`;
}

function itemOf(finding: Finding, range: Looked, environment: Environment): Static<typeof Item> {
  const { kind, model, key_id, endpoint, instead, saving_micro, numbers } = finding;
  return {
    ...{ kind, sentence: sentenceOf(finding), saving_micro, model, key_id },
    ...{ provider: endpoint.provider, endpoint_id: endpoint.id },
    ...{ instead_provider: instead?.provider ?? null, instead_endpoint_id: instead?.id ?? null },
    query: { method: 'GET', path: pathOf(finding, range, environment) },
    numbers: { ...numbers },
  };
}

export const getUsageAdviceOperation = operation({
  name: 'usage.advice',
  method: 'GET',
  path: '/v1/usage/advice',
  summary: 'Say what calls could have cost less, with the query that proves each sentence',
  audience: {
    kind: 'key',
    scopes: ['read:usage'],
    session: ['owner', 'admin', 'developer', 'billing', 'viewer'],
  },
  input: Type.Object({
    range: Type.Optional(oneOf(adviceRanges, 'AdviceRange')),
    environment: Type.Optional(oneOf(['live', 'test'], 'Environment')),
  }),
  output: UsageAdviceView,
  errors: [],
  example: {
    object: 'usage_advice',
    range: { from: '2026-11-14T10:00:00.000Z', to: '2026-11-21T10:20:30.000Z' },
    calls: 1_204,
    data: [
      {
        kind: 'dearer_endpoint',
        sentence:
          '31 calls of acme/fast-1 went to Beta and cost $1.24; your policy allowed Acme for each of them, which was ' +
          "not known to be ill, and they would have cost $0.98 at Acme by today's prices.",
        saving_micro: 260_000,
        model: 'acme/fast-1',
        key_id: null,
        provider: 'beta',
        endpoint_id: 'ep_4Q3P2N1M0K9J01KACZ3V8S6T5R',
        instead_provider: 'acme',
        instead_endpoint_id: 'ep_0000000000000000000000000A',
        query: { method: 'GET', path: '/v1/requests?since=2026-11-14T10%3A00%3A00.000Z&model=acme%2Ffast-1' },
        numbers: { calls: 31, cost_micro: 1_240_000, instead_micro: 980_000 },
      },
    ],
  },
  async run(context, input) {
    const caller = orgCaller(context);
    const environment = input.environment ?? caller.environment;
    const now = context.now().getTime();
    const first = Math.floor((now - spans[input.range ?? '7d']) / HOUR_MS) * HOUR_MS;
    const range = { from: new Date(first), to: new Date(now) };
    // A test key may not see live calls, so it gets nothing.
    const hidden = caller.environment === 'test' && caller.kind === 'key' && environment === 'live';
    const read = { org_id: caller.org_id, environment, ...range, limit: CALLS_MAX };
    const found = lookedAt(hidden ? [] : await readerOf(context).listAdvisedCalls(read), range, CALLS_MAX);
    const findings = advise(found.calls, context.services.catalog(), found.whole_hours);
    return {
      object: 'usage_advice' as const,
      range: { from: found.from.toISOString(), to: found.to.toISOString() },
      calls: found.calls.length,
      data: findings.slice(0, ITEMS_MAX).map((finding) => itemOf(finding, found, environment)),
    };
  },
});
