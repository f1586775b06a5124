// Routing policies: what is active where, their versions, and trying a text before it is stored.
import {
  activatePolicyOperation,
  armNames,
  canaryBreaches,
  createPolicyOperation,
  createPolicyVersionOperation,
  deactivatePolicyOperation,
  deletePolicyOperation,
  getPolicySchemaOperation,
  getPolicyVersionOperation,
  listPoliciesOperation,
  listPolicyVersionsOperation,
  PolicySummary,
  PolicyVerdict,
  PolicyVersionDetail,
  PolicyVersion as PolicyVersionView,
  policyFaultCodes,
  policyStatuses,
  rollbackPolicyOperation,
  shadowBills,
  validatePolicyOperation,
} from '@svc/core/policies/index.ts';
import {
  Canary,
  canaryStates,
  diffPolicyOperation,
  ExperimentArm,
  experimentDecisions,
  experimentMetrics,
  listCanariesOperation,
  listExperimentsOperation,
  listShadowsOperation,
  Shadow,
} from '@svc/core/rollouts/index.ts';
import { dryRunPolicyOperation } from '@svc/core/routing/index.ts';
import { toWire } from '../../derive.ts';
import { builder, derive } from '../builder.ts';
import { nullWhenMissing } from '../missing.ts';
import { mutation } from '../mutation.ts';
import { EnvironmentEnum } from './common.ts';

derive.enum('PolicyStatus', policyStatuses);
derive.enum('PolicyFaultCode', policyFaultCodes);
derive.enum('PolicyCanaryState', canaryStates);
derive.enum('PolicyCanaryBreach', canaryBreaches);
derive.enum('PolicyShadowBill', shadowBills);
derive.enum('PolicyExperimentArmName', armNames);
derive.enum('PolicyExperimentMetric', experimentMetrics);
derive.enum('PolicyExperimentDecision', experimentDecisions);

const Policy = derive.output('Policy', PolicySummary);
const PolicyGateways = derive.output('PolicyGateways', PolicyVersionDetail.properties.gateways);
const PolicyVersion = derive.output('PolicyVersion', PolicyVersionView, {
  extra: (t) => ({
    gateways: t.field({
      type: PolicyGateways,
      nullable: true,
      description: 'How many gateways route by this version; null in lists.',
      resolve: ({ gateways }: { readonly gateways?: unknown }) => gateways ?? null,
    }),
  }),
});
export const PolicyCanary = derive.output('PolicyCanary', Canary);
const PolicyShadow = derive.output('PolicyShadow', Shadow);
const PolicyExperimentArm = derive.output('PolicyExperimentArm', ExperimentArm);
const Verdict = derive.output('PolicyVerdict', PolicyVerdict);
const DryRun = derive.output('PolicyDryRun', dryRunPolicyOperation.output, {
  names: { plan: 'PolicyDryRunAttempt', excluded: 'PolicyDryRunExcluded' },
});

const Diff = derive.output('PolicyDiff', diffPolicyOperation.output);

builder.queryFields((t) => ({
  policies: t.field({
    type: [Policy],
    nullable: true,
    description: 'Every policy, by name.',
    extensions: { operation: listPoliciesOperation.name },
    resolve: async (_root, _args, { runner }) => (await runner.run(listPoliciesOperation, {})).data,
  }),
  policy: t.field({
    type: Policy,
    nullable: true,
    args: { name: t.arg.string({ required: true }) },
    extensions: { operation: listPoliciesOperation.name },
    resolve: async (_root, { name }, { runner }) => {
      const { data } = await runner.run(listPoliciesOperation, {});
      return data.find((policy) => policy.name === name) ?? null;
    },
  }),
  policyVersions: t.field({
    type: [PolicyVersion],
    nullable: true,
    description: 'The newest 100 versions of a policy, newest first; null where there is no such policy.',
    args: { name: t.arg.string({ required: true }) },
    extensions: { operation: listPolicyVersionsOperation.name },
    resolve: async (_root, { name }, { runner }) =>
      (await nullWhenMissing(runner.run(listPolicyVersionsOperation, { name })))?.data ?? null,
  }),
  policyVersion: t.field({
    type: PolicyVersion,
    nullable: true,
    args: { name: t.arg.string({ required: true }), version: t.arg.int({ required: true }) },
    extensions: { operation: getPolicyVersionOperation.name },
    resolve: (_root, { name, version }, { runner }) =>
      nullWhenMissing(runner.run(getPolicyVersionOperation, { name, version: String(version) })),
  }),
}));

builder.queryFields((t) => ({
  policyCanaries: t.field({
    type: [PolicyCanary],
    nullable: true,
    description:
      'How the canaries of a policy do, of its newest version first; null where there is no such policy.',
    args: { name: t.arg.string({ required: true }) },
    extensions: { operation: listCanariesOperation.name },
    resolve: async (_root, { name }, { runner }) =>
      (await nullWhenMissing(runner.run(listCanariesOperation, { name })))?.data ?? null,
  }),
  policyExperiments: t.field({
    type: [PolicyExperimentArm],
    nullable: true,
    description:
      'The arms of the experiments of a policy and how they compare, of its newest version first; null where there is no such policy.',
    args: {
      ...(derive.args(t.arg, 'PolicyExperiments', listExperimentsOperation.input) as Record<string, never>),
      environment: t.arg({ type: EnvironmentEnum }),
    },
    extensions: { operation: listExperimentsOperation.name },
    resolve: async (_root, { environment, ...args }, { runner }) => {
      const input = toWire(listExperimentsOperation.input, args);
      const found = await nullWhenMissing(runner.run(listExperimentsOperation, input, { environment }));
      return found?.data ?? null;
    },
  }),
  policyShadows: t.field({
    type: [PolicyShadow],
    nullable: true,
    description:
      'What the shadows of a policy showed beside the calls that they copied, of its newest version first; null where there is no such policy.',
    args: {
      ...(derive.args(t.arg, 'PolicyShadows', listShadowsOperation.input) as Record<string, never>),
      environment: t.arg({ type: EnvironmentEnum }),
    },
    extensions: { operation: listShadowsOperation.name },
    resolve: async (_root, { environment, ...args }, { runner }) => {
      const input = toWire(listShadowsOperation.input, args);
      const found = await nullWhenMissing(runner.run(listShadowsOperation, input, { environment }));
      return found?.data ?? null;
    },
  }),
}));

builder.queryFields((t) => ({
  policySchema: t.field({
    type: 'JSON',
    nullable: true,
    description: 'The JSON schema of the policy language, for editors.',
    extensions: { operation: getPolicySchemaOperation.name },
    resolve: (_root, _args, { runner }) => runner.run(getPolicySchemaOperation, {}),
  }),
  policyValidation: t.field({
    type: Verdict,
    nullable: true,
    description: 'The verdict on a text; nothing is stored.',
    args: derive.args(t.arg, 'PolicyValidation', validatePolicyOperation.input) as Record<string, never>,
    complexity: { field: 20 },
    extensions: { operation: validatePolicyOperation.name },
    resolve: (_root, args, { runner }) =>
      runner.run(validatePolicyOperation, toWire(validatePolicyOperation.input, args)),
  }),
  policyDryRun: t.field({
    type: DryRun,
    nullable: true,
    description: 'How a call would be routed under a policy; nothing is called, held or charged.',
    args: {
      ...(derive.args(t.arg, 'PolicyDryRun', dryRunPolicyOperation.input) as Record<string, never>),
      environment: t.arg({ type: EnvironmentEnum }),
    },
    complexity: { field: 50 },
    extensions: { operation: dryRunPolicyOperation.name },
    resolve: (_root, { environment, ...args }, { runner }) =>
      runner.run(dryRunPolicyOperation, toWire(dryRunPolicyOperation.input, args), { environment }),
  }),
  policyDiff: t.field({
    type: Diff,
    nullable: true,
    description: 'Which calls of the last 24 hours a policy would route elsewhere, and what that costs.',
    args: {
      ...(derive.args(t.arg, 'PolicyDiff', diffPolicyOperation.input) as Record<string, never>),
      environment: t.arg({ type: EnvironmentEnum }),
    },
    // A thousand calls are routed twice.
    complexity: { field: 500 },
    extensions: { operation: diffPolicyOperation.name },
    resolve: (_root, { environment, ...args }, { runner }) =>
      runner.run(diffPolicyOperation, toWire(diffPolicyOperation.input, args), { environment }),
  }),
}));

const payload = (t: Parameters<Parameters<typeof mutation>[0]['payload']>[0]) => ({
  version: t.field({
    type: PolicyVersion,
    resolve: ({ answer }: { readonly answer: unknown }) => answer,
  }),
});

mutation({
  name: 'createPolicy',
  operation: createPolicyOperation,
  input: createPolicyOperation.input,
  description: 'Makes a policy with its first version, a draft.',
  payload,
});

mutation({
  name: 'createPolicyVersion',
  operation: createPolicyVersionOperation,
  input: createPolicyVersionOperation.input,
  description: 'Adds a version to a policy, a draft.',
  payload,
});

mutation({
  name: 'activatePolicy',
  operation: activatePolicyOperation,
  input: activatePolicyOperation.input,
  description: 'Makes a version rule the organization or a project; the next call is routed by it.',
  payload,
});

mutation({
  name: 'deactivatePolicy',
  operation: deactivatePolicyOperation,
  input: deactivatePolicyOperation.input,
  description: 'Ends the rule of a policy in a scope; the default policy applies again.',
  payload,
});

mutation({
  name: 'rollbackPolicy',
  operation: rollbackPolicyOperation,
  input: rollbackPolicyOperation.input,
  description: 'Activates the version that was active in the scope before.',
  payload,
});

mutation({
  name: 'deletePolicy',
  operation: deletePolicyOperation,
  input: deletePolicyOperation.input,
  description: 'Deletes a policy that is not active anywhere, with all its versions.',
  payload: (t) => ({ ok: t.boolean({ resolve: () => true }) }),
});
