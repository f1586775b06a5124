// What callers and payers of a soak do over HTTP, and what they saw. Nobody sends anything twice: a load balancer gives a request
// to a gateway that takes some, and a deployment must not be seen from outside.
import type { Draw } from '../crash/draw.ts';
import type { Customer } from './customers.ts';
import type { World } from './world.ts';

/** Counts of a run so far, and what a caller saw that nobody meant. */
export interface Traffic {
  calls: number;
  /** What answers said that they cost. */
  cost_micro: number;
  topups: number;
  rotations: number;
  readonly faults: string[];
}

export const noTraffic = (): Traffic => ({ calls: 0, cost_micro: 0, topups: 0, rotations: 0, faults: [] });

interface Answer {
  readonly status: number;
  readonly text: string;
}

const CALLERS = 16;
const PAYERS = 4;
const REQUEST_MS = 30_000;

/** Sends `body` as whoever has `secret`. */
export async function post(url: string, secret: string, body: object, key?: string): Promise<Answer> {
  const reply = await fetch(url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${secret}`,
      'content-type': 'application/json',
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(REQUEST_MS),
  });
  return { status: reply.status, text: await reply.text() };
}

/** What a whole answer or an event stream says that the call cost; null where it does not say so. */
function costOf(text: string): number | null {
  const found = [...text.matchAll(/"total_micro_usd":(\d+)/g)].at(-1);
  return found === undefined ? null : Number(found[1]);
}

/** Does `work` so many times, some at once. */
async function inLanes(times: number, lanes: number, work: () => Promise<void>): Promise<void> {
  let begun = 0;
  const lane = async () => {
    while (begun++ < times) await work();
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

/** Has what fails written down, and the rest go on. */
async function noting(traffic: Traffic, what: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const { message, cause } = error as Error;
    traffic.faults.push(`${what}: ${message}${cause === undefined ? '' : ` (${String(cause)})`}`);
  }
}

/** @throws Error with the answer when its status is another one. */
export function expectStatus(answer: Answer, wanted: number): void {
  if (answer.status !== wanted) throw new Error(`${answer.status} ${answer.text.slice(0, 300)}`);
}

/** One call of a customer: whole or streamed, some so slow that the SIGTERM of a deployment finds them under way. */
async function call(world: World, draw: Draw, traffic: Traffic): Promise<void> {
  const customer = draw.pick(world.customers);
  const stream = draw.unit() < 0.5;
  const slow_ms = draw.weighted({ '0': 60, '300': 30, '2000': 10 });
  const pace = stream ? `chunks=8 chunk_ms=${Math.floor(Number(slow_ms) / 8)}` : `delay_ms=${slow_ms}`;
  const content = `sim: tokens=${draw.int(20, 200)} ${pace}`;
  const body = { model: 'crash/chat', messages: [{ role: 'user', content }], max_tokens: 300, stream };
  await noting(traffic, `a call (${content})`, async () => {
    const origin = world.origin();
    const answer = await post(`${origin}/v1/chat/completions`, customer.key.secret, body);
    expectStatus(answer, 200);
    const cost = costOf(answer.text);
    if (cost === null) throw new Error(`an answer without its cost: ${answer.text.slice(-300)}`);
    traffic.calls++;
    traffic.cost_micro += cost;
  });
}

/** One top-up, paid at the rail as soon as it is there. */
async function pay(world: World, draw: Draw, traffic: Traffic): Promise<void> {
  const customer = draw.pick(world.customers);
  const amount_minor = customer.rail === 'rail-a' ? draw.int(50_000, 300_000) : draw.int(500, 9_000);
  await noting(traffic, 'a top-up', async () => {
    const key = `soak-${++serial}`;
    const answer = await post(
      `${world.origin()}/v1/credits/topups`,
      customer.key.secret,
      { amount_minor },
      key,
    );
    expectStatus(answer, 201);
    const { topup } = JSON.parse(answer.text) as { topup: { gateway_ref: string } };
    if (customer.rail === 'rail-a') world.sim_a.act(topup.gateway_ref, 'upi');
    else world.sim_b.act(topup.gateway_ref, 'pay');
    traffic.topups++;
  });
}
let serial = 0;

/** So many calls and top-ups. */
export async function traffic(
  world: World,
  draw: Draw,
  seen: Traffic,
  { calls, topups }: { readonly calls: number; readonly topups: number },
): Promise<void> {
  await Promise.all([
    inLanes(calls, CALLERS, () => call(world, draw, seen)),
    inLanes(topups, PAYERS, () => pay(world, draw, seen)),
  ]);
}

/** The status of the answer to a request with `secret`. */
export async function shown(world: World, secret: string): Promise<number> {
  const reply = await fetch(`${world.origin()}/v1/credits`, {
    headers: { authorization: `Bearer ${secret}` },
  });
  await reply.arrayBuffer();
  return reply.status;
}

/** Rotates the key of a customer: the former works for half an hour more. Returns the former one's secret. */
export async function rotate(world: World, customer: Customer, seen: Traffic): Promise<string> {
  const former = customer.key.secret;
  await noting(seen, 'a rotation', async () => {
    const path = `/v1/keys/${customer.key.id}/rotate`;
    const answer = await post(`${world.origin()}${path}`, former, { grace_seconds: 1_800 });
    expectStatus(answer, 201);
    const made = JSON.parse(answer.text) as { id: string; secret: string };
    customer.key = { id: made.id, secret: made.secret };
    seen.rotations++;
  });
  return former;
}
