// Starting a run: what may be asked, who pays, and what it may cost.
import { findModel } from '../../catalog/index.ts';
import {
  type Context,
  type Environment,
  type Id,
  type KeyCaller,
  type MemberCaller,
  notFound,
  orgCaller,
  ServiceError,
} from '../../kernel/index.ts';
import { findKey, peopleNumber } from '../../keys/index.ts';
import { readBalance } from '../../ledger/index.ts';
import { findOrg, listProjects, type Org, type Project } from '../../orgs/index.ts';
import { startWorkflow } from '../../workflow-starts/index.ts';
import { findSuite, lockSuite, readCases } from '../suites/store.ts';
import { CASES_MAX, type Case, type Suite } from '../suites/types.ts';
import { estimateOf, servesModel } from './estimate.ts';
import { insertRun } from './store.ts';
import type { Run, Target } from './types.ts';

const DAY_MS = 86_400_000;

interface RunAsked {
  readonly suite_id: string;
  readonly targets: readonly {
    readonly model?: string | undefined;
    readonly endpoint?: string | undefined;
  }[];
  readonly repeat?: number | undefined;
  readonly concurrency?: number | undefined;
  readonly judge_model?: string | undefined;
  readonly judge_samples?: number | undefined;
  readonly project_id?: string | undefined;
}

/** A run within its budget. */
type BudgetedRun = RunAsked & { readonly budget_micro: number };

interface Payer {
  readonly project: Project;
  readonly key_id: Id<'key'> | null;
  readonly key_no: number | null;
}

async function payingKey(context: Context, caller: KeyCaller, asked: RunAsked): Promise<Payer> {
  const { org_id, key_id } = caller;
  const key = await findKey(context.db, { org_id, environment: null, id: key_id });
  const [project] = await listProjects(context.db, { org_id, environment: null, id: caller.project_id });
  if (key === null || project === undefined) throw notFound();
  if (asked.project_id !== undefined && asked.project_id !== project.id) {
    throw new ServiceError('invalid_request', 'A key runs in its own project.', { param: 'project_id' });
  }
  return { project, key_id, key_no: key.chain_no };
}

async function payingProject(context: Context, caller: MemberCaller, asked: RunAsked): Promise<Payer> {
  const { org_id, environment } = caller;
  const id = asked.project_id ?? null;
  const projects = await listProjects(context.db, { org_id, environment, id });
  const [project, second] = projects;
  if (project === undefined) throw notFound();
  if (second !== undefined) {
    throw new ServiceError('invalid_request', 'There are several projects: name the one that pays.', {
      param: 'project_id',
    });
  }
  return { project, key_id: null, key_no: null };
}

/** Whose calls the run makes; a number for those of people is made on the way. */
async function payerOf(context: Context, asked: RunAsked): Promise<Payer> {
  const caller = orgCaller(context);
  return caller.kind === 'key' ? payingKey(context, caller, asked) : payingProject(context, caller, asked);
}

function refuseTarget(i: number, member: string, message: string): ServiceError {
  return new ServiceError('invalid_request', message, { param: `targets[${i}].${member}` });
}

function checkedTargets(
  context: Context,
  environment: Environment,
  asked: RunAsked,
  cases: readonly Case[],
): Target[] {
  const catalog = context.services.catalog();
  const own = cases.find(({ body }) => body.input.model === undefined);
  const seen = new Set<string>();
  return asked.targets.map(({ model = '', endpoint = '' }, i) => {
    if (model === '' && endpoint !== '') throw refuseTarget(i, 'model', 'An endpoint needs its model.');
    if (model === '' && own !== undefined) {
      throw refuseTarget(
        i,
        'model',
        `The case ${JSON.stringify(own.case_id)} names no model, so the target must.`,
      );
    }
    if (model !== '' && findModel(catalog, model, environment) === null) {
      throw refuseTarget(i, 'model', `There is no model ${JSON.stringify(model)}.`);
    }
    if (endpoint !== '' && !servesModel(catalog, environment, { model, endpoint })) {
      throw refuseTarget(i, 'endpoint', 'The model has no such endpoint.');
    }
    const both = `${model} ${endpoint}`;
    if (seen.has(both)) throw refuseTarget(i, 'model', 'The same target stands in the list twice.');
    seen.add(both);
    return { model, endpoint };
  });
}

function checkJudge(
  context: Context,
  environment: Environment,
  judge_model: string,
  cases: readonly Case[],
): void {
  const catalog = context.services.catalog();
  const unknown = (model: string) => findModel(catalog, model, environment) === null;
  if (judge_model !== '' && unknown(judge_model)) {
    throw new ServiceError('invalid_request', 'There is no such model.', { param: 'judge_model' });
  }
  for (const { case_id, body } of cases) {
    if (body.grader.kind !== 'judge') continue;
    const model = body.grader.model ?? judge_model;
    if (model !== '' && !unknown(model)) continue;
    const message = `The judge of case ${JSON.stringify(case_id)} has no model that exists.`;
    throw new ServiceError('invalid_request', message, { param: 'judge_model' });
  }
}

/** @throws ServiceError insufficient_credits: what there is covers neither the budget nor the estimate. */
async function refuseWithoutCredit(
  context: Context,
  org: Org,
  need: { environment: Environment; budget_micro: number; estimate_micro: number },
): Promise<void> {
  const required = Math.min(need.budget_micro, need.estimate_micro);
  const book_id = need.environment === 'live' ? org.live_book_id : org.sandbox_book_id;
  const { available_micro_usd } = await readBalance(context.shards.at(org.shard), book_id);
  if (available_micro_usd >= required) return;
  throw new ServiceError('insufficient_credits', 'The balance covers neither the budget nor the estimate.', {
    details: { required_micro: required, available_micro: available_micro_usd },
  });
}

async function casesOf(context: Context, suite: Suite): Promise<Case[]> {
  const { id, revision } = suite;
  return readCases(context.db, { suite_id: id, revision, from: 0, limit: CASES_MAX });
}

/** What is asked, checked against the suite and the catalog, and the most that it can cost. */
async function planOf(context: Context, suite: Suite, asked: RunAsked) {
  const { environment } = orgCaller(context);
  const cases = await casesOf(context, suite);
  const { repeat = 1, judge_model = '', judge_samples = 1 } = asked;
  const targets = checkedTargets(context, environment, asked, cases);
  checkJudge(context, environment, judge_model, cases);
  const plan = { environment, targets, repeat, judge_model, judge_samples };
  return { plan, estimate_micro: await estimateOf(context, plan, cases) };
}

/** The most that a run can cost, without starting it. @throws ServiceError invalid_request, not_found. */
export async function estimateRun(context: Context, asked: RunAsked) {
  const { org_id, environment } = orgCaller(context);
  const suite = await findSuite(context.db, { org_id, id: asked.suite_id });
  if (suite === null) throw notFound();
  const { plan, estimate_micro } = await planOf(context, suite, asked);
  const org = (await findOrg(context.db, org_id)) as Org;
  const book_id = environment === 'live' ? org.live_book_id : org.sandbox_book_id;
  const { available_micro_usd } = await readBalance(context.shards.at(org.shard), book_id);
  const answers = suite.case_count * plan.targets.length * plan.repeat;
  return { suite_revision: suite.revision, answers, estimate_micro, available_micro: available_micro_usd };
}

/** Starts a run. Call inside a transaction. @throws ServiceError invalid_request, not_found, insufficient_credits. */
export async function startRun(context: Context, asked: BudgetedRun): Promise<Run> {
  const { org_id, environment } = orgCaller(context);
  const { db } = context;
  const org = (await findOrg(db, org_id)) as Org;
  // Locked, so that a new revision does not delete the cases that this run begins to name.
  const suite = await lockSuite(db, { org_id, id: asked.suite_id });
  if (suite === null) throw notFound();
  const { concurrency = 4, budget_micro } = asked;
  const { plan, estimate_micro } = await planOf(context, suite, asked);
  const payer = await payerOf(context, asked);
  await refuseWithoutCredit(context, org, { environment, budget_micro, estimate_micro });
  const at = context.now();
  const { zdr, retention_days } = org.data_policy;
  const key_no = payer.key_no ?? (await peopleNumber(context, org, { project: payer.project, environment }));
  const id = context.newId('eval_run');
  const run = await insertRun(db, {
    ...{ id, org_id, project_id: payer.project.id, key_id: payer.key_id, key_no },
    ...{ suite_id: suite.id, suite_name: suite.name, suite_revision: suite.revision },
    ...{ case_count: suite.case_count, concurrency, budget_micro, estimate_micro, ...plan },
    outputs_until: zdr || retention_days === 0 ? null : new Date(at.getTime() + retention_days * DAY_MS),
    created_at: at,
  });
  const start = { workflow_id: `eval-${id}`, type: 'evalRun', args: { run_id: id }, org_id };
  await startWorkflow(db, { ...start, at });
  return run;
}
