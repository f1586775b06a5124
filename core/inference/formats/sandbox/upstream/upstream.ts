// The sandbox as a provider: the interface of an HTTP exchange (status, bytes, end, abort, pause) in this process.
// Timeouts, failover, cuts and garbage therefore pass through the same code as real providers.
import { monotonicMs, nowMs, sha256Hex } from '../../../../kernel/index.ts';
import type { CanonicalEvent } from '../../../canonical/types.ts';
import type { Exchange, ExchangeHandler } from '../../../upstream/exchange.ts';
import type { InProcessCall, InProcessUpstream } from '../../../upstream/in-process.ts';
import { Assembly } from './assembly.ts';
import { classOf, type Refusal, refusal } from './faults.ts';
import { answer, type View } from './models.ts';
import { optionsObject, readOptions } from './options.ts';
import { createPromptCache, type PromptCache } from './prompt-cache.ts';
import { lastUserText, promptTokens, type SandboxBody, seedBytes } from './request.ts';
import { type Step, stepsOf } from './steps.ts';
import { type Pieces, taskAnswer } from './tasks.ts';

type Plan =
  | { kind: 'refusal'; refusal: Refusal }
  | { kind: 'task'; pieces: Pieces }
  | { kind: 'answer'; steps: Iterator<Step>; stream: boolean };

/** The upstream of one process, with an empty prompt cache. */
export function createSandboxUpstream(): InProcessUpstream {
  const cache = createPromptCache();
  return (call, handler) => new SandboxExchange(plan(call, cache), handler);
}

/** Decides a whole call at once; only its timing is left. */
function plan(call: InProcessCall, cache: PromptCache): Plan {
  let body: SandboxBody;
  try {
    body = JSON.parse(call.body.toString()) as SandboxBody;
  } catch {
    return refused(refusal(400, { message: 'The body is not JSON.' }));
  }
  const user_text = lastUserText(body.messages);
  const read = readOptions(optionsObject(body.options), user_text);
  if (!read.ok)
    return refused(refusal(400, { message: read.message, param: 'svc.provider_options.sandbox' }));
  if (body.task !== undefined) {
    const { fail = 0, status } = read.options;
    const made = taskAnswer(body.task, { model: body.model, attempt: call.attempt, fail, status });
    return 'status' in made ? refused(made) : { kind: 'task', pieces: made };
  }
  const view: View = {
    body,
    options: read.options,
    seed: sha256Hex(seedBytes(call.body)),
    user_text,
    prompt_tokens: promptTokens(body),
    attempt: call.attempt,
  };
  const draft = answer(body.model, view);
  if ('body' in draft) return refused(draft);
  const use = isCacheModel(body.model)
    ? cache.use(body, call.org_id, call.now_ms ?? nowMs())
    : { read: 0, write: 0, ttl: '5m' as const };
  const steps = stepsOf({
    draft,
    upstream_model: body.model,
    upstream_id: `sbx_${view.seed.slice(0, 24)}`,
    usage: {
      input_tokens: view.prompt_tokens - use.read - use.write,
      output_tokens: 0,
      cache_read_tokens: use.read,
      cache_write_tokens: use.write,
      reasoning_tokens: 0,
      ...(use.write > 0 && use.ttl === '5m' && { cache_write_5m_tokens: use.write }),
      ...(use.write > 0 && use.ttl === '30m' && { cache_write_30m_tokens: use.write }),
      ...(use.write > 0 && (use.ttl === '1h' || use.ttl === '24h') && { cache_write_1h_tokens: use.write }),
      source: 'provider',
    },
    max_tokens: body.max_tokens,
    stop_sequences: body.generation.stop ?? [],
    chunks: read.options.chunks,
    duration_ms: read.options.duration_ms,
  });
  return { kind: 'answer', steps, stream: body.stream };
}

function refused(refusal: Refusal): Plan {
  return { kind: 'refusal', refusal };
}

function isCacheModel(model: string): boolean {
  return model === 'cache' || model === 'sandbox/cache';
}

const READ_BYTES_MAX = 65_536;
/** A task works so long at a stretch, and rests as long. */
const SLICE_MS = 4;
const STREAM_HEADERS = { 'content-type': 'application/x-ndjson' };
const WHOLE_HEADERS = { 'content-type': 'application/json' };

class SandboxExchange implements Exchange {
  readonly sent = true;
  private readonly plan: Plan;
  private readonly handler: ExchangeHandler;
  private readonly assembly = new Assembly();
  private timer: NodeJS.Timeout | null = null;
  private over = false;
  private paused = false;
  /** A turn came due while the reader was paused. */
  private held = false;
  private text = '';
  /** When the current step is due. Kept as a sum, so that pauses shorter than a timer's resolution still add up. */
  private due_ms = 0;

  constructor(plan: Plan, handler: ExchangeHandler) {
    this.plan = plan;
    this.handler = handler;
    setImmediate(() => this.begin());
  }

  abort(): void {
    this.over = true;
    if (this.timer !== null) clearTimeout(this.timer);
  }
  pause(): void {
    this.paused = true;
  }
  resume(): void {
    if (!this.paused) return;
    this.paused = false;
    if (!this.held) return;
    this.held = false;
    setImmediate(() => this.turn());
  }

  private begin(): void {
    if (this.over) return;
    this.due_ms = monotonicMs();
    if (this.plan.kind === 'refusal') this.finishWhole(this.plan.refusal);
    else if (this.plan.kind === 'task') {
      this.handler.head(200, WHOLE_HEADERS);
      this.work(this.plan.pieces);
    } else {
      if (this.plan.stream) this.handler.head(200, STREAM_HEADERS);
      this.turn();
    }
  }

  /** Makes the answer to a task, a slice at a time: a long one would keep every other call waiting. */
  private work(pieces: Pieces): void {
    const until_ms = monotonicMs() + SLICE_MS;
    while (!this.over && monotonicMs() < until_ms) {
      const next = this.step(pieces);
      if (next === null) return;
      if (next.done === true) return this.finish(true);
      this.text += next.value;
      if (this.text.length >= READ_BYTES_MAX) this.deliver();
    }
    if (!this.over) this.timer = setTimeout(() => this.work(pieces), SLICE_MS);
  }

  /** Runs steps until one has to wait. */
  private turn(): void {
    if (this.plan.kind !== 'answer') return;
    const { steps, stream } = this.plan;
    for (;;) {
      if (this.over) return;
      if (this.paused) {
        this.held = true;
        return;
      }
      const next = this.step(steps);
      if (next === null) return;
      if (next.done === true) {
        this.finish(stream);
        return;
      }
      const step = next.value;
      if (step.type === 'wait') {
        if (this.sleep(step.ms)) return;
      } else if (step.type === 'stall') {
        this.deliver();
        return;
      } else if (stream) this.put(step);
      else if (this.gather(step)) return;
    }
  }

  /** The next step; null when making it failed. A defect here ends the call: thrown from a timer it would end the process. */
  private step<T>(steps: Iterator<T, undefined>): IteratorResult<T, undefined> | null {
    try {
      return steps.next();
    } catch (error) {
      this.over = true;
      const message = error instanceof Error ? error.message : String(error);
      this.handler.error({ message, code: 'SANDBOX_DEFECT', unsent: false, timeout: false });
      return null;
    }
  }

  /** Whether the next step has to wait for a timer. */
  private sleep(ms: number): boolean {
    this.due_ms += ms;
    const left = this.due_ms - monotonicMs();
    if (left < 1) return false;
    this.deliver();
    if (this.over) return true;
    this.timer = setTimeout(() => this.turn(), left);
    return true;
  }

  private put(step: CanonicalEvent | { type: 'flush' } | { type: 'raw'; text: string }): void {
    if (step.type === 'flush') {
      this.deliver();
      return;
    }
    this.text += step.type === 'raw' ? step.text : `${JSON.stringify(step)}\n`;
    if (this.text.length >= READ_BYTES_MAX) this.deliver();
  }

  private deliver(): void {
    if (this.text === '' || this.over) return;
    const bytes = Buffer.from(this.text);
    this.text = '';
    this.handler.data(bytes);
  }

  private finish(stream: boolean): void {
    if (!stream) {
      this.finishWhole({ status: 200, headers: WHOLE_HEADERS, body: this.assembly.bytes() });
      return;
    }
    this.deliver();
    if (this.over) return;
    this.over = true;
    this.handler.end();
  }

  /** Takes a step of a whole answer; true when it ended the exchange. */
  private gather(step: CanonicalEvent | { type: 'flush' } | { type: 'raw'; text: string }): boolean {
    if (step.type === 'flush') return false;
    if (step.type === 'raw') {
      this.finishWhole({ status: 200, headers: WHOLE_HEADERS, body: Buffer.from(step.text) });
      return true;
    }
    if (step.type !== 'error') {
      this.assembly.add(step);
      return false;
    }
    // A whole answer cannot contain an event: the fault becomes the status that it would have had.
    const status = statusOf(step.fault.inner ?? 'server');
    this.finishWhole(refusal(status));
    return true;
  }

  private finishWhole({ status, headers, body }: Refusal): void {
    this.handler.head(status, headers);
    if (!this.over) this.handler.data(body);
    if (this.over) return;
    this.over = true;
    this.handler.end();
  }
}

const eventStatuses = [400, 401, 403, 404, 413, 429, 500, 503] as const;

function statusOf(inner: ReturnType<typeof classOf>): number {
  return eventStatuses.find((status) => classOf(status, undefined) === inner) ?? 500;
}
