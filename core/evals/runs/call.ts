// One call of a run, from setting its sum aside to what it cost. A worker may die anywhere: the row says that the call was begun
// and for how much, and its Idempotency-Key, which follows from its place, gets the answer that was paid for.
import { setTimeout as pause } from 'node:timers/promises';
import { type Context, deriveKey, hmacSha256, type JsonObject, nowMs } from '../../kernel/index.ts';
import type { RunClaims } from '../../keys/index.ts';
import { type CallPlace, type CallRow, closeCall, findCall, openCall, raiseCall } from './call-store.ts';
import type { Answered, EvalGateway, Refused } from './gateway.ts';
import type { Reserves } from './reserves.ts';
import { readRun, stopRun } from './store.ts';
import type { Run, StopReason } from './types.ts';

/** Tries after the first, of a call that a provider failed. */
const RETRIES = 3;
const BACKOFF_MS = 500;
/** Own limits may ask for a minute; nobody waits longer at once. */
const WAIT_MAX_MS = 60_000;
/** The gateway keeps answers for 24 hours; a call that is older is not asked for again, as it would be made again. */
const ANSWERS_KEPT_MS = 23 * 3_600_000;

interface CallWanted {
  readonly run: Run;
  readonly unit_no: number;
  readonly sample: number;
  readonly body: JsonObject;
  /** The most that it can cost; null where no endpoint can be tried. Read once it is the call's turn. */
  readonly most: () => Promise<number | null>;
}

export type Made =
  | { readonly status: 'answered'; readonly answer: Answered }
  /** It was made or tried, and has no answer. */
  | { readonly status: 'failed'; readonly code: string; readonly cost_micro: number }
  /** It was not made: the budget has no room for it, or the run begins no more calls. */
  | { readonly status: 'not_begun'; readonly why: 'budget' | 'stopped' };

function claimsOf(run: Run): RunClaims {
  const { id, org_id, project_id, environment, key_id, key_no } = run;
  return { run_id: id, org_id, project_id, environment, key_id, key_no };
}

/** A text that only we can name, the same for the same place. */
export function markOf(context: Context, purpose: string, at: CallPlace): string {
  const key = deriveKey(context.services.root_key, `eval ${purpose}`);
  return hmacSha256(key, `${at.run_id} ${at.unit_no} ${at.sample}`).toString('hex');
}

/** Why a refusal of the gateway ends the whole run; null: it concerns this call alone. */
function endsRun({ status, code }: Refused): Exclude<StopReason, '' | 'budget' | 'cancelled'> | null {
  if (status === 402) return 'credits';
  const closed = ['invalid_api_key', 'authentication_required', 'org_inactive', 'permission_denied'];
  return closed.includes(code) ? 'error' : null;
}

function isAboveCap({ code, details }: Refused): boolean {
  return code === 'budget_exhausted' && details['scope'] === 'call';
}

class MakingCall {
  private readonly context: Context;
  private readonly wanted: CallWanted;
  private readonly reserves: Reserves;
  private readonly place: CallPlace;

  constructor(context: Context, wanted: CallWanted, reserves: Reserves) {
    this.context = context;
    this.wanted = wanted;
    this.reserves = reserves;
    const { run, unit_no, sample } = wanted;
    this.place = { run_id: run.id, unit_no, sample };
  }

  async make(): Promise<Made> {
    // Cases begin in their order, so that a tight budget goes to the first ones, however many calls are under way. Nothing
    // is awaited before: whoever waits longer for a catalog would lose its turn.
    const { sample } = this.place;
    const row = await (sample === 0 ? this.reserves.inOrder(() => this.begun()) : this.begun());
    if (row === 'no_endpoint_available') return { status: 'failed', code: row, cost_micro: 0 };
    if (typeof row === 'string') return { status: 'not_begun', why: row };
    if (row.closed_at !== null && row.error_code !== '') {
      return { status: 'failed', code: row.error_code, cost_micro: row.cost_micro ?? 0 };
    }
    if (nowMs() - row.opened_at.getTime() > ANSWERS_KEPT_MS) {
      return this.failed('answer_lost', row.cost_micro ?? row.reserved_micro);
    }
    return row.closed_at === null ? this.reserves.during(() => this.ask(row)) : this.ask(row);
  }

  /** The row of the call, which is made where there is none; or why it cannot be begun. */
  private async begun(): Promise<CallRow | 'budget' | 'stopped' | 'no_endpoint_available'> {
    const { db } = this.context;
    for (;;) {
      const known = await findCall(db, this.place);
      if (known !== null) return known;
      const reserve_micro = await this.wanted.most();
      if (reserve_micro === null) return 'no_endpoint_available';
      const row = await openCall(db, { ...this.place, reserve_micro, at: this.context.now() });
      if (row !== null) return row;
      const run = await readRun(db, this.place.run_id);
      if (run === null || run.status !== 'running' || run.stop_reason !== '') return 'stopped';
      // What is set aside for others may come back; only when nothing is, is there no room for good.
      if (run.reserved_micro === 0) {
        if (run.spent_micro + reserve_micro > run.budget_micro) return 'budget';
      } else await this.reserves.untilOneEnds();
    }
  }

  private async ask(row: CallRow): Promise<Made> {
    const { services } = this.context;
    let cap_micro_usd = row.reserved_micro;
    for (let tries = 0; ; ) {
      const said = await (services.eval_gateway as EvalGateway).call({
        claims: claimsOf(this.wanted.run),
        key: markOf(this.context, 'call keys', this.place),
        cap_micro_usd,
        body: this.wanted.body,
      });
      if (said.kind === 'answer') return this.answered(said);
      if (said.code === 'idempotency_in_progress' || said.code === 'rate_limit_exceeded') {
        await pause(Math.min(said.retry_after_ms ?? 1_000, WAIT_MAX_MS));
        continue;
      }
      if (said.code === 'idempotency_replay_unavailable') {
        return this.failed('answer_lost', Number(said.details['cost_micro_usd'] ?? cap_micro_usd));
      }
      if (isAboveCap(said)) {
        const required = Number(said.details['required_micro']);
        if (!(await raiseCall(this.context.db, { ...this.place, reserve_micro: required }))) {
          return this.failed('above_budget', 0);
        }
        cap_micro_usd = required;
        continue;
      }
      const again = (said.status === 429 || said.status >= 500) && said.cost_micro === 0;
      if (!again || tries === RETRIES) return this.refused(said);
      tries++;
      await pause(said.retry_after_ms ?? BACKOFF_MS * 2 ** tries);
    }
  }

  private async answered(answer: Answered): Promise<Made> {
    const { cost_micro, written_off_micro } = answer;
    await this.close({ cost_micro, written_off_micro, error_code: '' });
    return { status: 'answered', answer };
  }

  private async refused(said: Refused): Promise<Made> {
    const reason = endsRun(said);
    if (reason !== null) await stopRun(this.context.db, { id: this.place.run_id, reason });
    return this.failed(said.code, said.cost_micro);
  }

  private async failed(code: string, cost_micro: number): Promise<Made> {
    await this.close({ cost_micro, written_off_micro: 0, error_code: code });
    return { status: 'failed', code, cost_micro };
  }

  private async close(end: {
    cost_micro: number;
    written_off_micro: number;
    error_code: string;
  }): Promise<void> {
    await closeCall(this.context.db, { ...this.place, ...end, at: this.context.now() });
  }
}

/**
 * Makes a call of a run, or finds what it has come to. @throws Error when the gateway does not answer: the same call
 * is then asked for again.
 */
export function makeCall(context: Context, wanted: CallWanted, reserves: Reserves): Promise<Made> {
  return new MakingCall(context, wanted, reserves).make();
}
