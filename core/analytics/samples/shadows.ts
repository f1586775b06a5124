// What rows say of shadows: how a copy went, beside the call that it was made of.
import type { RequestRow } from '../types.ts';

/** The samples of a batch as columns, in the order of `insertShadowSamples`; null where it has none. */
export function shadowSampleColumns(batch: readonly RequestRow[]): readonly unknown[][] | null {
  const samples = batch.flatMap(({ request_id, shadow }) =>
    shadow === undefined ? [] : [{ request_id, ...shadow }],
  );
  if (samples.length === 0) return null;
  return [
    samples.map(({ request_id }) => request_id),
    samples.map(({ name }) => name),
    samples.map(({ version }) => version),
    samples.map(({ shadow_endpoint }) => shadow_endpoint),
    samples.map(({ primary_endpoint }) => primary_endpoint),
    samples.map(({ bill }) => bill),
    samples.map(({ stop_mismatch }) => stop_mismatch),
    samples.map(({ primary_cost_micro }) => primary_cost_micro),
    samples.map(({ shadow_cost_micro }) => shadow_cost_micro),
    samples.map(({ primary_ttft_ms }) => primary_ttft_ms),
    samples.map(({ shadow_ttft_ms }) => shadow_ttft_ms),
  ];
}
