// Limits of organizations that people make themselves, in the staff schema.
import {
  getNewOrgLimitsOperation,
  NewOrgLimitsView,
  setNewOrgLimitsOperation,
} from '@svc/core/identity/index.ts';
import type { Runner } from '../run.ts';
import type { Parts } from './parts.ts';

// biome-ignore lint/suspicious/noExplicitAny: the builder knows its types, this part of the schema does not
type Any = any;

/** Adds the limits, and the act that changes them. */
export function addNewOrgs({ builder, derive, mutation }: Parts): void {
  const NewOrgLimits = derive.output('NewOrgLimits', NewOrgLimitsView);
  builder.queryFields((t: Any) => ({
    newOrgLimits: t.field({
      type: NewOrgLimits,
      nullable: true,
      description: 'Limits of organizations that people make themselves.',
      extensions: { operation: getNewOrgLimitsOperation.name },
      resolve: (_root: unknown, _args: unknown, { runner }: { runner: Runner }) =>
        runner.run(getNewOrgLimitsOperation, {}),
    }),
  }));
  mutation({
    name: 'setNewOrgLimits',
    operation: setNewOrgLimitsOperation,
    description: 'Sets the limits of organizations that people make themselves; what is left out stays.',
    payload: (t: Any) => ({
      limits: t.field({ type: NewOrgLimits, resolve: (answer: unknown) => answer }),
    }),
  });
}
