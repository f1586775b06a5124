// Making organizations and projects; the caller decides who may.
import { type Context, type Environment, type Id, microUsd, ServiceError } from '../kernel/index.ts';
import { orderBook, orderBudget, orderCredit } from '../ledger/index.ts';
import { currencyOf } from './currency.ts';
import { newPepper } from './pepper.ts';
import { chooseShard } from './place.ts';
import { type PlanId, planLimits } from './plans.ts';
import { countProjects, findProject, insertProject } from './project-store.ts';
import { keepSlug } from './settings-store.ts';
import { slugTaken } from './slug.ts';
import { insertOrg } from './store.ts';
import type { Org, OrgDataPolicy, OrgKind, Project } from './types.ts';

/** Play credit of a new sandbox book, and what a refill tops it up to. */
export const SANDBOX_CREDIT = microUsd(100_000_000);
/** Event `credits.low` below 5 USD: the default of the column `low_balance_micro`. */
export const LOW_BALANCE = microUsd(5_000_000);

/** Of a new organization, and what `null` in a patch resets a member to. */
export const DEFAULT_DATA_POLICY: OrgDataPolicy = {
  logging: 'off',
  retention_days: 30,
  zdr: false,
  no_train: false,
  regions: [],
  redact: { presets: [], patterns: [] },
};

interface NewOrg {
  readonly slug: string;
  readonly name: string;
  /** ISO 3166 alpha-2. */
  readonly billing_country: string;
  readonly kind?: OrgKind;
  /** The reseller whose customer it is, which makes it a child, and the tier that it pays. */
  readonly parent_org_id?: Id<'org'>;
  readonly reseller_tier_id?: Id<'tier'> | null;
  readonly plan_id?: PlanId;
  /** The ledger that its books are to be in; one of those that are open when absent. */
  readonly shard?: string;
  /** A person makes it by signing up: limits against abuse hold for it (new-orgs.ts). */
  readonly self_made?: boolean;
}

/**
 * Makes an organization and a default project per environment in one transaction, which orders its books and the play
 * credit of 100 USD. @throws ServiceError already_exists when the slug is taken.
 */
export function createOrg(
  context: Context,
  org: NewOrg,
): Promise<{ id: Id<'org'>; slug: string; project_id: Id<'project'>; test_project_id: Id<'project'> }> {
  return context.transaction(async (context) => {
    const id = context.newId('org');
    const at = context.now();
    const shard = org.shard ?? (await chooseShard(context, id));
    await keepSlug(context.db, org.slug);
    const made = await insertOrg(context.db, {
      id,
      slug: org.slug,
      name: org.name,
      kind: org.parent_org_id === undefined ? (org.kind ?? 'team') : 'child',
      parent_org_id: org.parent_org_id ?? null,
      reseller_tier_id: org.reseller_tier_id ?? null,
      plan_id: org.plan_id ?? 'payg',
      billing_country: org.billing_country,
      billing_currency: currencyOf(org.billing_country),
      data_policy: DEFAULT_DATA_POLICY,
      ...(await newPepper(context, id)),
      shard,
      self_made: org.self_made ?? false,
      at,
    });
    if (made === null) throw slugTaken();
    const { live_book_id, sandbox_book_id } = made;
    const live_book = { book_id: live_book_id, org_id: id, low_mark_micro_usd: LOW_BALANCE };
    await orderBook(context, shard, { ...live_book, environment: 'live' });
    const sandbox_book = { book_id: sandbox_book_id, org_id: id, low_mark_micro_usd: null };
    await orderBook(context, shard, { ...sandbox_book, environment: 'test' });
    await orderCredit(context, shard, {
      book_id: sandbox_book_id,
      amount_micro_usd: SANDBOX_CREDIT,
      kind: 'grant',
      granted: true,
      expires_at: null,
      ref_type: 'staff',
      ref_id: `sandbox ${id}`,
    });
    const books = { id, shard, live_book_id, sandbox_book_id };
    const live = await addProject(context, books, { slug: 'default', name: 'Default', environment: 'live' });
    const test = await addProject(context, books, { slug: 'sandbox', name: 'Sandbox', environment: 'test' });
    return { id, slug: org.slug, project_id: live, test_project_id: test };
  });
}

type Books = Pick<Org, 'id' | 'shard' | 'live_book_id' | 'sandbox_book_id'>;
type NewProject = { readonly slug: string; readonly name: string; readonly environment: Environment };

async function addProject(context: Context, org: Books, project: NewProject): Promise<Id<'project'>> {
  const id = context.newId('project');
  const at = context.now();
  const numbers = await insertProject(context.db, { id, org_id: org.id, ...project, at });
  if (numbers === null) {
    throw new ServiceError('already_exists', 'A project of this organization has this slug.', {
      param: 'slug',
    });
  }
  // A row without a cap in each book: the ledger knows every subject that may hold.
  const numbered = [
    { book_id: org.live_book_id, project_no: numbers.live_no },
    { book_id: org.sandbox_book_id, project_no: numbers.sandbox_no },
  ];
  for (const { book_id, project_no } of numbered) {
    await orderBudget(context, org.shard, { book_id, subject: { project_no }, cap_micro_usd: null });
  }
  return id;
}

/**
 * Makes a project of `org` (read under `lockOrg`, so that counting takes turns).
 * @throws ServiceError already_exists, plan_limit_reached.
 */
export async function createProject(context: Context, org: Org, project: NewProject): Promise<Project> {
  const { projects } = planLimits(org);
  if (projects !== null && (await countProjects(context.db, org.id)) >= projects) {
    throw new ServiceError('plan_limit_reached', `The plan allows ${projects} projects.`, {
      details: { limit: 'projects', limit_value: projects },
    });
  }
  const id = await addProject(context, org, project);
  return (await findProject(context.db, { org_id: org.id, id })) as Project;
}
