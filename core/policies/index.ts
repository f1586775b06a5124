export { type OrgPolicies, openPolicyCache, type PolicyCache, type PolicyCacheOptions } from './cache.ts';
export { cheaper, type Effective } from './combine.ts';
export { type ActivePolicy, activePolicy, type CallFacts, decide, type Ruling } from './decide.ts';
export { type JsonSchema, policySchema } from './json-schema.ts';
export { policyOperations } from './operations.ts';
export { findPolicyText } from './read.ts';
export { type ActionKey, type Actions, type PolicyDocument, policySorts } from './types.ts';
export { type PolicyRemark, readStoredPolicy, type Verdict, validatePolicy } from './validate.ts';
