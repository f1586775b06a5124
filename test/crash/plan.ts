// The calls of a round, drawn from the seed.
import type { Draw } from './draw.ts';

export type Behaviour = 'ok' | 'refused' | 'flaky' | 'fault' | 'cut' | 'same_id';

/**
 * How often a caller asks. `keyed`: with an Idempotency-Key, until it has an answer and once more. `retries`: as official
 * clients do that have given up waiting, on a second connection while the first still runs.
 */
export type Habit = 'once' | 'keyed' | 'retries';

export interface PlannedCall {
  readonly no: number;
  readonly dialect: 'chat' | 'messages';
  /** Catalog model: its provider speaks the caller's dialect or the other one. */
  readonly model: string;
  readonly stream: boolean;
  readonly behaviour: Behaviour;
  readonly habit: Habit;
  /** The caller hangs up so long after sending; null: never. */
  readonly leave_after_ms: number | null;
  readonly key: string;
  readonly gateway: 0 | 1;
  /** Output tokens of the whole answer, the pieces they come in, and the time between two. */
  readonly tokens: number;
  readonly chunks: number;
  readonly chunk_ms: number;
  /** null: the caller names no limit. */
  readonly max_tokens: number | null;
  /** Input tokens that the provider reports above the true number. */
  readonly over_report: number;
  /** The budget of the run that it belongs to; without: none. */
  readonly budget?: { readonly id: string; readonly max_micro: number };
}

/** Most output tokens of a call of the crash test; also what it asks for. */
export const MAX_TOKENS = 500;

export const models = [
  'crash/chat',
  'crash/chat',
  'crash/messages',
  'crash/messages',
  'crash/failover',
  'crash/full',
  'crash/own',
];

/** Secrets of the keys that calls are sent with. */
export interface PlanKeys {
  readonly all: readonly string[];
  /** One that only `retries` use: a failed call of a key makes it unclear what a retry belongs to. */
  readonly client: string;
}

/** Call `no` of the run, aimed at one of two gateways with one of `keys`. */
export function planCall(draw: Draw, no: number, keys: PlanKeys): PlannedCall {
  const leaves = draw.unit() < 0.1;
  const habit = draw.weighted({ once: 86, keyed: 9, retries: 5 });
  const retries = habit === 'retries';
  const behaviour = draw.weighted({ ok: 82, refused: 3, flaky: 4, fault: 5, cut: 4, same_id: 2 });
  return {
    no,
    habit,
    dialect: draw.pick(['chat', 'messages'] as const),
    model: draw.pick(models),
    stream: draw.unit() < 0.6 && !retries,
    behaviour: retries ? 'ok' : behaviour,
    leave_after_ms: leaves && !retries ? draw.int(1, 120) : null,
    key: retries ? keys.client : draw.pick(keys.all),
    gateway: draw.pick([0, 1] as const),
    // Rises with the number, so that calls of one round differ in price: a charge then names its call even where
    // the caller never learnt the request id.
    tokens: 20 + (no % (MAX_TOKENS - 20)),
    chunks: draw.int(1, 12),
    chunk_ms: draw.int(0, retries ? 90 : 15),
    max_tokens: MAX_TOKENS,
    // Above what was held for the prompt, and below what its bytes can be.
    over_report: draw.unit() < 0.1 ? draw.int(300, 700) : 0,
  };
}

const knobsOf: Readonly<Record<Behaviour, string>> = {
  ok: '',
  refused: ' status=500',
  flaky: ' fail_first=1',
  fault: ' error_after=1',
  cut: ' cut_after=1',
  same_id: ' same_id=1',
};

/** The prompt that tells the simulator what to do; text survives every translation. */
export function promptOf(call: PlannedCall): string {
  const { no, tokens, chunks, chunk_ms, stream, behaviour, over_report } = call;
  const pace = stream ? `chunk_ms=${chunk_ms}` : `delay_ms=${chunk_ms * chunks}`;
  return `sim: mark=${no} tokens=${tokens} chunks=${chunks} ${pace} over_report=${over_report}${knobsOf[behaviour]}`;
}
