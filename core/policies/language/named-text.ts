// The text of a policy that a request is about: a version that is stored, or one that is sent with it.
import { Type } from 'typebox';
import { type Context, invalid } from '../../kernel/index.ts';
import { judgePolicy } from '../shadow/allowance.ts';
import { refuseInvalid } from '../write.ts';
import { findStoredText } from './read.ts';

/** How requests name a text beside the name of its policy. */
export const textInput = {
  version: Type.Optional(
    Type.Integer({
      ...{ minimum: 1, maximum: 2_147_483_647 },
      description: 'absent: the active version, else the newest',
    }),
  ),
  yaml: Type.Optional(
    Type.String({
      description: 'a text that is not stored yet, in place of a version; the policy need not exist',
    }),
  ),
};

/**
 * The text that a request names; one that was sent has version 0.
 * @throws ServiceError not_found, invalid_policy, and invalid_request where both are named.
 */
export async function findPolicyText(
  context: Context,
  { name, version, yaml }: { readonly name: string; readonly version?: number; readonly yaml?: string },
): Promise<{ version: number; yaml: string }> {
  if (yaml === undefined) return findStoredText(context, name, version);
  if (version !== undefined) throw invalid('version', 'conflict', 'Give version or yaml, not both.');
  refuseInvalid(await judgePolicy(context, yaml, name));
  return { version: 0, yaml };
}
