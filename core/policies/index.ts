export { type OrgPolicies, openPolicyCache, type PolicyCache } from './cache.ts';
export { cheaper, type Effective } from './combine.ts';
export { activePolicy, type CallFacts, decide, type Ruling } from './decide.ts';
export { type JsonSchema, policySchema } from './json-schema.ts';
export { policyOperations } from './operations.ts';
export { findPolicyText } from './read.ts';
export type { Actions, PolicyDocument } from './types.ts';
export { readStoredPolicy, type Verdict, validatePolicy } from './validate.ts';
