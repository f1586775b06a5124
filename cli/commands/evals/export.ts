// Writes a suite as a file that `svcctl evals import` and `run` take, or the results of a run, one JSON object a line.
import { writeFileSync } from 'node:fs';
import { type Command, type Input, type Result, UsageError } from '../../command.ts';
import { all, ask, type ResultShown, type RunShown } from '../../evals/gateway.ts';
import { junitOf } from '../../evals/junit.ts';
import { bare, getSuite } from '../../evals/store-suite.ts';
import { gatewayFlags } from '../../gateway-client.ts';

function given(input: Input, text: string, json: object): Result {
  const out = input.find('out');
  if (out === null) return { json, text };
  writeFileSync(out, text, { mode: 0o600 });
  return { json: { file: out }, text: `written to ${out}` };
}

async function exportRun(input: Input, id: string): Promise<Result> {
  const path = `/runs/${encodeURIComponent(id)}`;
  const results: ResultShown[] = [];
  for await (const one of all<ResultShown>(input, `${path}/results?limit=500`)) results.push(one);
  if (!input.has('junit')) {
    return given(input, `${results.map((one) => JSON.stringify(one)).join('\n')}\n`, { results });
  }
  const report = junitOf(await ask<RunShown>(input, { method: 'GET', path }), results);
  return given(input, report, { junit: report });
}

export const command: Command = {
  positionals: [{ name: 'ID', doc: 'a suite (es_…) or a run (er_…)', required: true }],
  flags: {
    out: { type: 'text', doc: 'file to write; default: standard output', value: 'FILE' },
    junit: { type: 'switch', doc: 'of a run: a JUnit report' },
    ...gatewayFlags,
  },
  example: 'svcctl evals export es_01KACZ3V8S6T5R4Q3P2N1M0K9J --out capitals.json',
  async run(input) {
    const [id = ''] = input.positionals;
    if (id.startsWith('er_')) return exportRun(input, id);
    if (!id.startsWith('es_')) {
      throw new UsageError(`ID is that of a suite (es_…) or of a run (er_…), got ${JSON.stringify(id)}`);
    }
    const { name, cases } = await getSuite(input, id);
    const file = { name, cases: cases.map(bare) };
    return given(input, `${JSON.stringify(file, null, 2)}\n`, file);
  },
};
