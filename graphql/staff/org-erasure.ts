// Erasures of organizations in the staff schema.
import {
  cancelOrgErasureByStaffOperation,
  getOrgErasureOperation,
  getOrgErasureTermsOperation,
  listOrgErasuresOperation,
  OrgErasureTermsView,
  OrgErasureView,
  requestOrgErasureByStaffOperation,
  setOrgErasureTermsOperation,
} from '@svc/core/org-erasure/index.ts';
import type { Runner } from '../run.ts';
import type { Parts } from './parts.ts';

// biome-ignore lint/suspicious/noExplicitAny: the builder knows its types, this part of the schema does not
type Any = any;

/** Adds what is due, a receipt, and the acts that ask for an erasure and take it back. */
export function addOrgErasure({ builder, derive, mutation }: Parts): void {
  const OrgErasure = derive.output('OrgErasure', OrgErasureView);
  const Terms = derive.output('OrgErasureTerms', OrgErasureTermsView);
  builder.queryFields((t: Any) => ({
    orgErasures: t.field({
      type: [OrgErasure],
      nullable: true,
      description: 'Erasures of organizations that have not ended, the one due first at the top.',
      extensions: { operation: listOrgErasuresOperation.name },
      resolve: async (_root: unknown, _args: unknown, { runner }: { runner: Runner }) =>
        (await runner.run(listOrgErasuresOperation, {})).data,
    }),
    orgErasure: t.field({
      type: OrgErasure,
      nullable: true,
      args: { orgId: t.arg.id({ required: true }) },
      description: 'The erasure of an organization, by id or slug, with its receipt.',
      extensions: { operation: getOrgErasureOperation.name },
      resolve: (_root: unknown, { orgId }: { orgId: string }, { runner }: { runner: Runner }) =>
        runner.run(getOrgErasureOperation, { id: orgId }),
    }),
    orgErasureTerms: t.field({
      type: Terms,
      nullable: true,
      description: 'How long erasures of organizations are announced.',
      extensions: { operation: getOrgErasureTermsOperation.name },
      resolve: (_root: unknown, _args: unknown, { runner }: { runner: Runner }) =>
        runner.run(getOrgErasureTermsOperation, {}),
    }),
  }));
  const payload = (t: Any) => ({
    erasure: t.field({ type: OrgErasure, resolve: (answer: unknown) => answer }),
  });
  mutation({
    name: 'requestOrgErasure',
    operation: requestOrgErasureByStaffOperation,
    description: 'Asks for the erasure of an organization for its owner; it begins after the notice.',
    rename: { id: 'orgId' },
    payload,
  });
  mutation({
    name: 'cancelOrgErasure',
    operation: cancelOrgErasureByStaffOperation,
    description: 'Takes the erasure of an organization back that has not begun.',
    rename: { id: 'orgId' },
    payload,
  });
  mutation({
    name: 'setOrgErasureTerms',
    operation: setOrgErasureTermsOperation,
    description: 'Sets how long erasures of organizations are announced that are asked for from now on.',
    payload: (t: Any) => ({
      terms: t.field({ type: Terms, resolve: (answer: unknown) => answer }),
    }),
  });
}
