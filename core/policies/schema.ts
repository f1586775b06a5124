// Wire shapes of policies.
import { type Static, Type } from 'typebox';
import { named, nullable, oneOf, Time } from '../kernel/index.ts';
import { policyName } from './types.ts';

export const policyStatuses = ['draft', 'active'] as const;
/** A name in a path: what has another shape is missing. */
export const NameInPath = Type.String();
export const NewName = Type.String({
  pattern: policyName,
  description: 'a-z, 0-9 and -, 1 to 63 characters',
});
/** Its size in bytes is judged by `validatePolicy`, so that a text that is too long is reported like any other fault. */
export const YamlText = Type.String({
  description: 'policy text in the language of docs/policies.md, YAML, at most 64 KiB',
});
export const VersionNumber = Type.Integer({ minimum: 1, maximum: 2_147_483_647 });
export const ScopeInput = Type.Optional(
  Type.Object(
    { project_id: Type.Optional(nullable(Type.String())) },
    { additionalProperties: false, description: 'absent or null project_id: the organization' },
  ),
);

const Remark = named(
  'PolicyRemark',
  Type.Object({
    path: Type.String({ description: 'dotted with indexes, $ for the document' }),
    line: Type.Integer(),
    column: Type.Integer(),
    message: Type.String(),
  }),
);

/** `not_supported`: a part of the language that this release knows and does not execute. */
export const policyFaultCodes = ['invalid', 'not_supported'] as const;
const Fault = named(
  'PolicyFault',
  Type.Object({
    path: Type.String({ description: 'dotted with indexes, $ for the document' }),
    line: Type.Integer(),
    column: Type.Integer(),
    code: oneOf(policyFaultCodes, 'PolicyFaultCode'),
    message: Type.String(),
  }),
);

const PolicyScope = named(
  'PolicyScope',
  Type.Object({
    project_id: nullable(Type.String({ description: 'null: the organization' })),
    activated_at: Time,
  }),
);

const versionMembers = {
  name: Type.String(),
  version: Type.Integer(),
  status: oneOf(policyStatuses, 'PolicyStatus'),
  yaml: Type.String(),
  content_hash: Type.String({ description: 'SHA-256 of the text, hex' }),
  managed_by: nullable(Type.String({ description: 'the manifest that wrote this version' })),
  policy_managed_by: nullable(Type.String({ description: 'the manifest that rules the policy now' })),
  scopes: Type.Array(PolicyScope),
  notices: Type.Array(Remark),
  created_by: Type.String({ description: 'the person or the key that stored it' }),
  created_at: Time,
};
export const PolicyVersion = named('PolicyVersion', Type.Object(versionMembers));
export type PolicyVersion = Static<typeof PolicyVersion>;

const Gateways = named(
  'PolicyGateways',
  Type.Object({
    applied: Type.Integer({
      description: 'live gateway processes whose next call is routed by this version',
    }),
    total: Type.Integer({ description: 'live gateway processes' }),
  }),
);

export const PolicyVersionDetail = named(
  'PolicyVersionDetail',
  Type.Object({
    ...versionMembers,
    gateways: Gateways,
  }),
);

const SummaryScope = named(
  'PolicySummaryScope',
  Type.Object({
    project_id: nullable(Type.String({ description: 'null: the organization' })),
    version: Type.Integer(),
    activated_at: Time,
    gateways: Gateways,
  }),
);

export const PolicySummary = named(
  'Policy',
  Type.Object({
    name: Type.String(),
    version: Type.Integer({ description: 'the active version, else the newest' }),
    newest_version: Type.Integer(),
    status: oneOf(policyStatuses, 'PolicyStatus'),
    managed_by: nullable(Type.String()),
    scopes: Type.Array(SummaryScope, { description: 'where which version is active' }),
    created_at: Time,
  }),
);

export const PolicyVerdict = named(
  'PolicyVerdict',
  Type.Object({
    valid: Type.Boolean(),
    path: Type.String({ description: 'of the first fault; empty when valid' }),
    message: Type.String({ description: 'of the first fault; empty when valid' }),
    faults: Type.Array(Fault),
    notices: Type.Array(Remark),
  }),
);

/** The JSON schema of the language, as an answer. */
export const PolicySchema = named('PolicySchema', Type.Record(Type.String(), Type.Unknown()));

const text = 'version: 1\npolicy: eu-private\ndefaults: {sort: price, require: {zdr: true, regions: [eu]}}\n';
export const versionExample: PolicyVersion = {
  name: 'eu-private',
  version: 3,
  status: 'active',
  yaml: text,
  content_hash: '6f1d6c0bfa2a1c0a3d6ad0b4b6c3f8c2b53b8a1d6c0e2f9a7d4c5b6a79808f1e',
  managed_by: null,
  policy_managed_by: null,
  scopes: [{ project_id: null, activated_at: '2026-11-21T10:00:00.000Z' }],
  notices: [],
  created_by: 'usr_0000000000000000000000000A',
  created_at: '2026-11-21T09:59:00.000Z',
};
