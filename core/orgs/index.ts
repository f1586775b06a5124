export {
  type Billing,
  type BillingAddress,
  type BillingChange,
  findBilling,
  setBilling,
  type TaxStatus,
} from './billing-store.ts';
export { createOrg, createProject, DEFAULT_DATA_POLICY, LOW_BALANCE, SANDBOX_CREDIT } from './create.ts';
export { legalCallsEnd, refuseUnaccepted } from './legal.ts';
export { limitsOf, projectLimits } from './limits.ts';
export {
  belongsAt,
  countMembers,
  countOwners,
  deleteMember,
  findMember,
  findMembers,
  findMembership,
  listMemberPart,
  listMembers,
  listMemberships,
  putMember,
  setMemberGrants,
  setMemberRole,
  setMemberRoles,
  setMemberStatus,
} from './member-store.ts';
export {
  keysPerHour,
  readNewOrgLimits,
  trialRates,
} from './new-orgs.ts';
export { departures, getOrgOperation, OrgView, orgExample, orgOperations, viewOrg } from './operations.ts';
export { findGrantFacts, findPepper, type PepperPlace } from './pepper.ts';
export { ledgerOf, listOpenShards } from './place.ts';
export { PlanOfferView, planExample } from './plan-schema.ts';
export {
  type FeeNotice,
  type PlanFee,
  type PlanWords,
  plansAt,
  plansFor,
  type Rise,
  readPlans,
  readPlansSetting,
  untoldRises,
} from './plan-sheet.ts';
export {
  listOnPlans,
  type PlanTerms,
  readPlanTerms,
  schedulePlan,
  setPlanFree,
  unschedulePlan,
} from './plan-store.ts';
export {
  builtInPlans,
  monthOf,
  type Plan,
  type PlanId,
  type PlanLimits,
  planIds,
  planIn,
  planLimits,
} from './plans.ts';
export { findDataPolicy, type StoredDataPolicy, setDataPolicy } from './policy-store.ts';
export {
  archiveProject,
  findProject,
  findProjectByNumber,
  findProjectId,
  listProjects,
  lockProject,
  updateProject,
} from './project-store.ts';
export { findSettings, keepSlug, putSettings } from './settings-store.ts';
export { refuseReservedSlug, SlugIn, slugTaken } from './slug.ts';
export {
  activeOrgs,
  announceNewOrgs,
  endTrial,
  findOrg,
  findOrgRecords,
  findOrgs,
  listClosedOrgs,
  lockOrg,
  type OrgRecord,
  orgsOfResellers,
  readShard,
  searchOrgs,
  setLimitOverrides,
  setOrgStatus,
} from './store.ts';
export {
  changeLowBalance,
  changePlan,
  changeTerms,
  liftPaymentHold,
  readableUntil,
  suspendForPayments,
} from './terms.ts';
export type {
  GrantFacts,
  LimitOverrides,
  Member,
  Membership,
  NewOrgLimits,
  Org,
  OrgDataPolicy,
  OrgSecurity,
  OrgStatus,
  Project,
} from './types.ts';
