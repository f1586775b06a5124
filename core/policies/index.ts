export { type OrgPolicies, openPolicyCache, type PolicyCache, readRulingPolicies } from './cache.ts';
export { type CanaryPlan, SHARES, shareOf } from './canary.ts';
export { cheaper, type Effective, protectsAsMuch } from './combine.ts';
export { type ActivePolicy, activePolicy, type CallFacts, decide, type Ruling } from './decide.ts';
export { type Arm, armNames, type ExperimentPlan, experimentOf } from './experiment.ts';
export { type CanaryKey, haltCanary } from './halt-store.ts';
export { type JsonSchema, policySchema } from './language/json-schema.ts';
export { findPolicyText, textInput } from './language/named-text.ts';
export {
  findCanary,
  listCanaries,
  listExperiments,
  listShadows,
  type PlannedCanary,
  type PlannedExperiment,
  type PlannedShadow,
} from './language/read.ts';
export { readStoredPolicy, type Verdict, validatePolicy } from './language/validate.ts';
export {
  activatePolicyOperation,
  createPolicyOperation,
  createPolicyVersionOperation,
  deactivatePolicyOperation,
  deletePolicyOperation,
  getPolicySchemaOperation,
  getPolicyVersionOperation,
  listPoliciesOperation,
  listPolicyVersionsOperation,
  policyOperations,
  rollbackPolicyOperation,
  validatePolicyOperation,
} from './operations.ts';
export {
  PolicySummary,
  PolicyVerdict,
  PolicyVersion,
  PolicyVersionDetail,
  policyFaultCodes,
  policyStatuses,
  ScopeInput,
} from './schema.ts';
export {
  allowanceLeft,
  dropShadowDays,
  findAllowance,
  giveBackShadow,
  judgePolicy,
  readSpending,
  type ShadowDay,
  type Spending,
  setAllowance,
  spendAllowance,
  takeShadow,
} from './shadow/allowance.ts';
export { type ShadowPlan, shadowOf } from './shadow/plan.ts';
export { type Actions, canaryBreaches, type PolicyDocument, policyDialects, shadowBills } from './types.ts';
