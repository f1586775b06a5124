// Mail domains of an organization: claimed, proved by a TXT record, given up (docs/organizations/sign-on.md#domains).
import { Type } from 'typebox';
import { egressOf } from '../../egress/index.ts';
import {
  type Context,
  type Id,
  invalid,
  Nothing,
  named,
  notFound,
  nullable,
  oneOf,
  operation,
  orgCaller,
  ServiceError,
  secureText,
} from '../../kernel/index.ts';
import { lockOrg } from '../../orgs/index.ts';
import { writeAudit } from '../audit/audit.ts';
import { takeAlias } from './addresses.ts';
import { domainKey, recordOf } from './domain-name.ts';
import {
  type DomainRow,
  deleteDomain,
  findDomain,
  insertDomain,
  listDomains,
  proveDomain,
} from './domain-store.ts';
import { endRuledSessions } from './enforce.ts';
import { DomainIn, domainExample, SsoDomainView, type SsoDomainView as SsoDomainViewOf } from './schema.ts';

/** What is done here holds for all calls and people of the organization, so a test key may not. */
export const ssoAudience = {
  kind: 'key',
  scopes: ['manage:keys'],
  session: ['owner', 'admin'],
  sandbox: false,
} as const;
const DOMAINS_MAX = 50;
const LETTERS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A domain on the wire. */
export function viewDomain({ domain, token, verified_at }: DomainRow): SsoDomainViewOf {
  return { domain, record: recordOf(domain), token, verified_at: verified_at?.toISOString() ?? null };
}

export const addDomainOperation = operation({
  name: 'sso.domains.add',
  method: 'POST',
  path: '/v1/org/sso/domains',
  summary: 'Claim a mail domain; the answer says which TXT record proves it',
  audience: ssoAudience,
  input: Type.Object({ domain: DomainIn }),
  output: named('SsoDomainAdded', Type.Object({ domain: SsoDomainView, instructions: Type.String() })),
  errors: ['already_exists', 'plan_limit_reached'],
  status: 201,
  request: { domain: 'acme.example' },
  example: {
    domain: domainExample,
    instructions:
      'Publish a TXT record at _svc-challenge.acme.example with the value svc-verify=4g7kD9x2MqP0r5TwZ8z1C4g7kD9x2MqP, then verify.',
  },
  run: (context, input) =>
    context.transaction(async (context) => {
      const { org_id } = orgCaller(context);
      const domain = domainKey(input.domain);
      if (domain === null) {
        throw invalid('domain', 'format', 'This is no domain that an organization can own, as acme.example.');
      }
      // Two requests for the last place take turns.
      const org = await lockOrg(context.db, org_id);
      if (org === null) throw notFound();
      await takeAlias(context, org);
      if ((await listDomains(context.db, org_id)).length >= DOMAINS_MAX) {
        throw new ServiceError('plan_limit_reached', `An organization has at most ${DOMAINS_MAX} domains.`, {
          details: { limit: 'sso_domains', limit_value: DOMAINS_MAX },
        });
      }
      const token = `svc-verify=${secureText(LETTERS, 32)}`;
      const made = await insertDomain(context.db, { org_id, domain, token, at: context.now() });
      if (!made)
        throw new ServiceError('already_exists', 'The domain is in the list already.', { param: 'domain' });
      await writeAudit(context, { action: 'sso.domains.add', org_id, target: targetOf(domain) });
      return {
        domain: viewDomain(await getDomain(context, { org_id, domain })),
        instructions: `Publish a TXT record at ${recordOf(domain)} with the value ${token}, then verify.`,
      };
    }),
});

export const removeDomainOperation = operation({
  name: 'sso.domains.remove',
  method: 'DELETE',
  path: '/v1/org/sso/domains/:domain',
  summary: 'Give a mail domain up; its addresses cannot come by single sign-on any more',
  audience: ssoAudience,
  input: Type.Object({ domain: DomainIn }),
  output: Nothing,
  errors: [],
  status: 204,
  example: {},
  run: (context, input) =>
    context.transaction(async (context) => {
      const { org_id } = orgCaller(context);
      const domain = domainKey(input.domain);
      if (domain === null || !(await deleteDomain(context.db, { org_id, domain }))) throw notFound();
      await writeAudit(context, { action: 'sso.domains.remove', org_id, target: targetOf(domain) });
      return {};
    }),
});

const reasons = ['record_not_found', 'record_differs'] as const;

export const verifyDomainOperation = operation({
  name: 'sso.domains.verify',
  method: 'POST',
  path: '/v1/org/sso/domains/:domain/verify',
  summary: 'Look for the TXT record of a mail domain; found, the domain is proved',
  audience: ssoAudience,
  input: Type.Object({ domain: DomainIn }),
  output: named(
    'SsoDomainVerified',
    Type.Object({
      verified: Type.Boolean(),
      reason: nullable(oneOf(reasons, 'SsoDomainFault')),
      domain: SsoDomainView,
    }),
  ),
  errors: ['domain_taken', 'dns_unavailable'],
  own_transactions: true,
  example: {
    verified: true,
    reason: null,
    domain: { ...domainExample, verified_at: '2026-11-21T10:00:00.000Z' },
  },
  async run(context, input) {
    const { org_id } = orgCaller(context);
    const domain = domainKey(input.domain);
    if (domain === null) throw notFound();
    const claim = await getDomain(context, { org_id, domain });
    const fault = await lookFor(context, claim);
    // A record that is gone later is no way to lose a domain at once: the weekly look counts its misses.
    if (fault !== null) {
      return { verified: claim.verified_at !== null, reason: fault, domain: viewDomain(claim) };
    }
    return context.transaction(async (context) => {
      await lockOrg(context.db, org_id);
      await getDomain(context, { org_id, domain });
      if (!(await proveDomain(context.acrossOrgs.db, { org_id, domain, at: context.now() }))) {
        throw new ServiceError('domain_taken', 'Another organization has proved this domain.', {
          param: 'domain',
        });
      }
      const sessions_ended = await endRuledSessions(context, org_id);
      await writeAudit(context, {
        ...{ action: 'sso.domains.verify', org_id, target: targetOf(domain) },
        after: { verified: true, ...(sessions_ended === 0 ? {} : { sessions_ended }) },
      });
      return {
        verified: true,
        reason: null,
        domain: viewDomain(await getDomain(context, { org_id, domain })),
      };
    });
  },
});

/** Why the record of `claim` does not prove it; null when it does. @throws ServiceError dns_unavailable. */
async function lookFor(
  { services }: Context,
  { domain, token }: Pick<DomainRow, 'domain' | 'token'>,
): Promise<(typeof reasons)[number] | null> {
  const found = await egressOf(services).lookupTxt(recordOf(domain));
  if (found.kind === 'unavailable') {
    throw new ServiceError(
      'dns_unavailable',
      'No name server answered for the domain. Try again in a minute.',
      {
        retry_after_ms: 60_000,
      },
    );
  }
  if (found.kind !== 'records') return 'record_not_found';
  return found.texts.includes(token) ? null : 'record_differs';
}

async function getDomain(context: Context, at: { org_id: Id<'org'>; domain: string }): Promise<DomainRow> {
  const found = await findDomain(context.db, at);
  if (found === null) throw notFound();
  return found;
}

function targetOf(domain: string) {
  return { type: 'sso_domain', id: domain };
}
