// Lists suites, or runs, newest first.
import type { Command } from '../../command.ts';
import { all, type RunShown, type SuiteShown } from '../../evals/gateway.ts';
import { columns, dollars, share, statusWords, targetName } from '../../evals/words.ts';
import { gatewayFlags } from '../../gateway-client.ts';

const DEFAULT_MAX = 50;

async function take<T>(rows: AsyncIterable<T>, max: number): Promise<T[]> {
  const taken: T[] = [];
  for await (const row of rows) {
    taken.push(row);
    if (taken.length === max) break;
  }
  return taken;
}

function runRow(run: RunShown): string[] {
  const { id, created_at, suite_name, suite_revision, score, cost_micro, targets } = run;
  return [
    ...[id, created_at.slice(0, 16), statusWords(run), share(score), dollars(cost_micro)],
    ...[`${suite_name} r${suite_revision}`, targets.map(targetName).join(', ')],
  ];
}

export const command: Command = {
  flags: {
    runs: { type: 'switch', doc: 'list runs in place of suites' },
    suite: { type: 'text', doc: 'only runs of this suite', value: 'ID' },
    max: {
      type: 'integer',
      doc: `rows at most, ${DEFAULT_MAX} unless given`,
      value: 'N',
      min: 1,
      max: 10_000,
    },
    ...gatewayFlags,
  },
  example: 'svcctl evals list --runs',
  async run(input) {
    const max = input.integer('max') ?? DEFAULT_MAX;
    const suite = input.find('suite');
    if (input.has('runs') || suite !== null) {
      const path = `/runs?limit=200${suite === null ? '' : `&suite_id=${encodeURIComponent(suite)}`}`;
      const runs = await take(all<RunShown>(input, path), max);
      return { json: { runs }, text: columns(runs.map(runRow)) || 'no runs' };
    }
    const suites = await take(all<SuiteShown>(input, '/suites?limit=200'), max);
    const rows = suites.map(({ id, updated_at, case_count, revision, name }) => [
      ...[id, updated_at.slice(0, 16), `${case_count} cases`, `r${revision}`, name],
    ]);
    return { json: { suites }, text: columns(rows) || 'no suites' };
  },
};
