// Committed histories run through today's workflow code: a change that would break what is under way fails here first. A deliberate change of steps goes behind `patched`, and a history of it is added
// (`RECORD_HISTORIES=1 npx vitest run test/workflows/timers.test.ts`, refund.test.ts, auto-top-up.test.ts plan-period.test.ts,
// closing.test.ts, org-erasure.test.ts, registration.test.ts or test/evals/ways-to-end.test.ts).
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { silentLog } from '@svc/core/kernel/index.ts';
import { bundleWorkflows } from '@svc/workflows/bundle.ts';
import { installRuntime, sdkLogger } from '@svc/workflows/sdk-log.ts';
import { bundleWorkflowCode, Worker } from '@temporalio/worker';
import { describe, expect, test } from 'vitest';
import { readHistory } from './history.ts';

installRuntime(silentLog);
const folderOf = (name: string) => new URL(`../../workflows/${name}/histories/`, import.meta.url).pathname;
const folder = folderOf('top-up');
const filesOf = (name: string) => readdirSync(folderOf(name)).filter((file) => file.endsWith('.json'));
const KINDS = {
  topUp: 'top-up',
  refund: 'refund',
  mandate: 'mandate',
  autoTopup: 'auto-top-up',
  planPeriod: 'plan-period',
  dispute: 'dispute',
  invoiceIssue: 'invoice-issue',
  orgClose: 'org-close',
  erasure: 'erasure',
  orgErasure: 'org-erasure',
  evalRun: 'eval-run',
} as const;
const all = Object.entries(KINDS).flatMap(([type, name]) =>
  filesOf(name).map((file) => [`${name}/${file}`, type, join(folderOf(name), file)] as const),
);
const workflowBundle = await bundleWorkflows(sdkLogger(silentLog));

// A refund without an end asks as a late one does, for 14 days: two megabytes that hold nothing else.
// Three days of grace look 72 times, like the hours before credit came.
test('there is a history of every way a workflow ends', () => {
  expect(filesOf('plan-period').sort()).toEqual(['given-up.json', 'paid-in-grace.json', 'paid.json']);
  expect(filesOf('erasure').sort()).toEqual(['completed.json', 'given-up.json']);
  expect(filesOf('org-erasure').sort()).toEqual(['completed.json', 'reported.json', 'taken-back.json']);
  expect(filesOf('eval-run').sort()).toEqual([
    'budget-spent.json',
    'cancelled.json',
    'completed.json',
    'given-up.json',
  ]);
  // A closing that is given up looks 200 times.
  expect(filesOf('org-close').sort()).toEqual([
    'nothing-left.json',
    'paid-late.json',
    'refunded.json',
    'reopened.json',
  ]);
  expect(filesOf('mandate').sort()).toEqual([
    'cancelled.json',
    'lapsed.json',
    'never-paid.json',
    'paid-after-the-end.json',
    'registered.json',
  ]);
  expect(filesOf('auto-top-up').sort()).toEqual(['declined.json', 'paid.json', 'skipped.json']);
  expect(filesOf('dispute').sort()).toEqual(['lost-by-poll.json', 'silent.json', 'won-by-callback.json']);
  expect(filesOf('invoice-issue').sort()).toEqual([
    'late.json',
    'portal-down.json',
    'refused.json',
    'registered.json',
  ]);
  expect(filesOf('refund').sort()).toEqual(['declined.json', 'late.json', 'rail-down.json', 'refunded.json']);
  expect(filesOf('top-up').sort()).toEqual([
    'cancelled.json',
    'expired.json',
    'found-by-state.json',
    'paid-by-callback.json',
    'paid-by-poll.json',
    'paid-late.json',
    'rail-down.json',
    'started-late.json',
  ]);
});

test.each(all)('%s is replayed to its end by the code of today', async (name, type, path) => {
  const history = readHistory(path);
  const first = history.events?.[0]?.workflowExecutionStartedEventAttributes;
  expect(first?.workflowType?.name).toBe(type);
  expect(history.events?.at(-1)?.workflowExecutionCompletedEventAttributes).toBeTruthy();
  await Worker.runReplayHistory({ workflowBundle }, history, name);
});

test('a workflow with other steps is refused: the replay would notice', async () => {
  const workflowsPath = new URL('other-steps.ts', import.meta.url).pathname;
  const other = await bundleWorkflowCode({ workflowsPath, logger: sdkLogger(silentLog) });
  const history = readHistory(join(folder, 'paid-by-callback.json'));
  await expect(Worker.runReplayHistory({ workflowBundle: other }, history, 'topup')).rejects.toMatchObject({
    name: 'DeterminismViolationError',
  });
});

describe('the bundle', () => {
  const { code } = workflowBundle;
  // Webpack names each module by its path in a comment or in a key of its table.
  const modules = new Set(
    [...code.matchAll(/"(\.\.?\/[^"\n]+?\.(?:ts|js|mjs|cjs))"/g)].map(([, path]) => path as string),
  );

  test('holds the workflows and nothing else of ours: types of core, no code of it', () => {
    const ours = [...modules].filter((path) => path.endsWith('.ts') && !path.includes('node_modules'));
    expect(ours.map((path) => path.replace(/^.*workflows\//, '')).sort()).toEqual([
      'auto-top-up/schedule.ts',
      'auto-top-up/workflow.ts',
      'dispute/workflow.ts',
      'erasure/workflow.ts',
      'eval-run/workflow.ts',
      'invoice-issue/workflow.ts',
      'mandate/workflow.ts',
      'org-close/workflow.ts',
      'org-erasure/workflow.ts',
      'plan-period/workflow.ts',
      'refund/workflow.ts',
      'search.ts',
      'top-up/schedule.ts',
      'top-up/workflow.ts',
      'workflows.ts',
    ]);
    expect([...modules].filter((path) => /\/core\/(?!bridge)/.test(path) && path.endsWith('.ts'))).toEqual(
      [],
    );
  });

  test('reaches nothing of Node', () => {
    expect(code).not.toMatch(/require\(["']node:/);
    expect(code).not.toMatch(/from ["']node:/);
    expect([...modules].filter((path) => path.includes('node:'))).toEqual([]);
  });

  test('is not large', () => {
    // 1.6 MB, most of it Temporal's own code and the source map.
    process.stdout.write(`workflow bundle: ${Math.round(code.length / 1024)} KB\n`);
    expect(code.length).toBeLessThan(3_000_000);
  });
});
