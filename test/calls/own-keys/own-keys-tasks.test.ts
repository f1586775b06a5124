// Callers' own provider keys in calls for vectors and rankings: which credential the provider saw, what it costs, and
// that the pool answers only where the key's owner asked for it (docs/providers.md#keys-of-your-callers,
// docs/money/pricing.md).
import { describe, expect, test } from 'vitest';
import { errorOf, type Json } from '../caller.ts';
import { ask, type Surface } from '../formats/tasks-world.ts';
import { INPUT_MICRO, idOf, type Org } from '../world.ts';
import { FEE_BPS, feeOfList, POOL_TAIL, UNIT_MICRO, useOwnWorld } from './own-keys-world.ts';

const world = useOwnWorld();
const { attemptsOf, bring, model, tailsAt } = world;

interface Way {
  readonly name: string;
  readonly path: Surface;
  readonly kind: 'embed' | 'embed-c' | 'rank';
  readonly provider: string;
  /** Members of a body whose text is `text`. */
  body(text: string): object;
  /** Cost at list prices in micro-USD of an answer. */
  list(json: Json): number;
}
const tokens = (count: number) => Math.floor(count * Number(INPUT_MICRO) + 0.5);
const ways: readonly Way[] = [
  {
    ...{ name: '/v1/embeddings', path: '/v1/embeddings', kind: 'embed', provider: 'own-a' },
    body: (text) => ({ input: [text, 'another'] }),
    list: (json) => tokens(json['usage'].prompt_tokens),
  },
  {
    ...{ name: '/v1/svc/embed', path: '/v1/svc/embed', kind: 'embed-c', provider: 'own-c' },
    body: (text) => ({ input: [text, 'another'], input_type: 'query' }),
    list: (json) => tokens(json['usage'].input_tokens),
  },
  {
    ...{ name: '/v1/svc/rerank', path: '/v1/svc/rerank', kind: 'rank', provider: 'own-c' },
    body: (text) => ({ query: text, documents: Array.from({ length: 120 }, (_, i) => `document ${i}`) }),
    list: (json) => json['usage'].search_units * UNIT_MICRO,
  },
];
const LONG = 'a text of some length that is read whole '.repeat(30);

/** `byok` where each surface has it. */
const withSetting = (path: Surface, byok: string) =>
  path === '/v1/embeddings' ? { svc: { route: { byok } } } : { route: { byok } };

describe.concurrent.each(ways)('$name', ({ path, kind, provider, body, list }) => {
  const call = (org: Pick<Org, 'live_key'>, id: string, text = LONG, more: object = {}) =>
    ask(world(), org, path, { model: id, ...body(text), ...more });

  test('carries the own key alone, and its fee can be recomputed from the reply', async () => {
    const org = await world().org();
    const { id, upstream } = model(kind);
    const own = await bring(org, provider);
    const reply = await call(org, id);
    expect(reply.status).toBe(200);
    expect(tailsAt(upstream)).toEqual([own.tail]);
    const list_micro_usd = list(reply.json);
    const fee = feeOfList(list_micro_usd);
    expect(fee).toBeGreaterThan(0);
    const cost = (reply.json['svc']?.cost ?? reply.json['cost']) as Json;
    expect(cost).toMatchObject({
      total_micro_usd: fee,
      lines: [{ kind: 'byok_fee', units: list_micro_usd, unit_price_nano: FEE_BPS / 10, micro_usd: fee }],
    });
    expect(reply.text).not.toContain(own.secret);
    const { row, charged, meter } = await world().ended(org, idOf(reply));
    expect([charged, meter?.cost]).toEqual([fee, fee]);
    expect(row).toMatchObject({ byok: true, provider, status: 'ok' });
    expect(await attemptsOf(reply)).toEqual([{ pool_id: 'byok', key_hint: own.hint, outcome: 'ok' }]);
  });

  test('of an organization without a key, and with the setting for none, is answered and billed by the pool', async () => {
    const [bare, owner] = await Promise.all([world().org(), world().org()]);
    const { id, upstream } = model(kind);
    await bring(owner, provider);
    const replies = [await call(bare, id), await call(owner, id, LONG, withSetting(path, 'never'))];
    expect(replies.map(({ status }) => status)).toEqual([200, 200]);
    expect(tailsAt(upstream)).toEqual([POOL_TAIL, POOL_TAIL]);
    for (const [i, org] of [bare, owner].entries()) {
      const reply = replies[i] as (typeof replies)[number];
      const { row, charged } = await world().ended(org, idOf(reply));
      expect([row, charged]).toMatchObject([{ byok: false }, list(reply.json)]);
    }
    const refused = await call(bare, id, LONG, withSetting(path, 'only'));
    expect(errorOf(refused)).toMatchObject({
      code: 'no_endpoint_available',
      excluded_by: [{ reason: 'byok' }],
    });
    expect(tailsAt(upstream)).toHaveLength(2);
  });

  test('whose key the provider refuses is no call of the pool, and costs nothing', async () => {
    const org = await world().org();
    const { id, upstream } = model(kind);
    const own = await bring(org, provider);
    const reply = await call(org, id, `sim: fail_first=1 fail_status=401 mark=own-no-${kind}`);
    expect([reply.status, errorOf(reply)?.['code']]).toEqual([403, 'byok_key_rejected']);
    expect(tailsAt(upstream)).toEqual([own.tail]);
    expect((await world().ended(org, idOf(reply))).charged).toBe(0);
  });

  test('whose key may fall back is answered by the pool after a refusal, at the price of the pool', async () => {
    const org = await world().org();
    const { id, upstream } = model(kind);
    const own = await bring(org, provider, { fallback_to_pool: true });
    const reply = await call(org, id, `sim: fail_first=1 fail_status=401 mark=own-pool-${kind} ${LONG}`);
    expect(reply.status).toBe(200);
    expect(tailsAt(upstream)).toEqual([own.tail, POOL_TAIL]);
    const { row, charged } = await world().ended(org, idOf(reply));
    expect([row, charged]).toMatchObject([{ byok: false }, list(reply.json)]);
    expect((await attemptsOf(reply)).map(({ pool_id }) => pool_id === 'byok')).toEqual([true, false]);
  });

  test('needs only the fee in the balance', async () => {
    const { id, upstream } = model(kind);
    const [poor, poorer] = await Promise.all([world().org(400), world().org(1)]);
    const own = await bring(poor, provider);
    await bring(poorer, provider);
    expect((await call(poor, id)).status).toBe(200);
    expect(tailsAt(upstream)).toEqual([own.tail]);
    expect(errorOf(await call(poorer, id))).toMatchObject({ code: 'insufficient_credits' });
    expect(tailsAt(upstream)).toHaveLength(1);
  });
});

test.concurrent('a provider that requires own keys embeds with them alone, and one without a pool ranks with them', async () => {
  const [bare, owner] = await Promise.all([world().org(), world().org()]);
  for (const [kind, provider, path, reason] of [
    ['embed-r', 'own-r', '/v1/embeddings', 'byok'],
    ['rank-n', 'own-cn', '/v1/svc/rerank', 'status'],
  ] as const) {
    const { id, upstream } = model(kind);
    const own = await bring(owner, provider, { fallback_to_pool: true });
    const body = kind === 'embed-r' ? { input: 'x' } : { query: 'x', documents: ['a', 'b'] };
    const refused = await ask(world(), bare, path, { model: id, ...body });
    expect(errorOf(refused)?.['excluded_by']).toMatchObject([{ reason }]);
    expect((await ask(world(), owner, path, { model: id, ...body })).status).toBe(200);
    expect(tailsAt(upstream)).toEqual([own.tail]);
  }
});
