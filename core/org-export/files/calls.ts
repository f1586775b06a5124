// How calls are routed, what they were, and what was evaluated.
import {
  getLimitsOperation,
  getUsageOperation,
  listRequestsOperation,
  listUsageViewsOperation,
  readDetails,
} from '../../analytics/index.ts';
import {
  listCasesOperation,
  listResultsOperation,
  listRunsOperation,
  listSuitesOperation,
  suiteHistoryOperation,
} from '../../evals/index.ts';
import type { Context, Environment } from '../../kernel/index.ts';
import { findOrg } from '../../orgs/index.ts';
import { readPayload } from '../../payloads/index.ts';
import { listPoliciesOperation, listPolicyVersionsOperation } from '../../policies/index.ts';
import {
  listCanariesOperation,
  listExperimentsOperation,
  listShadowsOperation,
} from '../../rollouts/index.ts';
import type { Pages, RowFile, Source } from '../types.ts';
import { answerOf, ofBoth, once, pagesOf, under } from '../walk.ts';

const DAY_MS = 86_400_000;
/** One reading of usage covers so many days. */
const USAGE_DAYS = 366;

/** Calls with everything measured; the content of each is read and sent by itself, because it may be large. */
async function* callPages(context: Context, org_id: Source['org_id'], environment: Environment): Pages {
  for await (const page of pagesOf(context, listRequestsOperation, { environment })) {
    if (page.length === 0) return;
    const ids = page.map(({ request_id }) => request_id);
    const details = await readDetails(context, ids);
    let rows: object[] = [];
    for (const request_id of ids) {
      const row = details.get(request_id);
      // Its day was dropped meanwhile.
      if (row === undefined) continue;
      if (row.payload_state !== 'available') {
        rows.push(row);
        continue;
      }
      yield [...rows, { ...row, ...(await readPayload(context, { org_id, request_id })) }];
      rows = [];
    }
    yield rows;
  }
}

/** Usage by day since the organization was made; days without calls are left out. */
async function* usagePages(context: Context, org_id: Source['org_id'], environment: Environment): Pages {
  const org = await findOrg(context.db, org_id);
  if (org === null) return;
  const end_ms = context.now().getTime();
  for (let from_ms = Math.floor(org.created_at.getTime() / DAY_MS) * DAY_MS; from_ms < end_ms; ) {
    const to_ms = Math.min(from_ms + USAGE_DAYS * DAY_MS, end_ms);
    const range = { from: new Date(from_ms).toISOString(), to: new Date(to_ms).toISOString() };
    const { series } = await answerOf(context, getUsageOperation, {
      ...{ range: 'custom' as const, granularity: 'day' as const, environment },
      ...range,
    });
    yield series
      .filter(({ requests }) => requests > 0)
      .map(({ bucket, ...sums }) => ({ day: bucket, ...sums }));
    from_ms = to_ms;
  }
}

async function policyNames({ live }: Source): Promise<readonly string[]> {
  return (await answerOf(live, listPoliciesOperation, {})).data.map(({ name }) => name);
}

/** What canaries, experiments and shadows of each policy have shown. */
async function* trialPages(source: Source): Pages {
  for (const name of await policyNames(source)) {
    const canaries = await answerOf(source.live, listCanariesOperation, { name });
    yield canaries.data.map((row) => ({ policy: name, trial: 'canary', ...row }));
    for (const environment of ['live', 'test'] as const) {
      const context = source[environment];
      const experiments = await answerOf(context, listExperimentsOperation, { name });
      yield experiments.data.map((row) => ({ policy: name, trial: 'experiment', environment, ...row }));
      const shadows = await answerOf(context, listShadowsOperation, { name });
      yield shadows.data.map((row) => ({ policy: name, trial: 'shadow', environment, ...row }));
    }
  }
}

async function* versionPages(source: Source): Pages {
  for (const name of await policyNames(source))
    yield (await answerOf(source.live, listPolicyVersionsOperation, { name })).data;
}

/** Cases of every revision that is kept, in their order. */
async function* casePages(live: Context, suite_id: string): Pages {
  const { revisions } = await answerOf(live, suiteHistoryOperation, { id: suite_id as never });
  for (const { revision } of revisions)
    for await (const page of pagesOf(live, listCasesOperation, { id: suite_id as never, revision }))
      yield page.map((row) => ({ suite_id, revision, ...row }));
}

export const callFiles: readonly RowFile[] = [
  {
    name: 'policies',
    about: 'Routing policies and where each is active.',
    route: 'GET /v1/policies',
    pages: ({ live }) => once(answerOf(live, listPoliciesOperation, {}).then(({ data }) => data)),
  },
  {
    name: 'policy_versions',
    about: 'The text of every version of each policy.',
    route: 'GET /v1/policies/{name}/versions',
    pages: versionPages,
  },
  {
    name: 'policy_trials',
    about: 'What canaries, experiments and shadows of policies have shown in the last day.',
    route: 'GET /v1/policies/{name}/canaries, experiments, shadows',
    pages: trialPages,
  },
  {
    name: 'limits',
    about:
      'Limits of plan, projects and keys as they were when the export was made. One line for each environment.',
    route: 'GET /v1/limits',
    pages: (source) =>
      ofBoth(source, (context) => once(answerOf(context, getLimitsOperation, {}).then((limits) => [limits]))),
  },
  {
    name: 'eval_suites',
    about: 'Suites of evaluations.',
    route: 'GET /v1/evals/suites',
    pages: ({ live }) => pagesOf(live, listSuitesOperation, {}),
  },
  {
    name: 'eval_cases',
    about: 'The cases of these suites, for each revision that is kept.',
    route: 'GET /v1/evals/suites/{id}/cases',
    pages: ({ live }) => under(pagesOf(live, listSuitesOperation, {}), ({ id }) => casePages(live, id)),
  },
  {
    name: 'eval_runs',
    about: 'Runs of suites with what they cost and how they ended.',
    route: 'GET /v1/evals/runs',
    pages: ({ live }) => pagesOf(live, listRunsOperation, {}),
  },
  {
    name: 'eval_results',
    about: 'The result of every case in every run, with the output for as long as it is kept.',
    route: 'GET /v1/evals/runs/{id}/results',
    pages: ({ live }) =>
      under(pagesOf(live, listRunsOperation, {}), ({ id }) => pagesOf(live, listResultsOperation, { id })),
  },
  {
    name: 'usage',
    about: 'Calls, tokens and cost by UTC day, for longer than the calls themselves are kept.',
    route: 'GET /v1/usage',
    pages: (source) =>
      ofBoth(source, (context, environment) => usagePages(context, source.org_id, environment)),
  },
  {
    name: 'usage_views',
    about: 'Questions about usage that are saved: yours, and those that are shared.',
    route: 'GET /v1/usage/views',
    pages: ({ live }) => once(answerOf(live, listUsageViewsOperation, {}).then(({ data }) => data)),
  },
  {
    name: 'requests',
    about:
      'Every call, newest first, with tokens, cost, route and attempts, and with its content where that was stored.',
    route: 'GET /v1/requests/{id}',
    pages: (source) =>
      ofBoth(source, (context, environment) => callPages(context, source.org_id, environment)),
  },
];
