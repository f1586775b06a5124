// The load generator of the bench: raw TCP, so that it does not saturate its core before the gateway does.
// A process of its own; takes jobs over the IPC channel one at a time. Every answer is checked: a status
// other than 200 or a stream without its ending fails the job.
import { connect, type Socket } from 'node:net';
import type { Job, JobResult, Message, Target } from './load-jobs.ts';
import { DONE } from './replies.ts';
import { type Reply, ReplyReader } from './reply-reader.ts';

const SENTENCE =
  'The quick brown fox jumps over the lazy dog while \\"the river\\" carries rain down to the sea. ';

function promptOf(size: Target['prompt']): string {
  if (size === 'small') return '[{"role":"user","content":"Say something about rivers."}]';
  const text = SENTENCE.repeat(Math.ceil(16_000 / SENTENCE.length))
    .slice(0, 16_000)
    .replace(/\\$/, '');
  if (size === '4k') return `[{"role":"user","content":"${text}"}]`;
  // An agent's history: many messages of source text, quotes and line ends every few characters.
  const source = 'if (left === \\"right\\") {\\n  return \\"none\\";\\n}\\n'.repeat(175);
  const turns = Array.from({ length: 43 }, (_, i) => {
    const role = i % 2 === 0 ? 'user' : 'assistant';
    return `{"role":"${role}","content":"${source}"}`;
  });
  return `[${turns.join(',')}]`;
}

function bodyOf({ model, path, prompt, stream }: Target): string {
  const messages = promptOf(prompt);
  if (path.endsWith('/embeddings')) {
    const [message] = JSON.parse(messages) as { content: string }[];
    return JSON.stringify({ model, input: message?.content });
  }
  const head = `{"model":"${model}","stream":${stream},`;
  if (path.endsWith('/responses')) return `${head}"max_output_tokens":256,"input":${messages}}`;
  return `${head}"max_tokens":256,"messages":${messages}}`;
}

function requestOf(target: Target): Buffer {
  const body = bodyOf(target);
  return Buffer.from(
    `POST ${target.path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${target.key}\r\n` +
      `content-type: application/json\r\nanthropic-version: 2023-06-01\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

// A response that did not fail ends with its warnings.
const ENDINGS = ['[DONE]', 'message_stop', '"warnings":[]}}}', DONE];

function faultOf(target: Target, reply: Reply): string | null {
  if (reply.status !== 200) return `status ${reply.status}: ${reply.tail}`;
  if (target.stream && !ENDINGS.some((e) => reply.tail.includes(e))) return `stream cut: ${reply.tail}`;
  if (!target.stream && reply.body_bytes < 1000) return `answer of ${reply.body_bytes} bytes: ${reply.tail}`;
  return null;
}

/** One keep-alive connection; a call at a time. */
class Connection {
  readonly #socket: Socket;
  #done: ((reply: Reply) => void) | null = null;

  constructor(port: number, onFault: (fault: string) => void) {
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true });
    const reader = new ReplyReader((reply) => {
      const done = this.#done;
      this.#done = null;
      done?.(reply);
    });
    this.#socket.on('data', (piece) => reader.push(piece));
    this.#socket.on('error', (error) => onFault(error.message));
    this.#socket.on('close', () => {
      if (this.#done !== null) onFault('connection closed during a call');
    });
  }

  send(request: Buffer, done: (reply: Reply) => void): void {
    this.#done = done;
    this.#socket.write(request);
  }

  /** Resolves with the first read of the answer, which is left unfinished. */
  first(request: Buffer): Promise<string> {
    this.#socket.write(request);
    return new Promise((resolve) =>
      this.#socket.once('data', (piece) => resolve(piece.toString('latin1', 0, 15))),
    );
  }

  end(): void {
    this.#done = null;
    this.#socket.destroy();
  }
}

class Tally {
  readonly #ms: number[] = [];
  readonly #ttft: number[] = [];
  #reads = 0;
  readonly #start = performance.now();

  add(sentAt: number, reply: Reply): void {
    this.#ms.push(performance.now() - sentAt);
    this.#ttft.push(reply.first_at - sentAt);
    this.#reads += reply.reads;
  }

  result(): JobResult {
    const at = (values: number[], share: number) =>
      values.sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0;
    return {
      calls: this.#ms.length,
      seconds: (performance.now() - this.#start) / 1000,
      p50_ms: at(this.#ms, 0.5),
      p99_ms: at(this.#ms, 0.99),
      ttft_p50_ms: at(this.#ttft, 0.5),
      reads: this.#reads / Math.max(1, this.#ms.length),
    };
  }
}

function closed(job: Extract<Job, { kind: 'closed' }>): Promise<JobResult> {
  const request = requestOf(job.target);
  return new Promise((resolve, reject) => {
    const tally = new Tally();
    const connections: Connection[] = [];
    let sent = 0;
    let ended = 0;
    const stop = (fault: string | null) => {
      for (const connection of connections) connection.end();
      if (fault === null) resolve(tally.result());
      else reject(new Error(fault));
    };
    const next = (connection: Connection) => {
      if (sent === job.calls) return;
      sent++;
      const sentAt = performance.now();
      connection.send(request, (reply) => {
        const fault = faultOf(job.target, reply);
        if (fault !== null) return stop(fault);
        tally.add(sentAt, reply);
        ended++;
        if (ended === job.calls) stop(null);
        else next(connection);
      });
    };
    // Streams begin spread over a second: their chunks shall not fall on the same millisecond.
    const spread_ms = job.target.stream ? 1000 / job.in_flight : 0;
    for (let i = 0; i < Math.min(job.in_flight, job.calls); i++) {
      const connection = new Connection(job.target.port, stop);
      connections.push(connection);
      if (spread_ms === 0) next(connection);
      else setTimeout(next, i * spread_ms, connection);
    }
  });
}

function open(job: Extract<Job, { kind: 'open' }>): Promise<JobResult> {
  const request = requestOf(job.target);
  const total = job.per_second * job.seconds;
  return new Promise((resolve, reject) => {
    const tally = new Tally();
    const all: Connection[] = [];
    const free: Connection[] = [];
    const start = performance.now();
    let sent = 0;
    let ended = 0;
    const stop = (fault: string | null) => {
      clearInterval(timer);
      for (const connection of all) connection.end();
      if (fault === null) resolve(tally.result());
      else reject(new Error(fault));
    };
    const send = () => {
      let connection = free.pop();
      if (connection === undefined) {
        connection = new Connection(job.target.port, stop);
        all.push(connection);
      }
      const used = connection;
      const sentAt = performance.now();
      used.send(request, (reply) => {
        const fault = faultOf(job.target, reply);
        if (fault !== null) return stop(fault);
        tally.add(sentAt, reply);
        free.push(used);
        ended++;
        if (ended === total) stop(null);
      });
    };
    const timer = setInterval(() => {
      const due = Math.min(total, Math.floor(((performance.now() - start) / 1000) * job.per_second) + 1);
      for (; sent < due; sent++) send();
    }, 1);
  });
}

let held: Connection[] = [];

async function hold(job: Extract<Job, { kind: 'hold' }>): Promise<JobResult> {
  const request = requestOf(job.target);
  const tally = new Tally();
  const fail = (fault: string) => reply({ ok: false, fault });
  for (let i = 0; i < job.count; i += 50) {
    const group = Array.from(
      { length: Math.min(50, job.count - i) },
      () => new Connection(job.target.port, fail),
    );
    held.push(...group);
    const starts = await Promise.all(group.map((connection) => connection.first(request)));
    const bad = starts.find((line) => !line.startsWith('HTTP/1.1 200'));
    if (bad !== undefined) throw new Error(`stream refused: ${bad}`);
  }
  return { ...tally.result(), calls: held.length };
}

function close(): JobResult {
  for (const connection of held) connection.end();
  held = [];
  return new Tally().result();
}

function reply(message: Message): void {
  process.send?.(message);
}

function run(job: Job): Promise<JobResult> | JobResult {
  if (job.kind === 'closed') return closed(job);
  if (job.kind === 'open') return open(job);
  if (job.kind === 'hold') return hold(job);
  return close();
}

process.on('message', (job: Job) => {
  Promise.resolve(run(job)).then(
    (result) => reply({ ok: true, result }),
    (error: Error) => reply({ ok: false, fault: error.message }),
  );
});
process.on('disconnect', () => process.exit(0));
