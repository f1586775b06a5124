// Shadows of a policy (docs/policies.md#shadows): what a copy is, what it costs whom, and that no caller notices it.
import { freePort } from '@svc/cli/tools/postgres.ts';
import { createPool } from '@svc/core/db/index.ts';
import { allowShadows } from '@svc/core/desk/index.ts';
import { describe, expect, test } from 'vitest';
import {
  activate,
  call,
  copiesGet,
  copyOf,
  manage,
  type Shadowed,
  shadowed,
  shown,
} from '../policies/shadow-calls.ts';
import { staffContext } from '../support/provision.ts';
import { inOrder } from './endpoints.ts';
import { endChunks, type Handler, refuse, streamHead, textChunk, usageOf, wholeAnswer } from './upstream.ts';
import { bodyOf, eventually, expectBooksInOrder, idOf, type Org, priceOf, send, useWorld } from './world.ts';

const metrics_port = await freePort();
const world = useWorld({
  models: { 'script-pair': 40 },
  gateway: 'alone',
  env: { SVC_METRICS_PORT: String(metrics_port) },
});

/** How often drawn calls had `outcome`, in this gateway. */
async function outcomes(outcome: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${metrics_port}/metrics`)).text();
  return Number(
    new RegExp(`svc_shadows_total\\{[^}]*outcome="${outcome}"[^}]*\\} (\\d+)`).exec(text)?.[1] ?? 0,
  );
}

/** Lets the platform pay for shadows of `org`. */
async function allow(org: Org, daily_micro_usd: number | null) {
  const pool = createPool(world().database_url, { max: 1 });
  try {
    return await allowShadows(staffContext(pool), org.org_id, { daily_micro_usd, reason: 'trial' });
  } finally {
    await pool.end();
  }
}

/** Requests that reached the shadow's endpoint, but for the first, which told its id. */
function copies({ upstream }: Shadowed) {
  return world()
    .script.received(upstream)
    .filter(({ site }) => site === 'b')
    .slice(1);
}

const never: Handler = () => {};

describe('a copy at the expense of the organization', () => {
  test('is a call of its own: held, charged, with a row that is tagged, and the body as it was sent', async () => {
    const scene = await shadowed(world());
    const answer = wholeAnswer(scene.upstream, {
      usage: usageOf(10, 7),
      choices: [{ index: 0, message: { role: 'assistant', content: 'more' }, finish_reason: 'length' }],
    });
    copiesGet(world(), scene, refuse(200, answer));
    const id = await call(world(), scene, { metadata: { team: 'red' } });
    const copy = await copyOf(world(), id);
    const ended = await world().ended(scene.org, copy.request_id);
    expect(copy.request_id).not.toBe(id);
    expect(ended.row).toMatchObject({ status: 'ok', provider: 'script-b', stop_reason: 'max_tokens' });
    expect(ended.row.tags).toMatchObject({ shadow_of: id });
    expect(ended.charged).toBe(priceOf(10, 7));
    // Each names the other.
    const [of_copy, of_call] = await Promise.all(
      [copy.request_id, id].map((one) => manage(world(), scene.org, 'GET', `/v1/requests/${one}`)),
    );
    expect(of_copy?.json).toMatchObject({ shadow_of: id, shadows: [] });
    expect(of_call?.json).toMatchObject({ shadow_of: null, shadows: [copy.request_id] });
    expect((await world().ended(scene.org, id)).charged).toBe(priceOf(10, 3));
    expect(copies(scene)[0]?.body['messages']).toEqual([{ role: 'user', content: 'Hi' }]);
    const seen = await shown(world(), scene.org, ({ runs }) => runs === 1);
    expect(seen).toMatchObject({
      ...{ shadow_endpoint: scene.endpoint_id, policy_version: 1, active: true, bill: 'org', percent: 100 },
      ...{ runs: 1, errors: 0, stop_mismatch: 1 },
      ...{ primary_cost_micro: priceOf(10, 3), shadow_cost_micro: priceOf(10, 7) },
      cost_delta_micro: priceOf(10, 7) - priceOf(10, 3),
    });
    expect(seen['primary_endpoint']).not.toBe(scene.endpoint_id);
  });

  test('of a stream is a stream, and both first tokens are told', async () => {
    const scene = await shadowed(world());
    const streamed: Handler = (response) => {
      streamHead(response);
      response.end(
        `${textChunk(scene.upstream, 'a whole answer')}${endChunks(scene.upstream, usageOf(10, 3))}`,
      );
    };
    for (const site of ['a', 'b']) world().script.on(scene.upstream, site, streamed);
    const copy = await copyOf(world(), await call(world(), scene, { stream: true }));
    expect(copy).toMatchObject({ status: 'ok', stream: true });
    const seen = await shown(world(), scene.org, ({ runs }) => runs === 1);
    expect(seen).toMatchObject({ stop_mismatch: 0, errors: 0, cost_delta_micro: 0 });
    expect(Number(seen['primary_ttft_ms'])).toBeGreaterThan(0);
    expect(Number(seen['shadow_ttft_ms'])).toBeGreaterThan(0);
  });

  test('that fails is counted as an error, charges nothing, and its call is as without it', async () => {
    const scene = await shadowed(world());
    copiesGet(world(), scene, refuse(500, { error: { message: 'no' } }));
    const id = await call(world(), scene);
    const copy = await copyOf(world(), id);
    expect((await world().ended(scene.org, copy.request_id)).charged).toBe(0);
    const seen = await shown(world(), scene.org, ({ runs }) => runs === 1);
    expect(seen).toMatchObject({ errors: 1, stop_mismatch: 0, primary_cost_micro: 0, shadow_cost_micro: 0 });
  });

  test('is not made where the balance does not allow it, and leaves nothing', async () => {
    const scene = await shadowed(world(), { org: await world().org(2_000) });
    const book = await world().db.query<{ sum: string }>(
      'select coalesce(sum(amount), 0) as sum from ledger.entry where book_id = $1',
      [scene.org.live_book_id],
    );
    expect(Number(book.rows[0]?.sum)).toBeGreaterThan(0);
    const refused = await outcomes('refused');
    // What is left pays for one such call and not for two.
    const left = Number(book.rows[0]?.sum);
    const output = Math.floor((left - 200) / 4.75);
    const answer = wholeAnswer(scene.upstream, { usage: usageOf(10, output) });
    world().script.on(scene.upstream, 'a', refuse(200, answer));
    await call(world(), scene, { max_tokens: output });
    await eventually('the copy is refused', async () => (await outcomes('refused')) > refused);
    expect(copies(scene)).toHaveLength(0);
    await expectBooksInOrder(world(), scene.org);
    // Rows are written in their order: one of the copy would be there before this one.
    const other = await shadowed(world());
    await copyOf(world(), await call(world(), other));
    const rows = await world().db.query('select 1 from request_row where org_id = $1', [scene.org.org_id]);
    expect(rows.rowCount).toBe(2);
  });

  test('is not made beyond the rate of its key', async () => {
    const org = await world().org(1_000_000, [{ name: 'slow', rpm: 2 }]);
    const scene = await shadowed(world(), { org });
    const limited = await outcomes('limited');
    await call(world(), scene);
    await eventually('the copy is limited', async () => (await outcomes('limited')) > limited);
    expect(copies(scene)).toHaveLength(0);
  });
});

describe('the caller', () => {
  test('waits for no copy that hangs, and its calls take as long as without one', async () => {
    const scene = await shadowed(world());
    copiesGet(world(), scene, never);
    const plain = await world().org();
    const timed = async (work: () => Promise<unknown>) => {
      const took: number[] = [];
      for (let n = 0; n < 15; n++) {
        const began = performance.now();
        await work();
        took.push(performance.now() - began);
      }
      return took.toSorted((x, y) => x - y)[7] as number;
    };
    const body = bodyOf(scene.model, 'Hi', inOrder('script-a', 'script-b'));
    const without = await timed(() => send(world(), 'chat', plain.live_key, body).reply);
    const beside = await timed(() => call(world(), scene));
    expect(copies(scene).length).toBeGreaterThanOrEqual(14);
    expect(beside).toBeLessThan(3 * without + 50);
  });

  test('that leaves, or whose call fails, is not copied', async () => {
    const scene = await shadowed(world());
    const unanswered = await outcomes('unanswered');
    world().script.on(scene.upstream, 'a', (response) => {
      streamHead(response);
      response.write(textChunk(scene.upstream, 'a part'));
    });
    const more = { ...inOrder('script-a'), stream: true };
    const left = send(world(), 'chat', scene.org.live_key, bodyOf(scene.model, 'Hi', more));
    await left.until((text) => text.includes('a part'));
    left.leave();
    await eventually('the copy is dropped', async () => (await outcomes('unanswered')) === unanswered + 1);
    world().script.on(scene.upstream, 'a', refuse(400, { error: { message: 'no' } }));
    await send(world(), 'chat', scene.org.live_key, bodyOf(scene.model, 'Hi', inOrder('script-a'))).reply;
    await eventually('the copy is dropped', async () => (await outcomes('unanswered')) === unanswered + 2);
    expect(copies(scene)).toHaveLength(0);
  });

  test('gets what it asked for while more copies hang than a gateway keeps', async () => {
    const scene = await shadowed(world());
    copiesGet(world(), scene, never);
    const crowded = await outcomes('crowded');
    for (let n = 0; n < 36; n++) await call(world(), scene);
    expect(copies(scene).length).toBeLessThanOrEqual(32);
    expect(await outcomes('crowded')).toBeGreaterThan(crowded);
    expect(await world().gateway.stop()).toBe(0);
    await world().restart();
    // What the copies held was released when the gateway stopped.
    await expectBooksInOrder(world(), scene.org);
  });
});

test('an Idempotency-Key is the call’s alone: its copy is made once, and a replay makes none', async () => {
  const scene = await shadowed(world());
  const body = bodyOf(scene.model, 'Hi', inOrder('script-a', 'script-b'));
  const keyed = { headers: { 'idempotency-key': 'once' } };
  const first = await send(world(), 'chat', scene.org.live_key, body, keyed).reply;
  await copyOf(world(), idOf(first));
  const again = await send(world(), 'chat', scene.org.live_key, body, keyed).reply;
  expect(again.status).toBe(200);
  expect(idOf(again)).toBe(idOf(first));
  await copyOf(world(), await call(world(), scene));
  expect(copies(scene)).toHaveLength(2);
});

test('what protects a call keeps its copy away from the endpoint', async () => {
  const scene = await shadowed(world());
  const refused = await outcomes('refused');
  await call(world(), scene, { svc: { route: { providers: { only: ['script-a'] } } } });
  await eventually('the copy is refused', async () => (await outcomes('refused')) > refused);
  expect(copies(scene)).toHaveLength(0);
});

test('a copy goes to another model, and slips past no rule that asks more of that one', async () => {
  const org = await world().org();
  const [from, to] = [world().model('script-pair'), world().model('script-pair')];
  for (const { upstream } of [from, to]) {
    for (const site of ['a', 'b']) world().script.on(upstream, site, refuse(200, wholeAnswer(upstream)));
  }
  const ask = (model: string) =>
    send(world(), 'chat', org.live_key, bodyOf(model, 'Hi', inOrder('script-a', 'script-b'))).reply;
  const endpoint = (await ask(to.id)).headers['x-svc-endpoint-id'];
  const shadow = `shadow: {endpoint: ${endpoint}, percent: 100}`;
  await activate(world(), org, `rules: [{match: {models: ["${from.id}"]}, ${shadow}}]`);
  const copy = await copyOf(world(), idOf(await ask(from.id)));
  expect(copy).toMatchObject({ status: 'ok', model: to.id, provider: 'script-a' });
  const refused = await outcomes('refused');
  const strict = `{match: {models: ["${to.id}"]}, limits: {max_cost_micro: 1000000}}`;
  const yaml = `rules: [${strict}, {match: {models: ["${from.id}"]}, ${shadow}}]`;
  expect((await manage(world(), org, 'POST', '/v1/policies/copies/versions', { yaml })).status).toBe(201);
  await manage(world(), org, 'POST', '/v1/policies/copies/activate', { version: 2 });
  expect((await ask(from.id)).status).toBe(200);
  await eventually('the copy is refused', async () => (await outcomes('refused')) > refused);
  expect(world().script.received(to.upstream)).toHaveLength(2);
});

describe('at the expense of the platform', () => {
  test('the policy is refused, where it says so, until staff give an allowance', async () => {
    const scene = await shadowed(world());
    const yaml = `defaults: {shadow: {endpoint: ${scene.endpoint_id}, percent: 1, bill: platform}}`;
    const validate = () => manage(world(), scene.org, 'POST', '/v1/policies/validate', { yaml });
    expect((await validate()).json).toMatchObject({ valid: false, path: 'defaults.shadow.bill' });
    await allow(scene.org, 1_000);
    expect((await validate()).json).toMatchObject({ valid: true });
    await allow(scene.org, null);
    expect((await validate()).json).toMatchObject({ valid: false });
  });

  test('a copy costs the organization nothing, and the platform what it cost, up to the allowance', async () => {
    const org = await world().org();
    await allow(org, 5_000);
    const scene = await shadowed(world(), { org, more: ', bill: platform' });
    const refused = await outcomes('refused');
    const id = await call(world(), scene);
    const copy = await copyOf(world(), id);
    expect(copy).toMatchObject({ status: 'ok', provider: 'script-b' });
    expect([Number(copy.output_tokens), Number(copy.cost_micro)]).toEqual([3, 0]);
    await expectBooksInOrder(world(), org);
    const charges = await world().db.query('select 1 from ledger.meter where book_id = $1', [
      org.live_book_id,
    ]);
    expect(charges.rowCount).toBe(2);
    const seen = await shown(world(), org, ({ runs }) => runs === 1);
    expect(seen).toMatchObject({ bill: 'platform', shadow_cost_micro: priceOf(10, 3) });
    expect(await allow(org, 5_000)).toMatchObject({ today_micro_usd: priceOf(10, 3), month_runs: 1 });
    await allow(org, priceOf(10, 3));
    await call(world(), scene);
    await eventually('the second one is refused', async () => (await outcomes('refused')) > refused);
    expect(copies(scene)).toHaveLength(1);
  });
});
