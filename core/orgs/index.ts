export { createOrg, createProject, type NewOrg, SANDBOX_CREDIT } from './create.ts';
export { type PlanId, type PlanLimits, planIds, planLimits } from './plans.ts';
export { findGrantFacts, findOrg, findProject, lockOrg, setOrgStatus } from './store.ts';
export type { GrantFacts, Org, OrgDataPolicy, OrgKind, OrgStatus, Project } from './types.ts';
