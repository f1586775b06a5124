// What other concepts may ask of stored policies.
import { type Context, type Db, type Id, notFound, orgCaller } from '../../kernel/index.ts';
import { type CanaryPlan, canariesOf } from '../canary.ts';
import { type ExperimentPlan, experimentsOf } from '../experiment.ts';
import type { CanaryKey } from '../halt-store.ts';
import { type ShadowPlan, shadowsOf } from '../shadow/plan.ts';
import { findPolicy, findVersion, listActive, listVersions } from '../store.ts';
import type { PolicyDocument } from '../types.ts';
import { readStoredPolicy } from './validate.ts';

/** The newest versions of a policy whose canaries and experiments are listed. */
const VERSIONS_SHOWN = 100;

/**
 * The text of `version` of `name`; absent: its active version, else its newest.
 * @throws ServiceError not_found.
 */
export async function findStoredText(
  context: Context,
  name: string,
  version: number | undefined,
): Promise<{ version: number; yaml: string }> {
  const { org_id } = orgCaller(context);
  const policy = await findPolicy(context.db, org_id, name);
  if (policy === null || policy.deleted_at !== null) throw notFound();
  const active = version === undefined ? await listActive(context.db, org_id, name) : [];
  const wanted = version ?? active[0]?.version ?? policy.newest;
  const row = await findVersion(context.db, { org_id, name, version: wanted });
  if (row === null) throw notFound();
  return { version: wanted, yaml: row.yaml };
}

/** A canary, and the scopes that its version rules now (`project_id` null: the organization). */
export interface PlannedCanary {
  readonly plan: CanaryPlan;
  readonly version: number;
  readonly scopes: readonly { readonly project_id: Id<'project'> | null }[];
}

type Scopes = PlannedCanary['scopes'];

/** An experiment, and the scopes that its version rules now. */
export interface PlannedExperiment {
  readonly plan: ExperimentPlan;
  readonly version: number;
  readonly scopes: Scopes;
}

/** A shadow, and the scopes that its version rules now. */
export interface PlannedShadow {
  readonly plan: ShadowPlan;
  readonly version: number;
  readonly scopes: Scopes;
}

/** What `read` finds in the newest 100 versions of `name`, newest first. @throws ServiceError not_found. */
async function listPlanned<Plan>(
  context: Context,
  name: string,
  read: (document: PolicyDocument) => Plan[],
): Promise<{ readonly plan: Plan; readonly version: number; readonly scopes: Scopes }[]> {
  const { org_id } = orgCaller(context);
  const policy = await findPolicy(context.db, org_id, name);
  if (policy === null || policy.deleted_at !== null) throw notFound();
  const active = await listActive(context.db, org_id, name);
  const versions = await listVersions(context.db, { org_id, name, limit: VERSIONS_SHOWN });
  return versions.flatMap(({ version, yaml }) => {
    const scopes = active
      .filter((activation) => activation.version === version)
      .map(({ project_id }) => ({ project_id }));
    return read(readStoredPolicy(yaml)).map((plan) => ({ plan, version, scopes }));
  });
}

/** The canaries of the newest 100 versions of `name`, newest first. @throws ServiceError not_found. */
export function listCanaries(context: Context, name: string): Promise<PlannedCanary[]> {
  return listPlanned(context, name, canariesOf);
}

/** The experiments of the newest 100 versions of `name`, newest first. @throws ServiceError not_found. */
export function listExperiments(context: Context, name: string): Promise<PlannedExperiment[]> {
  return listPlanned(context, name, experimentsOf);
}

/** The shadows of the newest 100 versions of `name`, newest first. @throws ServiceError not_found. */
export function listShadows(context: Context, name: string): Promise<PlannedShadow[]> {
  return listPlanned(context, name, shadowsOf);
}

/** The canary `key`; null where its version is gone. */
export async function findCanary(db: Db, key: CanaryKey): Promise<PlannedCanary | null> {
  const { org_id, name, version, endpoint_id } = key;
  const row = await findVersion(db, { org_id, name, version });
  const plans = row === null ? [] : canariesOf(readStoredPolicy(row.yaml));
  const plan = plans.find((one) => one.endpoint_id === endpoint_id);
  if (plan === undefined) return null;
  const active = await listActive(db, org_id, name);
  const scopes = active
    .filter((activation) => activation.version === version)
    .map(({ project_id }) => ({ project_id }));
  return { plan, version, scopes };
}
