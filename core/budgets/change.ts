// Changing a project and its budget: the row and, by an order, the ledger.
import { type Context, microUsd } from '../kernel/index.ts';
import { orderBudget } from '../ledger/index.ts';
import { type Org, type Project, updateProject } from '../orgs/index.ts';
import { DEFAULT_ALERTS, type PatchProjectInput } from './schema.ts';
import { numberOf } from './view.ts';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type Change = Pick<PatchProjectInput, 'name' | 'budget' | 'limits' | 'alerts'>;

/** `project` with `change` merged in (RFC 7396); pure. */
function mergeProject(project: Project, change: Change): Project {
  const next: Mutable<Project> = { ...project };
  if (change.name !== undefined) next.name = change.name;
  if (change.budget === null) Object.assign(next, { budget_monthly_micro: null, budget_hard: true });
  else if (change.budget !== undefined) {
    const { monthly_micro, hard } = change.budget;
    if (monthly_micro !== undefined) next.budget_monthly_micro = monthly_micro;
    if (hard !== undefined) next.budget_hard = hard ?? true;
  }
  if (change.limits === null) Object.assign(next, { rpm: null, tpm: null, concurrency: null });
  else if (change.limits !== undefined) Object.assign(next, change.limits);
  if (change.alerts !== undefined) next.alerts = change.alerts ?? DEFAULT_ALERTS;
  return next;
}

function isSameBudget(a: Project, b: Project): boolean {
  return (
    a.budget_monthly_micro === b.budget_monthly_micro &&
    a.budget_hard === b.budget_hard &&
    a.alerts.length === b.alerts.length &&
    a.alerts.every((percent, at) => percent === b.alerts[at])
  );
}

/** The book that the calls of a project's own environment are charged to. */
export function bookOf(org: Org, project: Project): number {
  return project.environment === 'live' ? org.live_book_id : org.sandbox_book_id;
}

/** Applies `change` to `project`, which is locked, and returns it as stored. A changed budget is ordered at the ledger. */
export async function changeProject(
  context: Context,
  org: Org,
  { project, change }: { project: Project; change: Change },
): Promise<Project> {
  const next = mergeProject(project, change);
  const stored = await updateProject(context.db, next, context.now());
  if (isSameBudget(project, next)) return stored;
  const { budget_monthly_micro, budget_hard: hard, alerts } = next;
  await orderBudget(context, org.shard, {
    book_id: bookOf(org, next),
    subject: { project_no: numberOf(next) },
    cap_micro_usd: budget_monthly_micro === null ? null : microUsd(budget_monthly_micro),
    ...{ hard, alerts },
  });
  return stored;
}
