// Mandates and automatic top-up as a caller meets them: a gateway process, the rail's simulator and its callbacks.
import { lookAtBalances } from '@svc/core/mandates/index.ts';
import { afterAll, afterEach, expect, test } from 'vitest';
import { provision } from '../support/provision.ts';
import { startSharedGateway } from '../support/shared-gateway.ts';
import { SECRET } from '../topups/world.ts';
import { startWorld } from './world.ts';

const DOLLAR = 1_000_000;
const world = await startWorld();
const { sim, context } = world;
const payer = await provision({ database_url: world.url, slug: 'payer', live_micro_usd: 20 * DOLLAR });
const stranger = await provision({ database_url: world.url, slug: 'stranger', live_micro_usd: 0 });
const gateway = await startSharedGateway({
  database_url: world.url,
  env: {
    SVC_RAIL_B_BASE_URL: sim.url,
    SVC_RAIL_B_KEY_SECRET: 'sk_test_rest',
    SVC_RAIL_B_WEBHOOK_SECRET: SECRET,
  },
});
sim.turn({ webhook_url: `${gateway.base_url}/webhooks/rail-b` });
afterAll(() => gateway.stop());
afterEach(() => sim.turn({ api: [] }));

interface Refused {
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly param: string | null;
    readonly details: Record<string, unknown>;
  };
}

async function call<T>(
  method: string,
  path: string,
  body?: object,
  key = payer.live_key,
  more: Record<string, string> = {},
) {
  const reply = await fetch(gateway.base_url + path, {
    method,
    headers: {
      ...more,
      authorization: `Bearer ${key}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: reply.status, headers: reply.headers, body: (await reply.json()) as T };
}

interface Mandate {
  readonly id: string;
  readonly status: string;
  readonly reason: string;
  readonly mandate_ref: string;
}
interface Auto {
  readonly mandate: Mandate | null;
  readonly config: { readonly enabled: boolean };
  readonly next: Record<string, unknown>;
}

const register = (method = 'card') =>
  call<{ mandate: Mandate; registration_url: string }>('POST', '/v1/credits/mandates', { method });
const read = async (id: string) =>
  (await call<{ mandate: Mandate }>('GET', `/v1/credits/mandates/${id}`)).body.mandate;
const act = (id: string, what: 'pause' | 'resume' | 'cancel') =>
  call<{ mandate: Mandate } & Refused>('POST', `/v1/credits/mandates/${id}/${what}`);

test('a card is registered, paused, resumed; the registration is at the rail and the callback ends it', async () => {
  const made = await register();
  expect([made.status, made.body.mandate.status]).toEqual([201, 'pending']);
  expect(made.body.registration_url).toContain(sim.url);
  const { id, mandate_ref } = made.body.mandate;
  const again = await call<Refused>('POST', '/v1/credits/mandates', { method: 'card' });
  expect([again.status, again.body.error.code, again.body.error.details['mandate_id']]).toEqual([
    409,
    'mandate_exists',
    id,
  ]);
  sim.store.mandates.save(mandate_ref);
  await expect.poll(async () => (await read(id)).status).toBe('active');
  expect((await act(id, 'pause')).body.mandate).toMatchObject({ status: 'paused', reason: 'by_people' });
  const twice = await act(id, 'pause');
  expect([twice.status, twice.body.error.code, twice.body.error.details]).toEqual([
    409,
    'state_conflict',
    { state: 'paused' },
  ]);
  expect((await act(id, 'resume')).body.mandate).toMatchObject({ status: 'active', reason: '' });
  const list = await call<{ data: Mandate[] }>('GET', '/v1/credits/mandates?limit=1');
  expect(list.body.data.map((mandate) => mandate.id)).toEqual([id]);
});

test('a registration that is asked for again under its key is the first one: the rail is asked once', async () => {
  const asked = () => sim.calls.filter((each) => each === 'POST /v1/checkout/sessions').length;
  const before = asked();
  const once = () =>
    call<{ mandate: Mandate; registration_url: string }>(
      ...(['POST', '/v1/credits/mandates', { method: 'card' }, stranger.live_key] as const),
      { 'idempotency-key': 'once' },
    );
  const [first, second] = [await once(), await once()];
  expect([first.status, first.body.mandate.status]).toEqual([201, 'pending']);
  expect([second.status, second.body]).toEqual([201, first.body]);
  expect(second.headers.get('x-svc-idempotent-replay')).toBe('true');
  expect(asked()).toBe(before + 1);
});

test('a rail that refuses is 409 with its words, one out of reach 503; both leave a rejected row', async () => {
  const refusal = async (status: number, times: number) => {
    sim.turn({ api: [{ match: 'POST /v1/checkout/sessions', mode: 'error', status, times }] });
    const { status: answered, body } = await call<Refused>('POST', '/v1/credits/mandates', {
      method: 'card',
    });
    const { code, details, message } = body.error;
    const { reason } = await read(details['mandate_id'] as string);
    return { answered, code, message, rail: details['reason'], row: reason };
  };
  expect(await refusal(400, 1)).toEqual({
    ...{ answered: 409, code: 'conflict', rail: 'declined', row: 'declined' },
    message: 'The payment rail refuses this: Something went wrong at the rail. Nothing was registered.',
  });
  expect(await refusal(500, 3)).toEqual({
    ...{ answered: 503, code: 'rail_unavailable', rail: 'unreachable', row: 'rail_unavailable' },
    message: 'The payment rail cannot be reached. Nothing was registered. Try again.',
  });
  const topup = async (status: number, times: number) => {
    sim.turn({ api: [{ match: 'POST /v1/checkout/sessions', mode: 'error', status, times }] });
    const refused = await call<Refused>('POST', '/v1/credits/topups', { amount_minor: 2_500 });
    return [refused.status, refused.body.error.code];
  };
  expect(await topup(402, 1)).toEqual([409, 'conflict']);
  expect(await topup(500, 3)).toEqual([503, 'rail_unavailable']);
});

test('a method that the rail does not have is a fault of the field, and names those it has', async () => {
  const refused = await call<Refused>('POST', '/v1/credits/mandates', { method: 'upi' });
  expect([refused.status, refused.body.error.code, refused.body.error.param]).toEqual([
    400,
    'invalid_request',
    'method',
  ]);
  expect(refused.body.error.details).toMatchObject({ reason: 'method_not_available', methods: ['card'] });
});

test('automatic top-up is set, begins below its threshold, and the announced debit is skipped once', async () => {
  const auto = () => call<Auto>('GET', '/v1/credits/auto-topup');
  expect((await auto()).body).toMatchObject({
    mandate: { status: 'active' },
    config: { enabled: false },
    next: { step: 'off' },
  });
  const config = { enabled: true, threshold_micro: 30 * DOLLAR, amount_minor: 2_500 };
  const above = await call<Refused>('PUT', '/v1/credits/auto-topup', { ...config, amount_minor: 500_001 });
  expect([above.status, above.body.error.code]).toEqual([400, 'amount_above_cap']);
  const missing = await call<Refused>('PUT', '/v1/credits/auto-topup', { enabled: true });
  expect([missing.status, missing.body.error.param]).toEqual([400, 'threshold_micro']);
  expect((await call<Auto>('PUT', '/v1/credits/auto-topup', config)).body).toMatchObject({
    config,
    next: { step: 'watching' },
  });
  await lookAtBalances(context);
  const { next } = (await auto()).body;
  expect(next).toMatchObject({ step: 'announcing', can_skip: true, total_minor: 2_500 });
  const skip = (topup_id: unknown, key?: string) =>
    call<Auto & Refused>('POST', '/v1/credits/auto-topup/skip', { topup_id }, key);
  expect((await skip(next['topup_id'], stranger.live_key)).status).toBe(404);
  expect((await skip(next['topup_id'])).body.next).toMatchObject({ step: 'watching' });
  // The second click of a person who is not sure changes nothing.
  expect((await skip(next['topup_id'])).status).toBe(200);
  expect(sim.calls.filter((call) => call === 'POST /v1/payment_intents')).toEqual([]);
});

test('a cancelled mandate stays so, and what needs one is refused; a sandbox key sees and may nothing', async () => {
  const { mandate } = (await call<Auto>('GET', '/v1/credits/auto-topup')).body;
  const { id } = mandate as Mandate;
  expect((await act(id, 'cancel')).body.mandate).toMatchObject({ status: 'cancelled' });
  expect((await act(id, 'resume')).status).toBe(409);
  const config = { enabled: true, threshold_micro: DOLLAR, amount_minor: 2_500 };
  const refused = await call<Refused>('PUT', '/v1/credits/auto-topup', config);
  expect([refused.status, refused.body.error.code]).toEqual([409, 'state_conflict']);
  const { sandbox_key } = payer;
  const list = await call<{ data: unknown[] }>('GET', '/v1/credits/mandates', undefined, sandbox_key);
  expect(list.body.data).toEqual([]);
  expect((await call('GET', `/v1/credits/mandates/${id}`, undefined, sandbox_key)).status).toBe(404);
  const paused = await call<Refused>('POST', `/v1/credits/mandates/${id}/pause`, undefined, sandbox_key);
  expect([paused.status, paused.body.error.code]).toEqual([403, 'sandbox_key_not_allowed']);
});

test('the pricing sheet and the rates need no key and may be kept for a minute', async () => {
  const open = async (path: string) => {
    const reply = await fetch(gateway.base_url + path);
    expect([reply.status, reply.headers.get('cache-control')]).toEqual([200, 'public, max-age=60']);
    return (await reply.json()) as Record<string, unknown>;
  };
  const pricing = await open('/v1/pricing');
  expect(pricing['plans']).toContainEqual(
    expect.objectContaining({ id: 'team', monthly_minor: 4_900, included_micro: 45 * DOLLAR }),
  );
  expect(await open('/v1/fx/display')).toMatchObject({
    base: 'USD',
    source: 'static',
    available: true,
    rates: { USD: '1.00000000', INR: '88.70000000' },
  });
});
