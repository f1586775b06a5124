// Who asks: the directory of one organization. Everything it does stays in that organization.
import type { Context, ScimCaller } from '../../kernel/index.ts';
import { addressHere } from '../seller.ts';

/** The caller, which is a directory. @throws Error (a defect) for any other. */
export function directoryOf(context: Context): ScimCaller {
  const { caller } = context;
  if (caller.kind !== 'scim') throw new Error('a directory was expected');
  return caller;
}

/** The address under which directories reach this installation: at the storefront that was asked, or at ours. */
export async function scimUrl(context: Context): Promise<string> {
  return `${await addressHere(context)}/scim/v2`;
}
