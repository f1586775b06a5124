// How suites, runs and figures are shown on the command line.
import type { ComparisonShown, RunShown, ScoreShown, Target } from './gateway.ts';

/** Micro-USD as dollars with all digits. */
export function dollars(micro: number): string {
  const digits = String(Math.abs(micro)).padStart(7, '0');
  return `${micro < 0 ? '-' : ''}$${digits.slice(0, -6)}.${digits.slice(-6)}`;
}

/** A share with three decimals: 0.917. */
export function share(value: number | null): string {
  return value === null ? '-' : value.toFixed(3);
}

export function targetName({ model, endpoint }: Target): string {
  return (model === '' ? 'the model of each case' : model) + (endpoint === '' ? '' : ` at ${endpoint}`);
}

export function progressLine({ counts, cost_micro, budget_micro }: RunShown): string {
  const { done, total, passed, failed, errors } = counts;
  const wrong = errors > 0 ? `, ${errors} errors` : '';
  return `${done} of ${total} answered: ${passed} passed, ${failed} failed${wrong}; ${dollars(cost_micro)} of ${dollars(budget_micro)}`;
}

export function statusWords({ status, stop_reason }: RunShown): string {
  return stop_reason === '' || stop_reason === status ? status : `${status} (${stop_reason})`;
}

export function scoreLine({ target, score, score_low, score_high, errors, cost_micro }: ScoreShown): string {
  const wrong = errors > 0 ? `  ${errors} errors` : '';
  return `${share(score)}  (95 %: ${share(score_low)} to ${share(score_high)})  ${dollars(cost_micro)}  ${targetName(target)}${wrong}`;
}

export function comparisonLine(comparison: ComparisonShown): string {
  const { decision, difference, low, high, cases, changed, from_run_id, p } = comparison;
  const words = { better: 'better than', worse: 'worse than', cannot_tell: 'one cannot tell from' }[decision];
  const left = changed > 0 ? `, ${changed} changed and left out` : '';
  const sign = difference > 0 ? '+' : '';
  return `${words} ${from_run_id}: ${sign}${share(difference)} (95 %: ${share(low)} to ${share(high)}), p ${share(p)}, ${cases} cases${left}`;
}

/** Rows with columns of equal width. */
export function columns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, n) => Math.max(...rows.map((row) => (row[n] ?? '').length)));
  return rows
    .map((row) =>
      row
        .map((cell, n) => cell.padEnd(widths[n] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
