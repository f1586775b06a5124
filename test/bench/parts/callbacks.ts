// Callbacks of a rail in a storm, as after an outage: repeats above all, some that are of no interest, some forged; and what
// the calls of organizations notice of it.
import { createHmac } from 'node:crypto';
import { Agent, request } from 'node:http';
import { quantile } from '../../concurrency/flood.ts';
import { cpuMicros, pinTree } from '../machine.ts';
import { median } from '../measure.ts';
import { RAIL_SECRET, type Stack } from '../stack.ts';

export interface CallbackFigures {
  readonly per_second: number;
  /** The gateway's processor time for one, in µs; beside them a few calls. */
  readonly cpu_us: number;
  readonly calls_p99_ms: number;
  /** Callbacks and calls without the answer that is right. */
  readonly failed: number;
}

const RATE = 2_000;
const CALLS_PER_SECOND = 50;
const TICK_MS = 10;
/** An event about a top-up that nobody knows: taken once, and repeated as others are. */
const EVENTS = 500;
/** Before the storm, as in the other groups: the first calls of a process are those of code that is not compiled yet. */
const WARM_CALLS = 500;

interface Sent {
  readonly body: string;
  readonly signature: string;
  readonly status: number;
}

function event(id: string, type: string): string {
  const object = { id: `cs_${id}`, object: 'checkout.session', metadata: {}, payment_intent: `pi_${id}` };
  const more = { amount_total: 2_500, currency: 'usd', payment_status: 'paid', mode: 'payment' };
  return JSON.stringify({
    id,
    object: 'event',
    livemode: false,
    type,
    data: { object: { ...object, ...more } },
  });
}

function signed(body: string, status = 200): Sent {
  const t = Math.floor(Date.now() / 1_000);
  const v1 = createHmac('sha256', status === 200 ? RAIL_SECRET : 'forged')
    .update(`${t}.${body}`)
    .digest('hex');
  return { body, signature: `t=${t},v1=${v1}`, status };
}

/** Of ten callbacks six are repeats, two of a type that is ignored, two forged. */
function storm(at: number): Sent {
  const id = `evt_${at % EVENTS}`;
  if (at % 10 < 6) return signed(event(id, 'checkout.session.completed'));
  return at % 10 < 8
    ? signed(event(id, 'customer.updated'))
    : signed(event(id, 'checkout.session.completed'), 400);
}

/** Measures a fresh gateway in each round for so many seconds; medians, and all that failed. */
export async function measureCallbacks(
  stack: Stack,
  { seconds, rounds }: { seconds: number; rounds: number },
): Promise<CallbackFigures> {
  pinTree(process.pid, 'rest');
  const found: CallbackFigures[] = [];
  for (let round = 0; round < rounds; round++) found.push(await measureRound(stack, seconds));
  const of = (name: keyof CallbackFigures) => median(found.map((figures) => figures[name]));
  return {
    per_second: of('per_second'),
    cpu_us: of('cpu_us'),
    calls_p99_ms: of('calls_p99_ms'),
    failed: found.reduce((sum, { failed }) => sum + failed, 0),
  };
}

async function measureRound(stack: Stack, seconds: number): Promise<CallbackFigures> {
  const run = await stack.start('gateway');
  const rail = new Agent({ keepAlive: true, maxSockets: 64 });
  // Organizations have connections of their own: their calls do not queue behind the callbacks of the rail's.
  const organizations = new Agent({ keepAlive: true });
  const post = (agent: Agent, path: string, headers: Record<string, string>, body: string) => {
    const began = performance.now();
    return new Promise<{ status: number; ms: number }>((done) => {
      const end = (status: number) => done({ status, ms: performance.now() - began });
      const lengths = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
      const at = { host: '127.0.0.1', port: run.port, path, method: 'POST', agent };
      const out = request({ ...at, headers: { ...lengths, ...headers } }, (answer) => {
        answer.resume();
        answer.on('end', () => end(answer.statusCode ?? 0));
      });
      out.on('error', () => end(0));
      out.end(body);
    });
  };
  const callback = async ({ body, signature, status }: Sent) =>
    (await post(rail, '/webhooks/rail-b', { 'stripe-signature': signature }, body)).status === status;
  const hello = JSON.stringify({ model: 'bench/whole', messages: [{ role: 'user', content: 'Hello' }] });
  const call = () =>
    post(organizations, '/v1/chat/completions', { authorization: `Bearer ${stack.keys.live_key}` }, hello);
  try {
    for (let i = 0; i < EVENTS; i++) await callback(signed(event(`evt_${i}`, 'checkout.session.completed')));
    for (let i = 0; i < WARM_CALLS; i++) await call();
    const callbacks: Promise<boolean>[] = [];
    const calls: Promise<{ status: number; ms: number }>[] = [];
    const cpu_before = cpuMicros(run.pid);
    const began = performance.now();
    await new Promise<void>((done) => {
      const timer = setInterval(() => {
        const passed = performance.now() - began;
        while (callbacks.length < (passed * RATE) / 1_000) callbacks.push(callback(storm(callbacks.length)));
        while (calls.length < (passed * CALLS_PER_SECOND) / 1_000) calls.push(call());
        if (passed < seconds * 1_000) return;
        clearInterval(timer);
        done();
      }, TICK_MS);
    });
    const right = await Promise.all(callbacks);
    const took_s = (performance.now() - began) / 1_000;
    const cpu_us = (cpuMicros(run.pid) - cpu_before) / right.length;
    const answers = await Promise.all(calls);
    const failed = right.filter((is) => !is).length + answers.filter(({ status }) => status !== 200).length;
    const calls_p99_ms = quantile(
      answers.map(({ ms }) => ms),
      0.99,
    );
    return { per_second: right.length / took_s, cpu_us, calls_p99_ms, failed };
  } finally {
    rail.destroy();
    organizations.destroy();
    await run.stop();
  }
}
