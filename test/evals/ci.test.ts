// `svcctl evals run` as CI runs it: over a gateway and a worker, with an exit code for each way it can end.
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, test, vi } from 'vitest';
import type { Org } from '../calls/world.ts';
import { runSvcctl } from '../support/programs/svcctl.ts';
import { answering, startEvalWorld } from './world.ts';

vi.setConfig({ testTimeout: 150_000, hookTimeout: 150_000 });
const world = await startEvalWorld();
const folder = mkdtempSync(join(tmpdir(), 'svc-ci-'));

beforeAll(async () => {
  await world.worker();
});

const CASES = 10;

/** A model that doubles numbers below `right` and no others. */
function doubling(right: number) {
  const model = world.model('script');
  world.script.on(
    model.upstream,
    'a',
    answering(
      (asked) => {
        const n = Number(asked.match(/\d+/)?.[0]);
        return n <= right ? `<b>${n * 2}</b> & more` : 'I cannot.';
      },
      () => ({ input: 12, output: 4 }),
    ),
  );
  return model;
}

function suiteFile(name: string, run: object): string {
  const file = join(folder, `${name}.json`);
  const cases = Array.from({ length: CASES }, (_, n) => ({
    id: `double ${n + 1}`,
    input: {
      messages: [{ role: 'user', content: `Double ${n + 1}.` }],
      generation: { max_tokens: 16 },
    },
    grader: { kind: 'contains', expected: `${(n + 1) * 2}` },
  }));
  writeFileSync(file, JSON.stringify({ name, cases, run }));
  return file;
}

function evals(org: Org, ...words: string[]) {
  const base = words.includes('--base-url') ? [] : ['--base-url', world.gateway.base_url];
  return runSvcctl(['evals', ...words, ...base, '--key', org.live_key], { SVC_DATA_DIR: folder });
}

test('the exit code says whether every target reaches the threshold; progress and a report are written', async () => {
  const org = await world.org(10_000_000);
  const [good, bad] = [doubling(CASES), doubling(7)];
  const file = suiteFile('Doubling', {
    targets: [{ model: bad.id }],
    budget_micro: 1_000_000,
    threshold: 0.7,
  });
  const reached = await evals(org, 'run', file);
  expect([reached.code, reached.out], reached.err).toMatchObject([0, expect.stringContaining('0.700')]);
  expect(reached.out).toContain('reaches the threshold of 0.7');
  expect(reached.err).toContain(`${CASES} of ${CASES} answered: 7 passed, 3 failed`);

  const report = join(folder, 'report.xml');
  const below = await evals(
    ...([org, 'run', file, '--threshold', '0.8', '--target', `${good.id},${bad.id}`] as const),
    ...['--junit', report, '--json'],
  );
  expect(below.code, below.err).toBe(1);
  expect(JSON.parse(below.out)).toMatchObject({
    threshold: 0.8,
    run: { status: 'completed', suite_revision: 1 },
    targets: [{ score: 1 }, { score: 0.7 }],
  });
  const xml = readFileSync(report, 'utf8');
  expect(xml.match(/<testcase /g)).toHaveLength(2 * CASES);
  expect(xml).toContain('tests="10" failures="3" errors="0" skipped="0"');
  expect(xml).toContain('>I cannot.</failure>');
});

test('a target that is worse than in an earlier run fails, whatever its score', async () => {
  const org = await world.org(10_000_000);
  const [before, after] = [doubling(CASES), doubling(2)];
  const file = suiteFile('Compared', { budget_micro: 1_000_000, threshold: 0 });
  const first = await evals(org, 'run', file, '--target', before.id, '--json');
  expect(first.code, first.err).toBe(0);
  const { id } = JSON.parse(first.out).run;
  const worse = await evals(org, 'run', file, '--target', after.id, '--against', id);
  expect([worse.code, worse.out]).toMatchObject([1, expect.stringContaining(`worse than ${id}: -0.800`)]);
  const same = await evals(org, 'run', file, '--target', before.id, '--against', id);
  expect([same.code, same.out]).toMatchObject([0, expect.stringContaining('one cannot tell from')]);
  // A case with another question is no longer the same case.
  const changed = JSON.parse(readFileSync(file, 'utf8'));
  for (const one of changed.cases.slice(0, 5)) one.input.messages[0].content += ' Please.';
  writeFileSync(file, JSON.stringify(changed));
  const partly = await evals(org, 'run', file, '--target', after.id, '--against', id, '--json');
  expect(JSON.parse(partly.out)).toMatchObject({
    run: { suite_revision: 2 },
    comparisons: [{ cases: 5, changed: 5, from_run_id: id }],
  });
});

test('what is no verdict is told apart: 3 where the run was refused or stopped, 2 where the command is malformed', async () => {
  const org = await world.org(10_000_000);
  const model = doubling(CASES);
  const file = suiteFile('Ends', { targets: [{ model: model.id }], budget_micro: 100 });
  const stopped = await evals(org, 'run', file);
  expect([stopped.code, stopped.err]).toMatchObject([3, expect.stringContaining('stopped (budget)')]);
  expect(stopped.err).toContain('not every case was answered');
  const unknown = await evals(org, 'run', file, '--target', 'nobody/nothing');
  expect([unknown.code, unknown.err]).toMatchObject([3, expect.stringContaining('There is no model')]);
  const poor = await world.org(10);
  const refused = await evals(poor, 'run', file, '--budget-micro', '1000000');
  expect([refused.code, refused.err]).toMatchObject([3, expect.stringContaining('402')]);
  for (const words of [
    [join(folder, 'none.json')],
    [file, '--threshold', '2'],
    [file, '--repeat', '9'],
    [suiteFile('Unbudgeted', {})],
  ]) {
    const malformed = await evals(org, 'run', ...words);
    expect([words, malformed.code]).toEqual([words, 2]);
  }
  const { json } = await world.rest(org.live_key, 'GET', '/v1/evals/suites');
  expect(json['data'].map(({ name }: { name: string }) => name)).toEqual(['Ends']);
});

test('an interrupted command cancels its run, and what was answered stays', async () => {
  const org = await world.org(10_000_000);
  const model = world.model('script');
  const waiting: (() => void)[] = [];
  const answer = answering(
    () => '2',
    () => ({ input: 12, output: 1 }),
  );
  world.script.on(model.upstream, 'a', (response, received) => {
    waiting.push(() => answer(response, received));
  });
  const file = suiteFile('Interrupted', { targets: [{ model: model.id }], budget_micro: 1_000_000 });
  const interrupt = new AbortController();
  const running = runSvcctl(
    ['evals', 'run', file, '--base-url', world.gateway.base_url, '--key', org.live_key],
    { SVC_DATA_DIR: folder },
    { interrupt: interrupt.signal },
  );
  await expect.poll(() => waiting.length, { timeout: 60_000 }).toBe(4);
  interrupt.abort();
  const stopping = async () => {
    const { json } = await world.rest(org.live_key, 'GET', '/v1/evals/runs');
    return json['data'][0]?.['stop_reason'];
  };
  await expect.poll(stopping, { timeout: 60_000 }).toBe('cancelled');
  for (const go of waiting) go();
  const ended = await running;
  expect([ended.code, ended.err]).toMatchObject([3, expect.stringContaining('is cancelled')]);
});
