// Requests about evaluations to the gateway that the flags name.
import { setTimeout as pause } from 'node:timers/promises';
import type { CaseIn } from '@svc/core/evals/index.ts';
import { isObject } from '@svc/core/kernel/index.ts';
import type { Input } from '../command.ts';
import { call, readTarget } from '../gateway-client.ts';

export interface SuiteShown {
  readonly id: string;
  readonly name: string;
  readonly revision: number;
  readonly case_count: number;
  readonly updated_at: string;
}

export interface SuiteWhole extends SuiteShown {
  readonly cases: readonly (CaseIn & { readonly id: string })[];
}

export interface Target {
  readonly model: string;
  readonly endpoint: string;
}

export interface RunShown {
  readonly id: string;
  readonly suite_id: string;
  readonly suite_name: string;
  readonly suite_revision: number;
  readonly targets: readonly Target[];
  readonly status: string;
  readonly stop_reason: string;
  readonly budget_micro: number;
  readonly estimate_micro: number;
  readonly cost_micro: number;
  readonly counts: Readonly<Record<'total' | 'done' | 'passed' | 'failed' | 'errors' | 'skipped', number>>;
  readonly score: number | null;
  readonly score_low: number | null;
  readonly score_high: number | null;
  readonly created_at: string;
  readonly finished_at: string | null;
}

export interface ScoreShown {
  readonly target: Target;
  readonly answers: number;
  readonly errors: number;
  readonly score: number;
  readonly score_low: number;
  readonly score_high: number;
  readonly cost_micro: number;
}

export interface ComparisonShown {
  readonly run_id: string;
  readonly from_run_id: string;
  readonly cases: number;
  readonly changed: number;
  readonly difference: number;
  readonly low: number;
  readonly high: number;
  readonly p: number;
  readonly decision: 'better' | 'worse' | 'cannot_tell';
}

export interface ResultShown {
  readonly case_id: string;
  readonly target: Target;
  readonly repeat_index: number;
  readonly status: 'passed' | 'failed' | 'error' | 'skipped';
  readonly score: number;
  readonly grader_kind: string;
  readonly grader_detail: Readonly<Record<string, unknown>>;
  readonly output: string | null;
  readonly request_id: string;
  readonly duration_ms: number | null;
  readonly error_code: string;
}

/** A request that the gateway has refused. */
export class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(`${status} ${message}`);
    this.status = status;
  }
}

function refusalOf(status: number, value: unknown, text: string): Refusal {
  const error = isObject(value) && isObject(value['error']) ? value['error'] : {};
  const details = isObject(error['details']) ? error['details'] : {};
  const faults = Array.isArray(details['faults']) ? details['faults'].filter(isObject) : [];
  const lines = faults.map(({ param, message }) => `  ${String(param)}: ${String(message)}`);
  return new Refusal(status, [String(error['message'] ?? text.slice(0, 500)), ...lines].join('\n'));
}

/** Tries of a request whose answer did not come or says that it can succeed later. */
const TRIES = 30;
const PAUSE_MS = 1_000;

async function once(
  input: Input,
  request: { method: string; path: string; body: string | null; headers: Readonly<Record<string, string>> },
): Promise<unknown> {
  const { status, ok, value, text } = await call(readTarget(input), request);
  if (!ok) throw refusalOf(status, value, text);
  return value;
}

function passes(error: unknown): boolean {
  if (error instanceof Refusal) return error.status === 429 || error.status === 503;
  // What `fetch` throws where nobody answers.
  return error instanceof TypeError;
}

/**
 * A request; `T` is what the operation answers. One that may be repeated is, while the gateway is restarted.
 * @throws Refusal
 */
export async function ask<T>(
  input: Input,
  request: { method: 'GET' | 'POST' | 'PATCH'; path: string; body?: object; key?: string },
): Promise<T> {
  const { method, path, body, key } = request;
  const sent = {
    ...{ method, path: `/v1/evals${path}`, body: body === undefined ? null : JSON.stringify(body) },
    headers: key === undefined ? {} : { 'idempotency-key': key },
  };
  for (let tries = 1; ; tries++) {
    try {
      return (await once(input, sent)) as T;
    } catch (error) {
      const again = passes(error) && (method === 'GET' || key !== undefined);
      if (!again || tries === TRIES) throw error;
      await pause(PAUSE_MS);
    }
  }
}

/** All rows of a list, page after page. */
export async function* all<T>(input: Input, path: string): AsyncGenerator<T> {
  const joint = path.includes('?') ? '&' : '?';
  for (let cursor = ''; ; ) {
    const place = cursor === '' ? '' : `${joint}cursor=${encodeURIComponent(cursor)}`;
    const page = await ask<{ data: T[]; next_cursor: string }>(input, { method: 'GET', path: path + place });
    yield* page.data;
    if (page.next_cursor === '') return;
    cursor = page.next_cursor;
  }
}
