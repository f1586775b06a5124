// Reads the budget of a run, `svc.budget` (docs/limits.md#runs).
import type { JsonObject } from '../../kernel/index.ts';
import { RUN_LENGTH_MAX } from '../../ledger/index.ts';
import type { SvcOptions } from '../canonical/types.ts';
import {
  fail,
  type Headers,
  headerObject,
  optionalNumber,
  present,
  refuseUnknown,
  requireObject,
  requireString,
} from './read.ts';

const BUDGET_KEYS = new Set(['id', 'max_micro']);

/**
 * The budget of the run of a call: that of the body, or of the header, whole. An id without a budget is refused: a call that
 * was meant to be limited must not go unlimited.
 */
export function readBudget(svc: JsonObject, at: string, headers: Headers): SvcOptions['budget'] {
  const inBody = present(svc['budget']);
  if (!inBody && !present(headers['x-svc-budget'])) return undefined;
  const path = inBody ? `${at}budget` : 'x-svc-budget';
  const object = inBody ? requireObject(svc['budget'], path) : headerObject(headers, path);
  refuseUnknown(object, BUDGET_KEYS, path);
  const id = requireString(object['id'], `${path}.id`, { max: RUN_LENGTH_MAX });
  if (id.trim() === '') fail(`${path}.id`, `'${path}.id' must name the run.`);
  const limits = { min: 0, max: Number.MAX_SAFE_INTEGER, integer: true };
  const max_micro = optionalNumber(object['max_micro'], `${path}.max_micro`, limits);
  return { id, max_micro: max_micro ?? fail(`${path}.max_micro`, `'${path}.max_micro' is required.`) };
}
