// Shows a suite with its cases in short, or a run with the score of each target.
import { type Command, type Input, type Result, UsageError } from '../../command.ts';
import { ask, type RunShown, type ScoreShown } from '../../evals/gateway.ts';
import { getSuite } from '../../evals/store-suite.ts';
import { columns, dollars, progressLine, scoreLine, statusWords } from '../../evals/words.ts';
import { gatewayFlags } from '../../gateway-client.ts';

const CASES_SHOWN = 20;
const ASKED_MAX = 60;

async function showSuite(input: Input, id: string): Promise<Result> {
  const suite = await getSuite(input, id);
  const shown = suite.cases.slice(0, CASES_SHOWN).map(({ id, input: asked, grader }) => {
    const words = String(asked.messages.at(-1)?.['content'] ?? '').replace(/\s+/g, ' ');
    return [`  ${id}`, grader.kind, words.length > ASKED_MAX ? `${words.slice(0, ASKED_MAX - 1)}…` : words];
  });
  const more = suite.case_count > CASES_SHOWN ? [`  and ${suite.case_count - CASES_SHOWN} more`] : [];
  const head = `${suite.id}  ${suite.name}  revision ${suite.revision}, ${suite.case_count} cases`;
  return { json: suite, text: [head, columns(shown), ...more].join('\n') };
}

async function showRun(input: Input, id: string): Promise<Result> {
  const path = `/runs/${encodeURIComponent(id)}`;
  const run = await ask<RunShown>(input, { method: 'GET', path });
  const { data } = await ask<{ data: ScoreShown[] }>(input, { method: 'GET', path: `${path}/targets` });
  const text = [
    `${run.id}  ${run.suite_name} r${run.suite_revision}  ${statusWords(run)}`,
    `${progressLine(run)} (at most ${dollars(run.estimate_micro)})`,
    ...data.map(scoreLine),
  ];
  return { json: { run, targets: data }, text: text.join('\n') };
}

export const command: Command = {
  positionals: [{ name: 'ID', doc: 'a suite (es_…) or a run (er_…)', required: true }],
  flags: gatewayFlags,
  example: 'svcctl evals show er_01KACZ3V8S6T5R4Q3P2N1M0K9J',
  async run(input) {
    const [id = ''] = input.positionals;
    if (id.startsWith('es_')) return showSuite(input, id);
    if (id.startsWith('er_')) return showRun(input, id);
    throw new UsageError(`ID is that of a suite (es_…) or of a run (er_…), got ${JSON.stringify(id)}`);
  },
};
