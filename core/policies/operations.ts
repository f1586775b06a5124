// Operations over routing policies (the dry run stands with the router, which it asks).
import { Type } from 'typebox';
import {
  type Context,
  listOf,
  Nothing,
  notFound,
  operation,
  orgCaller,
  ServiceError,
} from '../kernel/index.ts';
import { activate, deactivate, getPolicy, rollback } from './activate.ts';
import { policySchema } from './language/json-schema.ts';
import { ownerAfter, writerOf } from './ownership.ts';
import {
  NameInPath,
  NewName,
  PolicySchema,
  PolicySummary,
  PolicyVerdict,
  PolicyVersion,
  PolicyVersionDetail,
  ScopeInput,
  VersionNumber,
  versionExample,
  YamlText,
} from './schema.ts';
import { judgePolicy } from './shadow/allowance.ts';
import {
  type ActivationRow,
  countGateways,
  deletePolicy,
  findPolicy,
  findVersion,
  listActive,
  listFollowing,
  listPolicies,
  listVersions,
  lockPolicies,
  type VersionRow,
} from './store.ts';
import { writeVersion } from './write.ts';

const writers = {
  kind: 'key',
  scopes: ['manage:policies'],
  session: ['owner', 'admin', 'developer'],
} as const;
const readers = {
  kind: 'key',
  scopes: ['manage:policies'],
  session: ['owner', 'admin', 'developer', 'billing', 'viewer'],
} as const;
/** The newest versions that a listing shows; older ones are read one by one. */
const VERSIONS_SHOWN = 100;

function view(
  row: VersionRow,
  policy_managed_by: string | null,
  active: readonly ActivationRow[],
): PolicyVersion {
  const scopes = active
    .filter(({ name, version }) => name === row.name && version === row.version)
    .map(({ project_id, activated_at }) => ({ project_id, activated_at: activated_at.toISOString() }));
  return {
    name: row.name,
    version: row.version,
    status: scopes.length > 0 ? 'active' : 'draft',
    yaml: row.yaml,
    content_hash: row.content_hash,
    managed_by: row.managed_by,
    policy_managed_by,
    scopes,
    notices: [...row.notices],
    created_by: row.created_by,
    created_at: row.created_at.toISOString(),
  };
}

async function viewOne(context: Context, row: VersionRow): Promise<PolicyVersion> {
  const { org_id } = orgCaller(context);
  const policy = await findPolicy(context.db, org_id, row.name);
  return view(row, policy?.managed_by ?? null, await listActive(context.db, org_id, row.name));
}

export const listPoliciesOperation = operation({
  name: 'policies.list',
  method: 'GET',
  path: '/v1/policies',
  summary: 'List routing policies, each with its active version, else its newest',
  audience: readers,
  input: Type.Object({}),
  output: listOf(PolicySummary),
  errors: [],
  example: {
    object: 'list',
    data: [
      {
        ...{ name: 'eu-private', version: 3, newest_version: 4, status: 'active', managed_by: null },
        scopes: [
          {
            ...{ project_id: null, version: 3, activated_at: '2026-11-21T10:00:00.000Z' },
            gateways: { applied: 3, total: 3 },
          },
        ],
        created_at: '2026-11-21T09:59:00.000Z',
      },
    ],
  },
  async run(context) {
    const { org_id } = orgCaller(context);
    const rows = await listPolicies(context.db, org_id);
    const running = await listActive(context.db, org_id);
    const following = running.length === 0 ? [] : await listFollowing(context.db, org_id);
    const gatewaysOf = (scope: { name: string; project_id: string | null }) => {
      const one = following.find((row) => row.name === scope.name && row.project_id === scope.project_id);
      return { applied: one?.applied ?? 0, total: one?.total ?? 0 };
    };
    const data = rows.map(({ name, newest, active, managed_by, created_at }) => ({
      name,
      version: active ?? newest,
      newest_version: newest,
      status: active === null ? ('draft' as const) : ('active' as const),
      managed_by,
      scopes: running
        .filter((activation) => activation.name === name)
        .map(({ project_id, version, activated_at }) => ({
          ...{ project_id, version },
          activated_at: activated_at.toISOString(),
          gateways: gatewaysOf({ name, project_id }),
        })),
      created_at: created_at.toISOString(),
    }));
    return { object: 'list' as const, data };
  },
});

export const createPolicyOperation = operation({
  name: 'policies.create',
  method: 'POST',
  path: '/v1/policies',
  summary: 'Create a routing policy with its first version, a draft',
  audience: writers,
  input: Type.Object({ name: NewName, yaml: YamlText }),
  output: PolicyVersion,
  errors: ['invalid_policy', 'already_exists', 'plan_limit_reached', 'managed_elsewhere'],
  status: 201,
  idempotent: true,
  request: { name: versionExample.name, yaml: versionExample.yaml },
  example: { ...versionExample, version: 1, status: 'draft', scopes: [] },
  run: async (context, { name, yaml }) =>
    viewOne(context, await writeVersion(context, { name, yaml, fresh: true }, notFound)),
});

export const validatePolicyOperation = operation({
  name: 'policies.validate',
  method: 'POST',
  path: '/v1/policies/validate',
  summary: 'Validate the text of a policy; nothing is stored',
  audience: readers,
  input: Type.Object({ yaml: YamlText, name: Type.Optional(NewName) }),
  output: PolicyVerdict,
  errors: [],
  request: { yaml: versionExample.yaml },
  example: {
    valid: false,
    path: 'rules[0].match.models',
    message: '"acme/*"; expected a list',
    faults: [
      {
        ...{ path: 'rules[0].match.models', line: 4, column: 13 },
        ...{ code: 'invalid', message: '"acme/*"; expected a list' },
      },
    ],
    notices: [],
  },
  async run(context, { yaml, name }) {
    const verdict = await judgePolicy(context, yaml, name ?? null);
    if (verdict.valid) {
      return { valid: true, path: '', message: '', faults: [], notices: [...verdict.notices] };
    }
    const [first] = verdict.faults;
    const { path = '$', message = '' } = first ?? {};
    return { valid: false, path, message, faults: [...verdict.faults], notices: [] };
  },
});

export const getPolicySchemaOperation = operation({
  name: 'policies.schema',
  method: 'GET',
  path: '/v1/policies/schema',
  summary: 'Read the JSON schema of the policy language, for editors',
  audience: readers,
  input: Type.Object({}),
  output: PolicySchema,
  errors: [],
  example: { $id: 'routing-policy.v1', type: 'object', properties: { sort: { type: 'string' } } },
  run: async () => ({ ...policySchema('json') }),
});

export const listPolicyVersionsOperation = operation({
  name: 'policies.versions.list',
  method: 'GET',
  path: '/v1/policies/:name/versions',
  summary: 'List the newest 100 versions of a policy, newest first',
  audience: readers,
  input: Type.Object({ name: NameInPath }),
  output: listOf(PolicyVersion),
  errors: [],
  example: { object: 'list', data: [versionExample] },
  async run(context, { name }) {
    const { org_id } = orgCaller(context);
    const { managed_by } = await getPolicy(context, name);
    const rows = await listVersions(context.db, { org_id, name, limit: VERSIONS_SHOWN });
    const active = await listActive(context.db, org_id, name);
    return { object: 'list' as const, data: rows.map((row) => view(row, managed_by, active)) };
  },
});

export const getPolicyVersionOperation = operation({
  name: 'policies.versions.get',
  method: 'GET',
  path: '/v1/policies/:name/versions/:version',
  summary: 'Read one version, and how many gateways use it',
  audience: readers,
  input: Type.Object({ name: NameInPath, version: Type.String() }),
  output: PolicyVersionDetail,
  errors: [],
  example: { ...versionExample, gateways: { applied: 2, total: 2 } },
  async run(context, { name, version }) {
    const { org_id } = orgCaller(context);
    const number = /^[1-9]\d{0,8}$/.test(version) ? Number(version) : 0;
    const row = number === 0 ? null : await findVersion(context.db, { org_id, name, version: number });
    if (row === null) throw notFound();
    const gateways = await countGateways(context.db, { org_id, name, version: number });
    return { ...(await viewOne(context, row)), gateways };
  },
});

export const createPolicyVersionOperation = operation({
  name: 'policies.versions.create',
  method: 'POST',
  path: '/v1/policies/:name/versions',
  summary: 'Add a version to a policy, a draft',
  audience: writers,
  input: Type.Object({ name: NameInPath, yaml: YamlText }),
  output: PolicyVersion,
  errors: ['invalid_policy', 'managed_elsewhere'],
  status: 201,
  idempotent: true,
  request: { yaml: versionExample.yaml },
  example: { ...versionExample, version: 4, status: 'draft', scopes: [] },
  run: async (context, { name, yaml }) =>
    viewOne(context, await writeVersion(context, { name, yaml, fresh: false }, notFound)),
});

export const activatePolicyOperation = operation({
  name: 'policies.activate',
  method: 'POST',
  path: '/v1/policies/:name/activate',
  summary: 'Activate a version for the organization or a project; the next call is routed by it',
  audience: writers,
  input: Type.Object({ name: NameInPath, version: VersionNumber, scope: ScopeInput }),
  output: PolicyVersion,
  errors: ['managed_elsewhere', 'sandbox_key_not_allowed'],
  request: { version: 3, scope: { project_id: null } },
  example: versionExample,
  run: async (context, { name, version, scope }) =>
    viewOne(context, await activate(context, { name, version, scope })),
});

export const deactivatePolicyOperation = operation({
  name: 'policies.deactivate',
  method: 'POST',
  path: '/v1/policies/:name/deactivate',
  summary: 'Deactivate a policy in a scope; the default policy applies again',
  audience: writers,
  input: Type.Object({ name: NameInPath, scope: ScopeInput }),
  output: PolicyVersion,
  errors: ['managed_elsewhere', 'sandbox_key_not_allowed'],
  request: { scope: { project_id: null } },
  example: { ...versionExample, status: 'draft', scopes: [] },
  run: async (context, { name, scope }) => viewOne(context, await deactivate(context, { name, scope })),
});

export const rollbackPolicyOperation = operation({
  name: 'policies.rollback',
  method: 'POST',
  path: '/v1/policies/:name/rollback',
  summary: 'Activate the version that was active in the scope before',
  audience: writers,
  input: Type.Object({ name: NameInPath, version: Type.Optional(VersionNumber), scope: ScopeInput }),
  output: PolicyVersion,
  errors: ['managed_elsewhere', 'sandbox_key_not_allowed', 'state_conflict'],
  request: { scope: { project_id: null } },
  example: versionExample,
  run: async (context, { name, version, scope }) =>
    viewOne(context, await rollback(context, { name, version, scope })),
});

export const deletePolicyOperation = operation({
  name: 'policies.delete',
  method: 'DELETE',
  path: '/v1/policies/:name',
  summary: 'Delete a policy that is not active anywhere, with all its versions',
  audience: writers,
  input: Type.Object({ name: NameInPath }),
  output: Nothing,
  errors: ['managed_elsewhere', 'in_use'],
  status: 204,
  example: {},
  run: (context, { name }) =>
    context.transaction(async (context) => {
      const { org_id } = orgCaller(context);
      const writer = await writerOf(context);
      await lockPolicies(context.db, org_id);
      const policy = await getPolicy(context, name);
      ownerAfter(context, policy, writer);
      const active = await listActive(context.db, org_id, name);
      if (active.length > 0) {
        throw new ServiceError('in_use', 'The policy is active; deactivate it first.', {
          details: { scopes: active.map(({ project_id }) => ({ project_id })) },
        });
      }
      await deletePolicy(context.db, { org_id, name, at: context.now() });
      return {};
    }),
});

export const policyOperations = [
  listPoliciesOperation,
  createPolicyOperation,
  validatePolicyOperation,
  getPolicySchemaOperation,
  listPolicyVersionsOperation,
  getPolicyVersionOperation,
  createPolicyVersionOperation,
  activatePolicyOperation,
  deactivatePolicyOperation,
  rollbackPolicyOperation,
  deletePolicyOperation,
];
