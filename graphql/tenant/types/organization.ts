// The organization that the caller has entered, and its projects.
import {
  archiveProjectOperation,
  CreateProjectInput,
  createProjectOperation,
  getRunOperation,
  listProjectsOperation,
  PatchProjectInput,
  ProjectView,
  patchProjectOperation,
  projectStatuses,
  RunView,
  resumeProjectOperation,
} from '@svc/core/budgets/index.ts';
import { closeOrgOperation } from '@svc/core/closing/index.ts';
import { createOrgOperation, listOrgsOperation, transferOrgOperation } from '@svc/core/identity/index.ts';
import { cancelOrgErasureOperation, requestOrgErasureOperation } from '@svc/core/org-erasure/index.ts';
import { departures, getOrgOperation, OrgView } from '@svc/core/orgs/index.ts';
import { lowBalanceMember, settingsMembers, updateOrgOperation } from '@svc/core/privacy/index.ts';
import { billingMembers } from '@svc/core/topups/index.ts';
import { Type } from 'typebox';
import { builder, derive, Node } from '../builder.ts';
import { nullWhenMissing } from '../missing.ts';
import { mutation } from '../mutation.ts';

derive.enum('OnDeprovisionKeys', departures);
derive.enum('OrganizationKind', ['team', 'personal', 'reseller', 'child']);
derive.enum('OrganizationStatus', ['active', 'suspended', 'closed']);
derive.enum('TaxStatus', ['gst_registered', 'unregistered', 'sez', 'overseas']);
derive.enum('ProjectStatus', projectStatuses);

export const Organization = derive.output('Organization', OrgView, { interfaces: [Node] });
export const Project = derive.output('Project', ProjectView, { interfaces: [Node] });
const Run = derive.output('Run', RunView);

builder.queryFields((t) => ({
  org: t.field({
    type: Organization,
    nullable: true,
    description: 'The current organization; null until one is entered.',
    extensions: { operation: getOrgOperation.name },
    resolve: async (_root, _args, { runner }) => {
      const { caller } = runner;
      const org_id = caller.kind === 'key' || caller.kind === 'session' ? caller.org_id : null;
      return org_id === null ? null : nullWhenMissing(runner.run(getOrgOperation, { id: org_id }));
    },
  }),
  orgs: t.field({
    type: [Organization],
    nullable: true,
    description: "The person's organizations, except those that do not admit this session; a key has one.",
    extensions: { operation: listOrgsOperation.name },
    resolve: async (_root, _args, { runner }) => (await runner.run(listOrgsOperation, {})).data,
  }),
  projects: t.field({
    type: [Project],
    nullable: true,
    extensions: { operation: listProjectsOperation.name },
    resolve: async (_root, _args, { loaders }) => [...(await loaders.projects()).values()],
  }),
  project: t.field({
    type: Project,
    nullable: true,
    args: { id: t.arg.id({ required: true }) },
    extensions: { operation: listProjectsOperation.name },
    resolve: async (_root, { id }, { loaders }) => (await loaders.projects()).get(id) ?? null,
  }),
  run: t.field({
    type: Run,
    nullable: true,
    description: 'What the calls of a project that name `svc.budget.id` have spent of their budget together.',
    args: { projectId: t.arg.id({ required: true }), id: t.arg.string({ required: true }) },
    extensions: { operation: getRunOperation.name },
    resolve: (_root, { projectId, id }, { runner }) =>
      nullWhenMissing(runner.run(getRunOperation, { id: projectId, run: id })),
  }),
}));

const billing = Type.Object({ id: OrgView.properties.id, ...billingMembers, ...lowBalanceMember });

mutation({
  name: 'updateBilling',
  operation: updateOrgOperation,
  input: billing,
  description:
    'Changes where the organization is taxed, what it pays in, and when it is told of a low balance.',
  payload: (t) => ({
    org: t.field({ type: Organization, resolve: ({ answer }: { readonly answer: unknown }) => answer }),
  }),
});

interface Payload {
  readonly answer: unknown;
}

mutation({
  name: 'updateOrgSettings',
  operation: updateOrgOperation,
  input: Type.Object({ id: OrgView.properties.id, ...settingsMembers }),
  description: 'Changes name, slug and security of the organization.',
  payload: (t) => ({ org: t.field({ type: Organization, resolve: ({ answer }: Payload) => answer }) }),
});

mutation({
  name: 'createOrg',
  operation: createOrgOperation,
  input: createOrgOperation.input,
  description: 'Makes an organization, which the person then owns.',
  payload: (t) => ({ org: t.field({ type: Organization, resolve: ({ answer }: Payload) => answer }) }),
});

mutation({
  name: 'transferOrg',
  operation: transferOrgOperation,
  input: transferOrgOperation.input,
  description: 'Makes another member the owner; whoever hands over becomes an admin.',
  payload: (t) => ({ ok: t.boolean({ resolve: () => true }) }),
});
mutation({
  name: 'closeOrg',
  operation: closeOrgOperation,
  input: closeOrgOperation.input,
  description: 'Closes the organization; for 90 days its owners can read invoices and ledger.',
  payload: (t) => ({ org: t.field({ type: Organization, resolve: ({ answer }: Payload) => answer }) }),
});

mutation({
  name: 'requestOrgErasure',
  operation: requestOrgErasureOperation,
  input: requestOrgErasureOperation.input,
  description:
    'Asks for the erasure of the organization; it begins after a notice and can be taken back until then.',
  payload: (t) => ({ org: t.field({ type: Organization, resolve: ({ answer }: Payload) => answer }) }),
});
mutation({
  name: 'cancelOrgErasure',
  operation: cancelOrgErasureOperation,
  input: cancelOrgErasureOperation.input,
  description: 'Takes the erasure of the organization back.',
  payload: (t) => ({ org: t.field({ type: Organization, resolve: ({ answer }: Payload) => answer }) }),
});

const payload = (t: Parameters<Parameters<typeof mutation>[0]['payload']>[0]) => ({
  project: t.field({ type: Project, resolve: ({ answer }: Payload) => answer }),
});

mutation({
  name: 'createProject',
  operation: createProjectOperation,
  input: CreateProjectInput,
  description: 'Makes a project.',
  payload,
});

mutation({
  name: 'updateProject',
  operation: patchProjectOperation,
  input: PatchProjectInput,
  description: 'Changes name, budget or alerts; what is left out stays, null is the default.',
  payload,
});

mutation({
  name: 'resumeProject',
  operation: resumeProjectOperation,
  input: resumeProjectOperation.input,
  description: 'Lets a project that its budget has stopped call again until the month ends.',
  payload,
});

mutation({
  name: 'archiveProject',
  operation: archiveProjectOperation,
  input: archiveProjectOperation.input,
  description: 'Ends a project that has no keys; its slug is free again.',
  payload: (t) => ({ ok: t.boolean({ resolve: () => true }) }),
});
