// Makes a suite of what another tool has, and says what is lost.
import { writeFileSync } from 'node:fs';
import { type Command, type Input, NAME, type Result, UsageError } from '../../command.ts';
import { type Read, readSuite } from '../../evals/read.ts';
import { bare, storeSuite } from '../../evals/store-suite.ts';
import { gatewayFlags } from '../../gateway-client.ts';

/** The flags that say how a file is read. */
export const readFlags = {
  data: { type: 'text', doc: 'the dataset of an OpenAI eval, JSONL', value: 'FILE' },
  prompt: { type: 'text', doc: 'what the model is asked, where the file does not say: "{{item.question}}"' },
  scorer: { type: 'text', doc: 'how rows of an Inspect dataset are scored: match, includes, choice, …' },
} as const;

export function readWithFlags(input: Input, file: string): Read {
  const options = { data: input.find('data'), prompt: input.find('prompt'), scorer: input.find('scorer') };
  return readSuite(file, options);
}

/** What a file of another tool has become, for people. */
export function lossLines({ format, suite, losses }: Read): string[] {
  if (format === 'svc') return [];
  const { rows } = losses;
  const changed = rows.length === 0 ? ['nothing is lost'] : losses.lines();
  return [`${suite.cases.length} cases out of ${format}`, ...changed];
}

async function keep(input: Input, read: Read): Promise<{ json: object; text: string }> {
  const { suite } = read;
  const name = input.find('name') ?? suite.name;
  const out = input.find('out');
  if (out !== null) {
    const { run } = suite;
    const file = { name, cases: suite.cases.map(bare), ...(Object.keys(run).length === 0 ? {} : { run }) };
    writeFileSync(out, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600 });
    return { json: { file: out }, text: `written to ${out}` };
  }
  const { suite: stored, done } = await storeSuite(input, { ...suite, name }, input.find('suite'));
  const { id, revision, case_count } = stored;
  return {
    json: { suite: { id, name: stored.name, revision, case_count }, done },
    text: `${id} ${stored.name}: revision ${revision} with ${case_count} cases is ${done}`,
  };
}

export const command: Command = {
  positionals: [
    {
      name: 'FILE',
      doc: 'an OpenAI eval or its samples, a promptfoo configuration, an Inspect dataset or log',
      required: true,
    },
  ],
  flags: {
    ...readFlags,
    name: { ...NAME, doc: 'name of the suite; default: what the file says, else its name' },
    suite: { type: 'text', doc: 'suite that gets a new revision; default: that of the name', value: 'ID' },
    out: { type: 'text', doc: 'write a file and store nothing; needs no gateway', value: 'FILE' },
    strict: { type: 'switch', doc: 'store nothing where anything is lost' },
    ...gatewayFlags,
  },
  example: 'svcctl evals import promptfooconfig.yaml',
  async run(input): Promise<Result> {
    const [file = ''] = input.positionals;
    const read = readWithFlags(input, file);
    const { rows } = read.losses;
    const report = lossLines(read);
    const facts = { format: read.format, cases: read.suite.cases.length, losses: rows };
    if (input.has('strict') && rows.length > 0) return { json: facts, text: report.join('\n'), ok: false };
    if (read.suite.cases.length === 0) throw new UsageError(['no case is left', ...report].join('\n'));
    const kept = await keep(input, read);
    return { json: { ...facts, ...kept.json }, text: [...report, kept.text].join('\n') };
  },
};
