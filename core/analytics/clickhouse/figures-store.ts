// The figures of usage, as expressions.
import { SUMMED_FIGURES } from '../usage/sums-store.ts';

/** The figures of rows. */
export const FIGURES = `
  count() as requests, countIf(status = 'ok') as ok, countIf(status in ('error', 'rejected')) as errors,
  sum(input_tokens) as input_tokens, sum(output_tokens) as output_tokens, sum(cache_read_tokens) as cache_read_tokens,
  sum(cache_write_tokens) as cache_write_tokens, sum(reasoning_tokens) as reasoning_tokens, sum(cost_micro) as cost_micro`;
/** The same figures of sums `s`. */
export const SUMMED = SUMMED_FIGURES.map((name) => `sum(s.${name}) as ${name}`).join(', ');
