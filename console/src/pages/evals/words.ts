// How suites, runs and results are said. Pure.
import type {
  EvalComparisonQuery,
  EvalResultRowFragment,
  EvalRunRowFragment,
  EvalSuiteCasesQuery,
} from '../../api/gen/tools/graphql.ts';
import { plural } from '../../ui/format/numbers.ts';
import type { Shape, Tone } from '../../ui/status.tsx';

interface Mark {
  readonly tone: Tone;
  readonly shape: Shape;
  readonly word: string;
}

type RunState = Pick<EvalRunRowFragment, 'status' | 'stopReason'>;

const stopWords: Readonly<Record<string, string>> = {
  budget: 'budget spent',
  credits: 'out of credit',
  error: 'could not go on',
};

/** How a run stands, with the reason where it did not come to its end. */
export function markOfRun({ status, stopReason }: RunState): Mark {
  if (status === 'COMPLETED') return { tone: 'ok', shape: 'ok', word: 'completed' };
  if (status === 'CANCELLED') return { tone: 'mute', shape: 'mute', word: 'cancelled' };
  if (status === 'FAILED') return { tone: 'bad', shape: 'bad', word: 'failed' };
  if (status === 'STOPPED')
    return { tone: 'warn', shape: 'warn', word: `stopped: ${stopWords[stopReason] ?? stopReason}` };
  // No more calls begin, and those under way still end.
  if (stopReason !== '') return { tone: 'mute', shape: 'half', word: 'ending' };
  if (status === 'PENDING') return { tone: 'mute', shape: 'half', word: 'waiting' };
  return { tone: 'ok', shape: 'run', word: 'running' };
}

export function markOfResult({ status }: Pick<EvalResultRowFragment, 'status'>): Mark {
  const marks: Readonly<Record<EvalResultRowFragment['status'], Mark>> = {
    PASSED: { tone: 'ok', shape: 'ok', word: 'passed' },
    FAILED: { tone: 'bad', shape: 'bad', word: 'failed' },
    ERROR: { tone: 'warn', shape: 'warn', word: 'error' },
    SKIPPED: { tone: 'mute', shape: 'mute', word: 'skipped' },
  };
  return marks[status];
}

export function targetText({ model, endpoint }: { model: string; endpoint: string }): string {
  return (model === '' ? 'model of each case' : model) + (endpoint === '' ? '' : ` at ${endpoint}`);
}

/** A score from 0 to 1 with three digits; unknown is a dash. */
export function scoreText(score: number | null | undefined): string {
  return score === null || score === undefined ? '–' : (Math.round(score * 1_000) / 1_000).toString();
}

/** "0.8 to 0.95". */
export function boundsText(low: number | null | undefined, high: number | null | undefined): string {
  return `${scoreText(low)} to ${scoreText(high)}`;
}

type Comparison = NonNullable<EvalComparisonQuery['evalComparison']>;

/** What a comparison says, in one sentence; `to` against `from`. */
export function verdictOf({
  decision,
  cases,
  changed,
}: Pick<Comparison, 'decision' | 'cases' | 'changed'>): string {
  const left = changed > 0 ? ` ${plural(changed, 'case')} changed since and left out.` : '';
  const over = `over ${plural(cases, 'case')}.${left}`;
  if (decision === 'BETTER') return `Better, ${over}`;
  if (decision === 'WORSE') return `Worse, ${over}`;
  return `One cannot tell ${over}`;
}

type SuiteCase = NonNullable<EvalSuiteCasesQuery['evalSuiteCases']>['nodes'][number];

function partText(part: unknown): string {
  if (typeof part === 'string') return part;
  const { text, type } = (part ?? {}) as { text?: unknown; type?: unknown };
  return typeof text === 'string' ? text : `[${String(type)}]`;
}

/** What a case asks: the text of its last message. */
export function askedText({ input }: Pick<SuiteCase, 'input'>): string {
  const last = input.messages.at(-1) as { content?: unknown } | undefined;
  const { content } = last ?? {};
  return Array.isArray(content) ? content.map(partText).join(' ') : partText(content);
}

/** What its grader wants. */
export function graderText({ grader }: Pick<SuiteCase, 'grader'>): string {
  const { kind, expected, mode, pattern, rubric } = grader;
  const listed = [expected].flat().map(String).join(', ');
  if (kind === 'REGEX') return `matches ${pattern}`;
  if (kind === 'JUDGE') return `judge: ${rubric}`;
  if (kind === 'JSON_SCHEMA') return 'JSON that fits a schema';
  if (kind === 'NUMERIC') return `the number ${listed}`;
  if (kind === 'CONTAINS') return `contains ${mode ?? 'all'} of: ${listed}`;
  return `is: ${listed}`;
}

/** Why an answer has its grade, as far as the grader says. */
export function reasonText({
  errorCode,
  graderDetail,
}: Pick<EvalResultRowFragment, 'errorCode' | 'graderDetail'>): string {
  if (errorCode !== '') return errorCode;
  const detail = (graderDetail ?? {}) as Readonly<Record<string, unknown>>;
  const { reason } = detail;
  if (typeof reason === 'string') return reason;
  return Object.entries(detail)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');
}

/** Models, one a line or between commas. */
export function modelsIn(text: string): string[] {
  return [...new Set(text.split(/[\n,]/).map((one) => one.trim()))].filter(Boolean);
}

/** Dollars as people type them, "0.50", in micro-USD; null where that is none, or below one. */
export function microOf(text: string): string | null {
  const match = /^\s*\$?\s*(\d{1,6})(?:[.](\d{1,6}))?\s*$/.exec(text);
  if (match === null) return null;
  const micro = BigInt(match[1] as string) * 1_000_000n + BigInt((match[2] ?? '').padEnd(6, '0'));
  return micro >= 1n ? micro.toString() : null;
}

/** The budget that a form begins with: what the estimate says, in dollars. */
export function dollarsOf(micro: string): string {
  const digits = micro.padStart(7, '0');
  return `${digits.slice(0, -6)}.${digits.slice(-6)}`;
}
