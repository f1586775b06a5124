// Runs of agents, whose calls have one budget together (docs/limits.md#runs).
import { hmacSha256 } from '../../kernel/index.ts';

/** Of what a caller calls a run, in UTF-16 units. */
export const RUN_LENGTH_MAX = 128;

/**
 * The name under which the ledger counts the run `id` of a project: a UUID of HMAC-SHA256 under the organization's pepper, so
 * that what the caller wrote is not stored. Two spellings of Unicode are one.
 */
export function runOf(pepper: Uint8Array, of: { readonly project_no: number; readonly id: string }): string {
  const hex = hmacSha256(pepper, `run ${of.project_no} ${of.id.normalize('NFC')}`).toString('hex', 0, 16);
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
