// Domains of a storefront: claimed, proved by a TXT record, given up (docs/resellers/domains.md).
import { type Static, Type } from 'typebox';
import { readDomainName } from '../../egress/index.ts';
import {
  type Context,
  type Id,
  lineOf,
  listOf,
  Nothing,
  named,
  notFound,
  nullable,
  operation,
  Time,
} from '../../kernel/index.ts';
import { holders, resellerCaller } from '../../resellers/index.ts';
import { recordOf } from '../host-name.ts';
import { settingsOf } from '../settings.ts';
import { listCertificates } from '../tls/store.ts';
import { CertificateView, viewCertificate } from '../tls/view.ts';
import { claimDomain, DOMAINS_MAX, giveUpDomain, verifyDomain } from './domains.ts';
import { CheckView } from './faults.ts';
import { type DomainRow, listDomains } from './store.ts';

const DomainIn = lineOf(253);

export const DomainView = named(
  'StorefrontDomain',
  Type.Object({
    domain: Type.String(),
    record: Type.String({ description: 'the name at which the TXT record stands' }),
    token: Type.String({ description: 'what it holds' }),
    target: nullable(Type.String({ description: 'what the CNAME of the domain names' })),
    verified_at: nullable(Time),
    checked_at: nullable(Type.String({ ...Time, description: 'when the record was last looked for' })),
    created_at: Time,
    certificate: nullable(CertificateView),
  }),
);
type DomainView = Static<typeof DomainView>;

const VerifiedDomainView = named(
  'StorefrontDomainVerified',
  Type.Object({ ...DomainView.properties, checks: Type.Array(CheckView) }),
);

const example: DomainView = {
  ...{ domain: 'ai.acme.example', record: '_svc-storefront.ai.acme.example' },
  ...{ token: 'svc-verify=4g7kD9x2MqP0r5TwZ8z1C4g7kD9x2MqP', target: 'shops.llm.example' },
  ...{ verified_at: null, checked_at: null, created_at: '2026-11-21T10:00:00.000Z', certificate: null },
};

/** Domains of a reseller with their certificates. */
async function viewDomains(
  context: Context,
  org_id: Id<'org'>,
  rows: readonly DomainRow[],
): Promise<DomainView[]> {
  const { base: target, issues: is_ours = false } = settingsOf(context.services);
  const found = is_ours ? await listCertificates(context.db, org_id) : [];
  const certificates = new Map(found.map((row) => [row.domain, row]));
  const at = context.now();
  return rows.map((row) => ({
    ...viewDomain(row, target),
    certificate:
      row.verified_at === null ? null : viewCertificate(certificates.get(row.domain), { is_ours, at }),
  }));
}

async function viewOne(context: Context, org_id: Id<'org'>, row: DomainRow): Promise<DomainView> {
  return (await viewDomains(context, org_id, [row]))[0] as DomainView;
}

function viewDomain(
  { domain, token, ...row }: DomainRow,
  target: string | null,
): Omit<DomainView, 'certificate'> {
  return {
    ...{ domain, record: recordOf(domain), token, target },
    verified_at: row.verified_at?.toISOString() ?? null,
    checked_at: row.checked_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
  };
}

export const listDomainsOperation = operation({
  name: 'reseller.domains.list',
  method: 'GET',
  path: '/v1/reseller/storefront/domains',
  summary: `List the domains of the storefront, by name; at most ${DOMAINS_MAX}`,
  audience: holders('reseller.read'),
  input: Type.Object({}),
  output: listOf(DomainView),
  errors: ['grant_required'],
  example: { object: 'list', data: [example] },
  async run(context) {
    const { org_id } = resellerCaller(context);
    const rows = await listDomains(context.db, org_id);
    return { object: 'list' as const, data: await viewDomains(context, org_id, rows) };
  },
});

export const addDomainOperation = operation({
  name: 'reseller.domains.add',
  method: 'POST',
  path: '/v1/reseller/storefront/domains',
  summary: 'Claim a domain for the storefront; the answer says which records prove it and lead it here',
  audience: holders('storefront.write'),
  input: Type.Object({ domain: DomainIn }),
  output: DomainView,
  errors: ['grant_required', 'csrf_failed', 'already_exists', 'domain_taken', 'plan_limit_reached'],
  status: 201,
  request: { domain: 'ai.acme.example' },
  example,
  async run(context, { domain }) {
    const { org_id } = resellerCaller(context);
    return viewOne(context, org_id, await claimDomain(context, org_id, domain));
  },
});

/** The domain in a path; what is none is not there. */
function pathDomain(text: string): string {
  const read = readDomainName(text, 237);
  if (read.fault !== null) throw notFound();
  return read.domain;
}

export const verifyDomainOperation = operation({
  name: 'reseller.domains.verify',
  method: 'POST',
  path: '/v1/reseller/storefront/domains/:domain/verify',
  summary: 'Look at the records of a domain and say what is wrong; with its token found, it is proved',
  audience: holders('storefront.write'),
  input: Type.Object({ domain: DomainIn }),
  output: VerifiedDomainView,
  errors: ['grant_required', 'csrf_failed', 'domain_taken'],
  // Name servers are asked between two transactions.
  own_transactions: true,
  example: {
    ...{ ...example, verified_at: '2026-11-21T10:05:00.000Z', checked_at: '2026-11-21T10:05:00.000Z' },
    certificate: {
      ...{ state: 'valid', issuer: "Let's Encrypt", valid_until: '2027-02-19T10:06:00.000Z', fault: null },
      ...{ detail: null, who: null, fix: null, failed_at: null, next_at: '2027-01-20T10:06:00.000Z' },
    },
    checks: [
      {
        ...{ name: 'routing', type: 'CNAME', host: 'ai.acme.example', expected: 'shops.llm.example' },
        ...{ observed: ['old.acme.example'], ok: false, fault: 'cname_elsewhere', who: 'you' },
        fix: 'The CNAME leads elsewhere. Change it to the expected name.',
      },
    ],
  },
  async run(context, { domain }) {
    const at = { org_id: resellerCaller(context).org_id, domain: pathDomain(domain) };
    const { row, checks } = await verifyDomain(context, at);
    return { ...(await viewOne(context, at.org_id, row)), checks };
  },
});

export const removeDomainOperation = operation({
  name: 'reseller.domains.remove',
  method: 'DELETE',
  path: '/v1/reseller/storefront/domains/:domain',
  summary: 'Give a domain up; nobody else can prove it for thirty days',
  audience: holders('storefront.write'),
  input: Type.Object({ domain: DomainIn }),
  output: Nothing,
  errors: ['grant_required', 'csrf_failed'],
  status: 204,
  example: {},
  async run(context, { domain }) {
    await giveUpDomain(context, { org_id: resellerCaller(context).org_id, domain: pathDomain(domain) });
    return {};
  },
});

export const domainOperations = [
  listDomainsOperation,
  addDomainOperation,
  verifyDomainOperation,
  removeDomainOperation,
] as const;
