// A hostile caller: connections that send one expensive body after the other, and what others notice of it.
import { Agent, request } from 'node:http';
import { gzipSync } from 'node:zlib';

/** Below the bounds of objects, lists and members in a body, and of members in one object. */
const ITEMS = 99_000;
const MEMBERS = 9_900;

const times = (count: number, item: (i: number) => string) =>
  Array.from({ length: Math.floor(count) }, (_, i) => item(i)).join(',');
const turn = (i: number) => (i % 2 === 0 ? 'user' : 'assistant');
const chat = (model: string, rest: string) => `{"model":"${model}",${rest}}`;
const CHAT = '/v1/chat/completions';
const hello = '"messages":[{"role":"user","content":"a"}]';

export interface Body {
  readonly path: string;
  readonly gzipped: Buffer;
}

/** The most expensive bodies that are allowed, and some that are refused; compressed they are small. */
export function worstBodies(model: string): readonly Body[] {
  const body = (path: string, text: string): Body => ({ path, gzipped: gzipSync(text) });
  const post = (path: string, rest: string) => body(path, chat(model, rest));
  const small = (i: number) => `{"role":"${turn(i)}","content":"a"}`;
  const messages = `"messages":[${times(ITEMS / 3, small)}]`;
  const part = () => '{"type":"text","text":"a"}';
  const wide = `{${times(MEMBERS, (i) => `"k${i}":0`)}}`;
  const properties = times(MEMBERS, (i) => `"k${i}":{"type":"string"}`);
  const tool = `{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{${properties}}}}}`;
  const embed = (input: string) =>
    body('/v1/embeddings', chat('openai/text-embedding-3-small', `"input":[${input}]`));
  return [
    post(CHAT, messages),
    post(CHAT, `"messages":[${times(330_000, small)}]`),
    post(CHAT, `${hello},"metadata":${wide}`),
    post(CHAT, `${hello},"x":[${times(9, () => wide)}]`),
    post(CHAT, `${hello},"x":{${times(990_000, (i) => `"k${i}":0`)}}`),
    post(CHAT, `${hello},"x":[${'1,'.repeat(490_000)}1]`),
    post(CHAT, `${hello},"x":${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`),
    post(CHAT, `${hello},"logit_bias":{${times(MEMBERS, (i) => `"${i}":1`)}}`),
    post(CHAT, `${hello},"tools":[${tool}]`),
    post(CHAT, `${hello},"stop":[${times(490_000, () => '"a"')}]`),
    post(CHAT, `"messages":[{"role":"user","content":"${'\\"'.repeat(8_000_000)}"}]`),
    post(CHAT, `"messages":[{"role":"user","content":"${'a '.repeat(16_000_000)}"}]`),
    post(CHAT, `"messages":[{"role":"user","content":"${'語'.repeat(10_000_000)}"}]`),
    post('/v1/messages', `"max_tokens":5,"messages":[{"role":"user","content":[${times(ITEMS / 3, part)}]}]`),
    post('/v1/messages/count_tokens', messages),
    post('/v1/svc/dry_run', messages),
    post('/v1/responses', `"input":[${times(ITEMS / 3, small)}]`),
    post('/v1/completions', `"prompt":[${times(490_000, () => '"a"')}]`),
    embed(times(490_000, () => '"a"')),
    embed(times(2_048, (i) => `"rain on the river ${i}"`)),
    embed(times(290, (i) => `[${times(1_000, (at) => String(i * 1_000 + at))}]`)),
  ];
}

interface Sent {
  readonly port: number;
  readonly path: string;
  readonly key: string;
  readonly body: string | Buffer;
  readonly agent: Agent;
  readonly method?: string;
  readonly gzipped?: boolean;
}

/** Status of one request, and how long it took; 0 where the connection broke. */
function send({ port, path, key, body, agent, method = 'POST', gzipped = false }: Sent) {
  const began = performance.now();
  return new Promise<{ status: number; ms: number }>((done) => {
    const end = (status: number) => done({ status, ms: performance.now() - began });
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      ...(gzipped ? { 'content-encoding': 'gzip' } : {}),
    };
    const out = request({ host: '127.0.0.1', port, path, method, agent, headers }, (answer) => {
      answer.resume();
      answer.on('end', () => end(answer.statusCode ?? 0));
    });
    out.on('error', () => end(0));
    out.end(body);
  });
}

export interface FloodOptions {
  readonly port: number;
  readonly bodies: readonly Body[];
  readonly hostile_key: string;
  readonly connections: number;
  readonly other_key: string;
  /** Of the other organization's calls. */
  readonly model: string;
  /** How many calls of each kind are measured; the flood goes on until all have their answers and each body was sent. */
  readonly calls: number;
  readonly per_second: number;
}

export interface FloodFigures {
  readonly sent: number;
  /** How often the hostile caller got each status. */
  readonly statuses: Readonly<Record<number, number>>;
  /** Of the other organization: calls that did not end in 200. */
  readonly failed: number;
  readonly calls_ms: readonly number[];
  readonly health_ms: readonly number[];
}

/** The value below which `share` of `values` are. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Floods a gateway while another organization calls it at an even rate. */
export async function flood(options: FloodOptions): Promise<FloodFigures> {
  const { port, bodies, connections, calls, per_second } = options;
  const agent = new Agent({ keepAlive: true });
  const statuses: Record<number, number> = {};
  let sent = 0;
  let over = false;
  const hostile = Array.from({ length: connections }, async () => {
    while (!over || sent < bodies.length) {
      const { path, gzipped } = bodies[sent++ % bodies.length] as Body;
      const { status } = await send({
        port,
        path,
        key: options.hostile_key,
        body: gzipped,
        agent,
        gzipped: true,
      });
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
  });
  const body = JSON.stringify({ model: options.model, messages: [{ role: 'user', content: 'Hello' }] });
  const ask = { port, key: options.other_key, agent };
  const asked: Promise<{ status: number; ms: number }>[] = [];
  const looked: Promise<{ status: number; ms: number }>[] = [];
  await new Promise<void>((done) => {
    const timer = setInterval(() => {
      asked.push(send({ ...ask, path: '/v1/chat/completions', body }));
      looked.push(send({ ...ask, path: '/healthz', body: '', method: 'GET' }));
      if (asked.length < calls) return;
      clearInterval(timer);
      done();
    }, 1_000 / per_second);
  });
  const answers = await Promise.all(asked);
  const health = await Promise.all(looked);
  over = true;
  await Promise.all(hostile);
  agent.destroy();
  return {
    sent,
    statuses,
    failed: answers.filter(({ status }) => status !== 200).length,
    calls_ms: answers.map(({ ms }) => ms),
    health_ms: health.map(({ ms }) => ms),
  };
}
