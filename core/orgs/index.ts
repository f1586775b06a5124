export {
  type Billing,
  type BillingAddress,
  type BillingChange,
  findBilling,
  setBilling,
  type TaxStatus,
} from './billing-store.ts';
export { createOrg, createProject, DEFAULT_DATA_POLICY, SANDBOX_CREDIT } from './create.ts';
export { findMembership, listMembers, listMemberships, putMember } from './member-store.ts';
export { getOrgOperation, OrgView, orgExample, orgOperations, viewOrg } from './operations.ts';
export { ledgerOf } from './place.ts';
export { type PlanId, planIds, planLimits } from './plans.ts';
export { findDataPolicy, type StoredDataPolicy, setDataPolicy } from './policy-store.ts';
export { listProjectsOperation, ProjectView, projectStatuses } from './projects.ts';
export {
  findGrantFacts,
  findOrg,
  findOrgRecords,
  findProject,
  findProjectId,
  listProjects,
  lockOrg,
  readShard,
  searchOrgs,
  setOrgStatus,
} from './store.ts';
export { changeTerms } from './terms.ts';
export type { GrantFacts, Member, Membership, Org, OrgDataPolicy, OrgStatus, Project } from './types.ts';
