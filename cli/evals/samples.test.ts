// Samples in the documented forms of OpenAI evals, promptfoo and Inspect: what each becomes, what is reported as lost, that
// the graders judge as they did there, and that what is stored is the same when it is exported and imported again.
import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gradeText } from '@svc/core/evals/grade/grade.ts';
import type { CaseIn } from '@svc/core/evals/index.ts';
import { beforeAll, describe, expect, test } from 'vitest';
import { startHarness } from '../../test/registry/harness.ts';
import { runSvcctl } from '../../test/support/programs/svcctl.ts';
import { readSuite } from './read.ts';
import { bare } from './store-suite.ts';

interface Options {
  readonly data: string | null;
  readonly prompt: string | null;
  readonly scorer: string | null;
}

const folder = new URL('samples/', import.meta.url).pathname;
const none: Options = { data: null, prompt: null, scorer: null };
const questions: Options = {
  ...none,
  data: `${folder}openai/questions.jsonl`,
  prompt: '{{item.question}}',
};

interface Sample {
  readonly file: string;
  readonly options?: Options;
  /** Cases, and lines of the report. */
  readonly is: readonly [cases: number, lines: number];
  /** By case: what passes, and what does not. */
  readonly grades?: Readonly<Record<string, readonly [passes: readonly string[], fails: readonly string[]]>>;
  readonly reports: readonly string[];
}

const samples: readonly Sample[] = [
  {
    file: 'openai/string-check.json',
    is: [2, 2],
    grades: { case_1: [['Hardware'], ['hardware', 'Hardware ']] },
    reports: ['changed: the model gpt-4.1-mini: name targets in the run (model)'],
  },
  {
    file: 'openai/like-and-ilike.json',
    is: [2, 4],
    grades: { 'rail#1': [['An ICE'], ['an ice']], 'rail#2': [['the Station'], ['rail']] },
    reports: ['dropped: string_check ne: there is no grader that passes when texts differ (rail)'],
  },
  {
    file: 'openai/labels.json',
    is: [1, 3],
    reports: ['changed: label_model by gpt-4.1: name the judge in the run (case_1)'],
  },
  {
    file: 'openai/scores.json',
    is: [2, 5],
    reports: ['changed: score_model of 0 to 1: graded 1 to 10 (case_1)'],
  },
  {
    file: 'openai/similarity-and-python.json',
    is: [1, 5],
    reports: ['dropped: python: programs are not run here, and there is no such grader (case_1)'],
  },
  {
    file: 'openai/questions.eval.json',
    options: questions,
    is: [2, 2],
    grades: { sea: [['the pacific'], ['Atlantic']] },
    reports: ['dropped: string_check ilike that reads {{item.answer}}, which no case has (gap)'],
  },
  {
    file: 'openai/samples.jsonl',
    is: [2, 1],
    grades: { case_2: [['4', 'four apples'], ['It is 4']] },
    reports: [
      'changed: the class of the eval is not in its samples: graded as Match, by how answers begin (samples)',
    ],
  },
  {
    file: 'promptfoo/basic.yaml',
    is: [2, 1],
    grades: { French: [['Bonjour Ada'], ['Bonjour', 'bonjour Ada']], Spanish: [['HOLA'], ['Bonjour']] },
    reports: [],
  },
  {
    file: 'promptfoo/several-prompts.yaml',
    is: [6, 3],
    grades: { 'test_1#1': [['Rain.'], ['As an AI, I']], 'test_1-3#2': [['WET'], ['dry']] },
    reports: [],
  },
  {
    file: 'promptfoo/judged.yaml',
    is: [4, 4],
    reports: ['changed: llm-rubric with a threshold: graded 1 to 5 (polite)'],
  },
  {
    file: 'promptfoo/json.yaml',
    is: [2, 1],
    grades: {
      schema: [['{"colours":["red"]}'], ['{"colours":[1]}', 'none']],
      same: [['{ "colours": ["red"] }'], ['{"colours":["blue"]}']],
    },
    reports: [],
  },
  {
    file: 'promptfoo/lossy.yaml',
    is: [1, 8],
    grades: { programs: [['Sum: 3'], ['The Sum: 3']] },
    reports: [
      'dropped: the assertion javascript: there is no such grader (programs)',
      'dropped: a test that transforms answers by a program (transformed)',
      'dropped: a case without a grader that can be brought over (nothing)',
    ],
  },
  {
    file: 'promptfoo/matrix.yaml',
    is: [7, 2],
    grades: { quoted: [['YES!'], ['no']], 'two#1': [['no'], ['n o']], 'two#2': [['o n'], ['n']] },
    reports: [],
  },
  {
    file: 'promptfoo/refusals.json',
    is: [3, 3],
    grades: { 'set#1': [['3 2 1'], ['1 2']], 'set#2': [['1 2 3'], ['1 2 3 4']] },
    reports: ['changed: assert-set with a threshold: each counts for itself (set)'],
  },
  {
    file: 'inspect/theory.jsonl',
    is: [2, 1],
    grades: {
      door: [['Sally looks Under the mat.', 'under the mat'], ['under the mat, or the jar']],
      2: [['8!', 'Eight'], ['18 legs']],
    },
    reports: ['changed: a dataset names no scorer: graded as match() does (--scorer) (dataset)'],
  },
  {
    file: 'inspect/theory.jsonl',
    options: { ...none, scorer: 'includes' },
    is: [2, 0],
    grades: { door: [['under THE mat, or the jar'], ['in the jar']] },
    reports: [],
  },
  {
    file: 'inspect/choices.json',
    is: [2, 1],
    grades: { case_1: [['So\nANSWER: C'], ['ANSWER: A', 'C']], case_2: [['answer: A, C'], ['ANSWER: A']] },
    reports: [],
  },
  { file: 'inspect/words.csv', is: [2, 1], grades: { opposite: [['cold.'], ['hot']] }, reports: [] },
  {
    file: 'inspect/machine.jsonl',
    is: [1, 3],
    reports: [
      'dropped: a case with sandbox: models act on no machine here (flag)',
      'dropped: a message that is not all text (picture)',
    ],
  },
  {
    file: 'inspect/log.json',
    is: [2, 3],
    grades: {
      a: [
        ['It is 42', 'The sum of 12 and 30 is 42.'],
        ['42, not 43', '421'],
      ],
      b: [['1001'], ['1,002']],
    },
    reports: [
      'dropped: the solver chain_of_thought (plan)',
      'dropped: the answers and scores of the log (samples)',
    ],
  },
  { file: 'inspect/archive.eval', is: [2, 3], reports: ['dropped: the solver chain_of_thought (plan)'] },
  {
    file: 'inspect/graded.json',
    is: [2, 6],
    grades: { '1#2': [['ANSWER: Neon'], ['ANSWER: argon']] },
    reports: ['dropped: the scorer my_scorer: programs are not run here (1)'],
  },
];

const named = samples.map(
  (sample) => [`${sample.file}${sample.options ? ' with flags' : ''}`, sample] as const,
);

test('every committed sample is tried', () => {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const own = files.filter(
    (file) => /\.\w+$/.test(file) && !/prompts\/|matrix\.csv|questions\.jsonl/.test(file),
  );
  expect(own.sort()).toEqual([...new Set(samples.map(({ file }) => file))].sort());
  expect(samples.length).toBeGreaterThanOrEqual(20);
});

describe.each(named)('%s', (_name, sample) => {
  const { suite, losses, format } = readSuite(folder + sample.file, sample.options ?? none);

  test('becomes as many cases as it has, and what is lost is said', () => {
    expect(format).toBe(sample.file.split('/')[0]);
    const lines = losses.lines();
    expect([suite.cases.length, lines.length], JSON.stringify([suite, lines], null, 1)).toEqual(sample.is);
    expect(lines).toEqual(expect.arrayContaining([...sample.reports]));
  });

  test('grades as it did there', () => {
    for (const [id, [passes, fails]] of Object.entries(sample.grades ?? {})) {
      const { grader } = suite.cases.find((one) => one.id === id) as CaseIn;
      for (const text of passes) expect([text, gradeText(grader, text).passed]).toEqual([text, true]);
      for (const text of fails) expect([text, gradeText(grader, text).passed]).toEqual([text, false]);
    }
  });
});

test('an archive says the same as the log that it holds', () => {
  const [one, other] = ['log.json', 'archive.eval'].map((file) =>
    readSuite(`${folder}inspect/${file}`, none),
  );
  expect(other?.suite).toEqual(one?.suite);
  expect(one?.suite.run).toEqual({ repeat: 2 });
  expect(one?.suite.cases[0]?.input).toEqual({
    messages: [
      { role: 'system', content: 'You add numbers.' },
      { role: 'user', content: '12 + 30?\nEnd with the sum.' },
    ],
    generation: { max_tokens: 64, temperature: 0.5 },
  });
});

test('prompts, variables and settings of a configuration are those of its cases and runs', () => {
  const { suite } = readSuite(`${folder}promptfoo/several-prompts.yaml`, none);
  expect(suite.run).toEqual({
    targets: [{ model: 'openai/gpt-4o-mini' }, { model: 'anthropic/claude-sonnet-4-5' }],
    ...{ repeat: 2, concurrency: 8 },
  });
  expect(suite.cases.filter(({ id }) => id?.endsWith('#1')).map(({ input }) => input.messages)).toEqual([
    [{ role: 'user', content: 'Say one calm sentence about rain.' }],
    [{ role: 'user', content: 'Write calm words about rain.' }],
    [
      { role: 'system', content: 'You are calm.' },
      { role: 'user', content: 'Tell me about rain.' },
    ],
  ]);
});

describe('stored at a gateway', async () => {
  const harness = await startHarness();
  const data = mkdtempSync(join(tmpdir(), 'svc-evals-'));
  let base = '';
  beforeAll(async () => {
    base = await harness.app.listen({ host: '127.0.0.1', port: 0 });
  });
  const evals = (...words: string[]) =>
    runSvcctl(['evals', ...words, '--base-url', base, '--key', harness.a.key], { SVC_DATA_DIR: data });

  test('all samples come back as they were imported', async () => {
    for (const [n, { file, options = none }] of samples.entries()) {
      const { suite } = readSuite(folder + file, options);
      const made = await harness.call('POST', '/v1/evals/suites', {
        key: harness.a.key,
        body: { name: `${n} ${file}`, cases: suite.cases },
      });
      expect(made.statusCode, made.body).toBe(201);
      const exported = join(data, 'exported.json');
      const { cases, name } = made.json();
      writeFileSync(exported, JSON.stringify({ name, cases: cases.map(bare) }));
      const again = readSuite(exported, none);
      expect(again.suite.cases.map(bare)).toEqual(suite.cases.map(bare));
    }
  });

  test('the command imports once, makes a revision where a file has changed, and exports what it takes back', async () => {
    const file = `${folder}promptfoo/basic.yaml`;
    const first = await evals('import', file);
    expect([first.code, first.err]).toEqual([0, '']);
    expect(first.out).toContain('2 cases out of promptfoo');
    expect(first.out).toContain('Greetings: revision 1 with 2 cases is made');
    expect((await evals('import', file)).out).toContain('revision 1 with 2 cases is unchanged');
    const id = first.out.match(/es_[0-9A-Z]{26}/)?.[0] as string;
    const out = join(data, 'greetings.json');
    expect((await evals('export', id, '--out', out)).code).toBe(0);
    expect((await evals('import', out)).out).toContain('is unchanged');
    const other = await evals('import', `${folder}inspect/words.csv`, '--suite', id, '--json');
    expect(JSON.parse(other.out)).toMatchObject({
      done: 'changed',
      suite: { id, revision: 2 },
      format: 'inspect',
    });
    expect((await evals('list')).out).toContain(`${id}  `);
    expect((await evals('show', id)).out).toContain('What is the opposite of');
  });

  test('nothing is stored where anything is lost and that is not wanted, or where no case is left', async () => {
    const strict = await evals('import', `${folder}promptfoo/lossy.yaml`, '--strict', '--name', 'Strict');
    expect([strict.code, strict.out]).toMatchObject([1, expect.stringContaining('javascript')]);
    const empty = join(data, 'empty.jsonl');
    writeFileSync(empty, '{"input": "Find it.", "target": "x", "sandbox": "docker"}\n');
    const left = await evals('import', empty);
    expect([left.code, left.err]).toMatchObject([2, expect.stringContaining('models act on no machine')]);
    expect((await evals('list')).out).not.toContain('Strict');
  });

  test.each([
    ['torn.json', '{"eval": ', 'torn.json'],
    ['torn.jsonl', '{"input": "a", "target": "b"}\n{"input', 'torn.jsonl:2'],
    ['rows.jsonl', '{"item": {"a": 1}}', '--data'],
    ['other.yaml', 'a: 1', 'is neither'],
    ['cut.eval', 'PK\u0003\u0004aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 'not whole'],
  ])('%s is refused with the reason', async (name, text, reason) => {
    const file = join(data, name);
    writeFileSync(file, text);
    const refused = await evals('import', file);
    expect([refused.code !== 0, refused.err]).toMatchObject([true, expect.stringContaining(reason)]);
  });
});
