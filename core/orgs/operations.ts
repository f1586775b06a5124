// Reading the organization acted in. The list is identity's: it asks what bars a session.
import { type Static, Type } from 'typebox';
import {
  idOf,
  named,
  notFound,
  nullable,
  oneOf,
  operation,
  orgCaller,
  type Role,
  sendVersion,
  Time,
} from '../kernel/index.ts';
import { monthOf } from './plans.ts';
import { findOrgRecords, type OrgRecord } from './store.ts';

const roles = ['owner', 'admin', 'developer', 'billing', 'viewer'] as const;
const audience = { kind: 'key', scopes: 'any', session: roles, while_closed: true } as const;
const Text = nullable(Type.String());

/** An organization with everything its members may read. */
/** What becomes of the keys of a member who leaves. */
export const departures = ['block', 'keep', 'transfer'] as const;

export const OrgView = named(
  'Organization',
  Type.Object({
    id: idOf('org'),
    slug: Type.String(),
    name: Type.String(),
    kind: oneOf(['team', 'personal', 'reseller', 'child'], 'OrganizationKind'),
    status: oneOf(['active', 'suspended', 'closed'], 'OrganizationStatus'),
    plan_id: Type.String(),
    plan_period_end: Time,
    billing_country: Type.String({ description: 'ISO 3166-1 alpha-2' }),
    billing_currency: Type.String({ description: 'ISO 4217' }),
    legal_name: Text,
    gstin: Text,
    tax_status: oneOf(['gst_registered', 'unregistered', 'sez', 'overseas']),
    billing_email: Text,
    billing_address: nullable(Type.Object({}, { additionalProperties: true })),
    low_balance_micro: Type.Integer({
      description: '`credits.low` and a mail when available + held falls below it; 0: never',
    }),
    paused: nullable(
      Type.Object({ reason: Type.Literal('suspended') }, { description: 'why all calls are refused' }),
    ),
    role: nullable(oneOf(roles, 'Role')),
    settings: Type.Object({
      security: Type.Object({
        require_2fa: Type.Boolean(),
        sso_counts_as_2fa: Type.Boolean(),
        session_hours: Type.Integer(),
        console_ip_allow: Type.Array(Type.String()),
        key_default_expiry_days: Type.Integer(),
        on_deprovision_keys: oneOf(departures, 'OnDeprovisionKeys'),
        transfer_keys_to: nullable(Type.String()),
      }),
    }),
    data_policy: Type.Object({}, { additionalProperties: true }),
    created_at: Time,
    closed_at: Type.Optional(Time),
    erasure_requested_at: Type.Optional(Time),
    erasure_due_at: Type.Optional(
      Type.String({ format: 'date-time', description: 'when the erasure that was asked for begins' }),
    ),
  }),
);
export type OrgView = Static<typeof OrgView>;

/** What the documentation shows. */
export const orgExample = {
  id: 'org_01KACZ3V8S6T5R4Q3P2N1M0K9J',
  slug: 'acme',
  name: 'Acme',
  kind: 'team',
  status: 'active',
  plan_id: 'payg',
  plan_period_end: '2026-12-01T00:00:00.000Z',
  billing_country: 'IN',
  billing_currency: 'INR',
  legal_name: null,
  gstin: null,
  tax_status: 'unregistered',
  billing_email: null,
  billing_address: null,
  low_balance_micro: 5_000_000,
  paused: null,
  role: 'owner',
  settings: {
    security: {
      ...{ require_2fa: false, sso_counts_as_2fa: true, session_hours: 72 },
      ...{ console_ip_allow: [], key_default_expiry_days: 0 },
      ...{ on_deprovision_keys: 'block', transfer_keys_to: null },
    },
  },
  data_policy: { logging: 'off', retention_days: 30, zdr: false, no_train: false, regions: [] },
  created_at: '2026-11-21T10:00:00.000Z',
} satisfies OrgView;

/** `org` on the wire at `at`; `role` is the caller's in it, null for a key. */
export function viewOrg(org: OrgRecord, role: Role | null, at: Date): OrgView {
  const { settings, data_policy, created_at, closed_at, updated_at: _, ...rest } = org;
  const { erasure_requested_at, erasure_due_at, ...plain } = rest;
  const security = settings.security ?? {};
  return {
    ...plain,
    plan_period_end: monthOf(at).ends_at.toISOString(),
    paused: org.status === 'suspended' ? { reason: 'suspended' } : null,
    role,
    settings: {
      security: {
        require_2fa: security.require_2fa ?? false,
        sso_counts_as_2fa: security.sso_counts_as_2fa ?? true,
        session_hours: security.session_hours ?? 72,
        console_ip_allow: [...(security.console_ip_allow ?? [])],
        key_default_expiry_days: security.key_default_expiry_days ?? 0,
        on_deprovision_keys: security.on_deprovision_keys ?? 'block',
        transfer_keys_to: security.transfer_keys_to ?? null,
      },
    },
    data_policy: { ...data_policy },
    created_at: created_at.toISOString(),
    ...(closed_at === null ? {} : { closed_at: closed_at.toISOString() }),
    ...(erasure_requested_at === null ? {} : { erasure_requested_at: erasure_requested_at.toISOString() }),
    ...(erasure_due_at === null ? {} : { erasure_due_at: erasure_due_at.toISOString() }),
  };
}

export const getOrgOperation = operation({
  name: 'orgs.get',
  method: 'GET',
  path: '/v1/orgs/:id',
  summary: 'Read an organization',
  audience,
  input: Type.Object({ id: idOf('org') }),
  output: OrgView,
  errors: [],
  versioned: true,
  example: orgExample,
  async run(context, { id }) {
    const caller = orgCaller(context);
    const [org] = id === caller.org_id ? await findOrgRecords(context.db, [id]) : [];
    if (org === undefined) throw notFound();
    sendVersion(context, org.updated_at);
    return viewOrg(org, caller.kind === 'session' ? caller.role : null, context.now());
  },
});

export const orgOperations = [getOrgOperation] as const;
