// Resellers in the staff schema.
import {
  listResellersOperation,
  listStaffCustomersOperation,
  listStaffMonthsOperation,
  StaffCustomerView,
  StaffMonthView,
  StaffResellerView,
  setOrgKindOperation,
} from '@svc/core/resellers/index.ts';
import type { Runner } from '../run.ts';
import { pageField } from './page-field.ts';
import type { Parts } from './parts.ts';

// biome-ignore lint/suspicious/noExplicitAny: the builder knows its types, this part of the schema does not
type Any = any;

/** Adds resellers, their customers and months, and the act that makes an organization one, or an ordinary one again. */
export function addResellers({ builder, derive, connectionType, orgPage, mutation, StaffOrg }: Parts): void {
  derive.enum('SettableOrganizationKind', ['team', 'reseller']);
  const Resellers = connectionType('StaffReseller', derive.output('StaffReseller', StaffResellerView));
  const Customers = connectionType('StaffCustomer', derive.output('StaffCustomer', StaffCustomerView));
  const Month = derive.output('StaffResellerMonth', StaffMonthView);
  builder.queryFields((t: Any) => ({
    staffResellers: pageField(t, {
      type: Resellers,
      operation: listResellersOperation,
      description: 'Resellers with how their customers stand and what they earn, newest first.',
    }),
  }));
  builder.objectFields(StaffOrg, (t: Any) => ({
    customers: orgPage(t, 'Customers', listStaffCustomersOperation, Customers),
    earned: t.field({
      type: [Month],
      nullable: true,
      description: 'What it earned as a reseller, by month, newest first.',
      extensions: { operation: listStaffMonthsOperation.name },
      resolve: async ({ id }: { id: string }, _args: unknown, { runner }: { runner: Runner }) =>
        (await runner.run(listStaffMonthsOperation, { id })).data,
    }),
  }));
  mutation({
    name: 'setOrgKind',
    operation: setOrgKindOperation,
    description: 'Makes an organization a reseller, or one without customers an ordinary one.',
    payload: (t: Any) => ({
      id: t.id({ resolve: ({ id }: { id: string }) => id }),
      kind: t.field({ type: 'OrganizationKind', resolve: ({ kind }: { kind: string }) => kind }),
    }),
  });
}
