// A suite and a run for tests of lists, tenants and events, without a worker.
import { insertRun } from '@svc/core/evals/runs/store.ts';
import { insertCases, insertSuite } from '@svc/core/evals/suites/store.ts';
import { type Context, type Id, newId } from '@svc/core/kernel/index.ts';
import type { Tenant } from './harness.ts';

/** A suite of one case, and a run of it that waits. */
export async function makeEvalRows(
  context: Context,
  { org, live }: Pick<Tenant, 'org' | 'live'>,
): Promise<{ suite: Id<'eval_suite'>; run: Id<'eval_run'> }> {
  const at = context.now();
  const [suite, run] = [newId('eval_suite'), newId('eval_run')];
  const { db } = context;
  await insertSuite(db, { id: suite, org_id: org.id, name: 'Capitals', case_count: 1, at });
  const input = { messages: [{ role: 'user', content: 'Capital of France?' }] };
  const body = { input, grader: { kind: 'exact', expected: 'Paris' } as const, weight: 1, tags: [] };
  await insertCases(db, { suite_id: suite, revision: 1, cases: [{ case_no: 0, case_id: 'fr', body }] });
  await insertRun(db, {
    ...{ id: run, org_id: org.id, project_id: live.id, environment: 'live', key_id: null, key_no: 1 },
    ...{ suite_id: suite, suite_name: 'Capitals', suite_revision: 1, case_count: 1 },
    ...{
      targets: [{ model: 'a/b', endpoint: '' }],
      repeat: 1,
      concurrency: 1,
      judge_model: '',
      judge_samples: 1,
    },
    ...{ budget_micro: 1_000, estimate_micro: 10, outputs_until: null, created_at: at },
  });
  return { suite, run };
}
