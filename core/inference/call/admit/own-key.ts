// Requests that refer to something in the caller's account at a provider. They can be answered only there, with the
// caller's own key.

import type { OrgKeys } from '../../../byok/index.ts';
import type { Model } from '../../../catalog/index.ts';
import { ServiceError } from '../../../kernel/index.ts';
import type { AccountState } from '../../../routing/index.ts';
import type { Dialect } from '../../canonical/contract.ts';
import type { CanonicalRequest } from '../../canonical/types.ts';
import { callersPath } from '../attempt/places.ts';
import { familyOfFile, storedFile } from './account-state.ts';

export interface Account extends AccountState {
  /** Path of the reference; null: the request only says that it may contain one. */
  readonly param: string | null;
}

/**
 * What `request`, sent in `dialect`, refers to in an account; null: nothing, and it may not contain such references.
 */
export function accountOf({ account }: Pick<Dialect, 'account'>, request: CanonicalRequest): Account | null {
  const file = storedFile(request);
  if (file !== null) return { family: familyOfFile(request), param: callersPath(request, file) };
  // Such a dialect accepts blocks and members that belong to an account only when the request demands an own key.
  if (account === null || request.svc.route.byok !== 'only') return null;
  const member = account.members.find((name) => request.ext?.[name] != null);
  return member === undefined ? { family: null, param: null } : { family: account.family, param: member };
}

/** The refusal of a request whose `param` refers to an account for which there is no own key. */
export function ownKeyRequired(param: string): ServiceError {
  if (param === 'thread') {
    // The newest tool runners resend the whole history by themselves when they read these details.
    return new ServiceError(
      'unsupported_parameter',
      "'thread' needs your own provider key; send the whole history.",
      {
        param,
        details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
      },
    );
  }
  const message = `'${param}' names something stored at a provider, which needs your own provider key there.`;
  return new ServiceError('unsupported_parameter', message, {
    param,
    details: { reason: 'own_key_required' },
  });
}

/** Whether the organization has a key at a provider that serves `model`. */
export function hasOwnKey(keys: OrgKeys, model: Model | null): boolean {
  if (keys.size === 0 || model === null) return false;
  return model.endpoints.some(({ provider, byok }) => byok !== undefined && keys.has(provider));
}
