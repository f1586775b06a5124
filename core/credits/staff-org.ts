// The organization that staff act on, and how the audit log names it.
import { Type } from 'typebox';
import { writeAudit } from '../identity/index.ts';
import { type Context, notFound, oneOf } from '../kernel/index.ts';
import { findOrg, type Org } from '../orgs/index.ts';

/** Whose book is meant, in requests of staff; live unless given. */
export const Env = Type.Optional(oneOf(['live', 'test'], 'Environment'));

/** The organization with this id or slug. @throws ServiceError not_found. */
export async function getStaffOrg(context: Context, id: string): Promise<Org> {
  const org = await findOrg(context.db, id);
  if (org === null) throw notFound();
  return org;
}

/** The organization as the object of an audit entry. */
export function auditTargetOf(org: Org) {
  return { org_id: org.id, target: { type: 'org', id: org.id, display: org.slug } };
}

/** The organization that staff look into; the look, which `action` names, is in its audit log. @throws ServiceError not_found. */
export async function lookInto(context: Context, id: string, action: string): Promise<Org> {
  const org = await getStaffOrg(context, id);
  await writeAudit(context, { action, ...auditTargetOf(org) });
  return org;
}
