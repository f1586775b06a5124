// Requests as a client with patience sends them: the same one again, with the same Idempotency-Key, until it is answered.
import type { Draw } from '../crash/draw.ts';

export interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

export interface Request {
  readonly method: string;
  readonly path: string;
  readonly token: string;
  readonly body?: object;
  readonly key?: string;
}

/** A call is taken over after its process died, and whoever took it over may die as well. */
const PATIENCE_MS = 300_000;
const REQUEST_MS = 15_000;
/** The first pause before a request is sent again; each one is half as long again, up to a second. */
export const PAUSE_MS = 100;
const PAUSE_MAX_MS = 1_000;

export const pause = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));

/** The code of a refusal; '' of an answer that is none. */
export function codeOf({ body }: Answer): string {
  return ((body['error'] ?? {}) as { code?: string }).code ?? '';
}

/** A refusal that says nothing about the request: it is sent again. GraphQL has such ones in `errors`. */
function passes(answer: Answer): boolean {
  return (
    answer.status >= 500 ||
    answer.body['errors'] !== undefined ||
    answer.status === 429 ||
    ['refund_in_progress', 'idempotency_in_progress'].includes(codeOf(answer))
  );
}

/**
 * The answer to a request that is repeated until it has one; `originOf` names who is asked at each try.
 * @throws Error after five minutes.
 */
export async function ask(originOf: (tries: number) => string, request: Request): Promise<Answer> {
  const { method, path, token, body, key } = request;
  const deadline = performance.now() + PATIENCE_MS;
  let last = '';
  let pause_ms = PAUSE_MS;
  for (let tries = 0; performance.now() < deadline; tries++) {
    try {
      const reply = await fetch(`${originOf(tries)}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(key === undefined ? {} : { 'idempotency-key': key }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(REQUEST_MS),
      });
      const answer = { status: reply.status, body: (await reply.json()) as Record<string, unknown> };
      if (!passes(answer)) return answer;
      last = `${answer.status} ${JSON.stringify(answer.body)}`;
    } catch (error) {
      last = String(error);
    }
    await pause(pause_ms);
    pause_ms = Math.min(pause_ms * 1.5, PAUSE_MAX_MS);
  }
  throw new Error(`${method} ${path} has had no answer in five minutes; the last was ${last}`);
}

/** Waits up to `patience_ms` until `look` says so; whether it did. */
export async function within(patience_ms: number, look: () => Promise<boolean>): Promise<boolean> {
  const deadline = performance.now() + patience_ms;
  for (let pause_ms = PAUSE_MS; performance.now() < deadline; pause_ms = Math.min(pause_ms * 1.5, 800)) {
    if (await look()) return true;
    await pause(pause_ms);
  }
  return false;
}

/** Who is asked by the customers of a world: one gateway and then the other. */
export function gateways(world: { origin(gateway: 0 | 1): string }, draw: Draw): (tries: number) => string {
  const first = draw.int(0, 1);
  return (tries) => world.origin(((first + tries) % 2) as 0 | 1);
}
