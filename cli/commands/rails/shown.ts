// How comparisons with the books of rails are shown.
import { type Comparison, type Finding, isAsked } from '@svc/core/settlements/index.ts';

const LISTED = ['payments', 'refunds', 'disputes', 'lines', 'payouts'] as const;

/** A comparison as JSON. */
export function viewOf(comparison: Comparison): object {
  const { rail, day, compared_at, failed_at, failure, counts, findings } = comparison;
  const at = (date: Date | null) => date?.toISOString() ?? null;
  return { rail, day, compared_at: at(compared_at), failed_at: at(failed_at), failure, counts, findings };
}

function lineOf({ kind, subject, details }: Finding): string {
  const { rail: _, ...rest } = details;
  const facts = Object.entries(rest).map(([name, value]) => `${name}=${value}`);
  return `  ${isAsked({ kind }) ? 'LOOK' : 'booked'}  ${kind}  ${subject}  ${facts.join(' ')}`;
}

/** A comparison in words: what the rail listed, and what was found. */
export function textOf({ rail, day, compared_at, failure, counts, findings }: Comparison): string {
  if (compared_at === null) return `${day}  ${rail}  not compared${failure === null ? '' : `: ${failure}`}`;
  const listed = LISTED.map((name) => `${counts[name] ?? 0} ${name}`);
  const verdict = failure === null ? '' : `, and not again since: ${failure}`;
  const head = `${day}  ${rail}  ${listed.join(', ')}; ${findings.length === 0 ? 'nothing differed' : `${findings.length} found`}${verdict}`;
  return [head, ...findings.map(lineOf)].join('\n');
}

/** Nothing on it is for a person to look at, and it was compared. */
export function isRight({ compared_at, failure, findings }: Comparison): boolean {
  return compared_at !== null && failure === null && !findings.some(isAsked);
}
