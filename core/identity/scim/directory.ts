// Who asks: the directory of one organization. Everything it does stays in that organization.
import type { Context, ScimCaller } from '../../kernel/index.ts';

/** The caller, which is a directory. @throws Error (a defect) for any other. */
export function directoryOf(context: Context): ScimCaller {
  const { caller } = context;
  if (caller.kind !== 'scim') throw new Error('a directory was expected');
  return caller;
}

/** The address under which directories reach this installation. */
export function scimUrl(context: Context): string {
  return `${context.services.sign_in.base_url}/scim/v2`;
}
