// Staff make an organization a reseller, or one without customers an ordinary one again.
import { Type } from 'typebox';
import { auditTargetOf, getStaffOrg } from '../credits/index.ts';
import { writeAudit } from '../identity/index.ts';
import { idOf, lineOf, oneOf, operation } from '../kernel/index.ts';
import { changeTerms } from '../orgs/index.ts';

export const setOrgKindOperation = operation({
  name: 'staff.orgs.kind.set',
  method: 'POST',
  path: '/staff/orgs/:id/kind',
  summary: 'Make an organization a reseller, or one without customers an ordinary one',
  audience: { kind: 'staff', roles: ['finance', 'support'] },
  input: Type.Object({
    id: Type.String(),
    kind: oneOf(['team', 'reseller'], 'SettableOrganizationKind'),
    reason: lineOf(500),
  }),
  output: Type.Object({
    id: idOf('org'),
    kind: oneOf(['team', 'personal', 'reseller', 'child'], 'OrganizationKind'),
  }),
  errors: ['state_conflict', 'in_use'],
  example: { id: 'org_01KACZ3V8S6T5R4Q3P2N1M0K9J', kind: 'reseller' },
  run: (context, { id, kind, reason }) =>
    context.transaction(async (context) => {
      const org = await getStaffOrg(context, id);
      await changeTerms(context, org.id, { kind });
      await writeAudit(context, {
        ...{ action: 'staff.orgs.kind.set', ...auditTargetOf(org), reason },
        ...{ before: { kind: org.kind }, after: { kind } },
      });
      return { id: org.id, kind };
    }),
});
