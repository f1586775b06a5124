// Projects as callers see them: with what they spent and whether a budget holds their calls back.
import type { Context, Environment, KeyCaller, MemberCaller } from '../kernel/index.ts';
import { listChains } from '../keys/index.ts';
import { type BudgetWindow, readKeySpend, readWindows } from '../ledger/index.ts';
import { ledgerOf, type Project } from '../orgs/index.ts';
import type { ProjectView } from './schema.ts';

/** Environments whose projects a caller sees: a test key those of the test environment alone. */
export function sightOf(caller: KeyCaller | MemberCaller): Environment | null {
  return caller.kind === 'key' && caller.environment === 'test' ? 'test' : null;
}

/** The number that a project's budget counts under in the ledger: that of the book of its own environment. */
export function numberOf(project: Project): number {
  return project.environment === 'live' ? project.live_no : project.sandbox_no;
}

/** The first moment after the UTC month that begins on `start`. */
function monthAfter(start: string): string {
  const first = new Date(`${start}T00:00:00Z`);
  return new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1)).toISOString();
}

function pausedBy(window: BudgetWindow | undefined): ProjectView['paused'] {
  if (window?.hard !== true || window.exhausted_at === null) return null;
  return {
    reason: 'budget',
    since: window.exhausted_at.toISOString(),
    resumes_at: monthAfter(window.start),
  };
}

function view(project: Project, window: BudgetWindow | undefined, today_micro: number): ProjectView {
  const {
    budget_monthly_micro,
    budget_hard,
    rpm,
    tpm,
    concurrency,
    live_no: _,
    sandbox_no: __,
    updated_at: ___,
    ...plain
  } = project;
  return {
    ...plain,
    budget: { monthly_micro: budget_monthly_micro, hard: budget_hard },
    limits: { rpm, tpm, concurrency },
    alerts: [...project.alerts],
    paused: pausedBy(window),
    spend_today_micro: today_micro,
    spend_month_micro: window?.spent_micro_usd ?? 0,
    created_at: project.created_at.toISOString(),
  };
}

/** What each of `projects` spent this UTC day: the sum of its keys, ended ones too. */
async function spendOfToday(
  context: Context,
  projects: readonly Project[],
  ledger: Context['db'],
): Promise<Map<string, number>> {
  const [{ org_id }] = projects as [Project];
  const project_ids = projects.map(({ id }) => id);
  const environments = new Map<string, Environment>(projects.map(({ id, environment }) => [id, environment]));
  const chains = (await listChains(context.db, { org_id, project_ids })).filter(
    ({ project_id, environment }) => environments.get(project_id) === environment,
  );
  const spend = await readKeySpend(ledger, [...new Set(chains.map(({ chain_no }) => chain_no))]);
  const by_no = new Map(spend.map(({ no, today_micro_usd }) => [no, today_micro_usd]));
  const sums = new Map<string, number>();
  for (const { project_id, chain_no } of chains)
    sums.set(project_id, (sums.get(project_id) ?? 0) + (by_no.get(chain_no) ?? 0));
  return sums;
}

/** `projects` of one organization on the wire, in the same order; one look at the ledger's windows for all. */
export async function viewProjects(context: Context, projects: readonly Project[]): Promise<ProjectView[]> {
  const [first] = projects;
  if (first === undefined) return [];
  const ledger = await ledgerOf(context, first.org_id);
  const windows = await readWindows(ledger, { project_nos: projects.map(numberOf) });
  const by_no = new Map(windows.map((window) => [window.no, window]));
  const today = await spendOfToday(context, projects, ledger);
  return projects.map((project) => view(project, by_no.get(numberOf(project)), today.get(project.id) ?? 0));
}

/** One project on the wire. */
export async function viewProject(context: Context, project: Project): Promise<ProjectView> {
  return (await viewProjects(context, [project]))[0] as ProjectView;
}
