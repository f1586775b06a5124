// The storefront of a reseller and its domains, for the people of the reseller.
import { currencies } from '@svc/core/kernel/index.ts';
import {
  addDomainOperation,
  CheckView,
  certificateFaultNames,
  certificateStates,
  checkNames,
  DomainView,
  domainActors,
  faultNames,
  getStorefrontOperation,
  listDomainsOperation,
  ownStorefrontOperation,
  PublicStorefrontView,
  putStorefrontOperation,
  recordTypes,
  registrations,
  removeDomainOperation,
  StorefrontView,
  verifyDomainOperation,
} from '@svc/core/storefronts/index.ts';
import { builder, derive } from '../../builder.ts';
import { nullWhenMissing } from '../../missing.ts';
import { mutation } from '../../mutation.ts';
import { Reseller } from './reseller.ts';

derive.enum('StorefrontRegistration', registrations);
derive.enum('Currency', currencies);
derive.enum('StorefrontDomainFault', faultNames);
derive.enum('StorefrontDomainCheckName', checkNames);
derive.enum('StorefrontDomainRecordType', recordTypes);
derive.enum('StorefrontDomainActor', domainActors);
derive.enum('StorefrontDomainCertificateState', certificateStates);
derive.enum('StorefrontDomainCertificateFault', certificateFaultNames);

const Storefront = derive.output('ResellerStorefront', StorefrontView);
const Domain = derive.output('StorefrontDomain', DomainView);
const Check = derive.output('StorefrontDomainCheck', CheckView);

const Shown = derive.output('Storefront', PublicStorefrontView);

builder.queryFields((t) => ({
  storefront: t.field({
    type: Shown,
    nullable: true,
    description: 'The storefront of the reseller whose customer the caller is; null for everybody else.',
    extensions: { operation: ownStorefrontOperation.name },
    resolve: (_root, _args, { runner }) => nullWhenMissing(runner.run(ownStorefrontOperation, {})),
  }),
}));

builder.objectFields(Reseller, (t) => ({
  storefront: t.field({
    type: Storefront,
    nullable: true,
    description: 'What customers see in place of us.',
    extensions: { operation: getStorefrontOperation.name },
    resolve: (_root, _args, { runner }) => runner.run(getStorefrontOperation, {}),
  }),
  domains: t.field({
    type: [Domain],
    nullable: true,
    description: 'Domains of the storefront, by name.',
    extensions: { operation: listDomainsOperation.name },
    resolve: async (_root, _args, { runner }) => (await runner.run(listDomainsOperation, {})).data,
  }),
}));

interface Payload {
  readonly answer: unknown;
}
type Fields = Parameters<Parameters<typeof mutation>[0]['payload']>[0];
const domain = (t: Fields) => ({
  domain: t.field({ type: Domain, resolve: ({ answer }: Payload) => answer }),
});

mutation({
  name: 'setResellerStorefront',
  operation: putStorefrontOperation,
  input: putStorefrontOperation.input,
  description: 'Replaces the storefront: what is left out gets its default, and the logo is fetched once.',
  payload: (t) => ({
    storefront: t.field({ type: Storefront, resolve: ({ answer }: Payload) => answer }),
  }),
});

mutation({
  name: 'addResellerDomain',
  operation: addDomainOperation,
  input: addDomainOperation.input,
  description: 'Claims a domain for the storefront.',
  payload: domain,
});

mutation({
  name: 'verifyResellerDomain',
  operation: verifyDomainOperation,
  input: verifyDomainOperation.input,
  description: 'Looks at the records of a domain and says what is wrong; with its token found, it is proved.',
  payload: (t) => ({
    ...domain(t),
    checks: t.field({
      type: [Check],
      resolve: ({ answer }: Payload) => (answer as { readonly checks: unknown[] }).checks,
    }),
  }),
});

mutation({
  name: 'removeResellerDomain',
  operation: removeDomainOperation,
  input: removeDomainOperation.input,
  description: 'Gives a domain up; nobody else can prove it for thirty days.',
  payload: (t) => ({ ok: t.boolean({ resolve: () => true }) }),
});
