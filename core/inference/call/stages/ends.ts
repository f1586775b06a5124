// Ends of a call that move no money: the hold is released, the caller gets an error, the row is written.
import { ServiceError } from '../../../kernel/index.ts';
import type { Relay } from '../../canonical/contract.ts';
import type { ReplyEnd, StreamFault } from '../../canonical/types.ts';
import { refusalFor } from '../answer/defect.ts';
import { emptyUsage, noCost } from '../answer/reply.ts';
import { GATEWAY_FAILED } from '../attempt/outcome.ts';
import { endAttempt } from '../record.ts';
import { soundUsage } from '../settle/usage.ts';
import type { CallRecord } from '../types.ts';
import type { Call } from './call.ts';
import { estimate, type Run, type Said, type Try } from './run.ts';

/** Ends a call whose money is or was held: its content goes to the log together with its row. */
export function finishRun(
  { call, keepContent }: Run,
  said: Said | null,
  end: { readonly status: CallRecord['status']; readonly http_status: number; readonly code: string },
): void {
  keepContent?.(call.record, said?.kept ?? null);
  call.finish(end.status, end.http_status, end.code);
}

/** What a refusal needs to know. */
export interface Refusal {
  readonly error: unknown;
  /** The caller's body, which may be nested too deeply to process; null when it is no longer kept. */
  readonly body: Buffer | null;
  /** Present when the row's status is `error` although nothing was tried. */
  readonly status?: 'error';
}

/** Sends the caller the refusal; returns how the row ends. */
function tellRefusal(
  { deps, record, answer }: Call,
  { error, body, status }: Refusal,
  said: Said | null,
): Parameters<typeof finishRun>[2] {
  const { request_id, warnings } = record;
  const ended = status ?? (record.attempts.length === 0 ? 'rejected' : 'error');
  const refusal = refusalFor(error, { log: deps.log, request_id, body });
  const end = { usage: emptyUsage(), cost: noCost(record.endpoint), warnings };
  const http_status = answer.fail(refusal, null, said?.meta ?? null, end);
  return { status: refusal.code === 'internal' ? 'error' : ended, http_status, code: refusal.code };
}

/** Ends a call with a refusal or a defect before money is held. */
export function refuseUnheld(call: Call, refusal: Refusal): void {
  call.leaveStages();
  const { status, http_status, code } = tellRefusal(call, refusal, null);
  call.finish(status, http_status, code);
}

/** Ends a call with a refusal or a defect before the first content. */
export function refuse(run: Run, said: Said | null, refusal: Refusal): void {
  const { call } = run;
  call.leaveStages();
  call.release();
  finishRun(run, said, tellRefusal(call, refusal, said));
}

/** Ends a call whose caller has left and owes nothing. */
export function cancel(run: Run, said: Said | null): void {
  run.call.leaveStages();
  run.call.release();
  finishRun(run, said, { status: 'cancelled', http_status: 499, code: 'client_closed' });
}

/**
 * Ends a stream with a fault after content: no other endpoint can be tried, the dialect's error is sent within the
 * stream, and nothing is charged (docs/outcomes.md#provider-fault-after-content). `shown` is the relay whose answer
 * the caller has read.
 */
export function failInStream(run: Run, now: Try, fault: StreamFault, shown: Relay | null): void {
  const { call } = run;
  const { attempt } = now;
  const { record } = call;
  call.leaveStages();
  call.release();
  const usage = soundUsage(attempt.state?.usage ?? null) ?? estimate(run, attempt);
  record.usage = usage;
  record.tool_calls = attempt.state?.tool_calls ?? 0;
  const cost = noCost(attempt.record.endpoint);
  tellFault(run, now, { fault, shown, end: { usage, cost, warnings: record.warnings } });
}

/**
 * Ends a stream because reading the answer met a defect of ours after content. It says nothing about the endpoint,
 * and no other endpoint is tried (docs/outcomes.md#gateway-defect).
 */
export function failByDefect(run: Run, now: Try, error: unknown, shown: Relay | null): void {
  const { deps, record } = run.call;
  endAttempt(now.attempt.record, 'error', 'gateway_defect');
  deps.log.error({ request_id: record.request_id, error }, 'relay failed');
  failInStream(run, now, GATEWAY_FAILED, shown);
}

/** Sends the caller a fault, with the cost if there was one. */
export function tellFault(
  run: Run,
  now: Said,
  shown_end: { readonly fault: StreamFault; readonly shown: Relay | null; readonly end: ReplyEnd },
): void {
  const { fault, shown, end } = shown_end;
  const cost = end.cost.total_micro_usd > 0 ? { cost: end.cost } : {};
  const { retry_after_ms } = fault;
  const error = new ServiceError(fault.code, fault.message, {
    details: { ...fault.details, ...cost },
    ...(retry_after_ms === undefined ? {} : { retry_after_ms }),
  });
  const http_status = run.call.answer.fail(error, shown, now.meta, end);
  finishRun(run, now, { status: 'error', http_status, code: fault.code });
}
