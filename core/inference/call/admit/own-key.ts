// A request that names things of the caller's account at a provider: it can be answered with the caller's own key there
// and by nobody else.

import type { OrgKeys } from '../../../byok/index.ts';
import type { Model } from '../../../catalog/index.ts';
import { ServiceError } from '../../../kernel/index.ts';
import type { AccountState } from '../../../routing/index.ts';
import type { Dialect } from '../../canonical/contract.ts';
import type { CanonicalRequest } from '../../canonical/types.ts';
import { callersPath } from '../attempt/places.ts';
import { familyOfFile, storedFile } from './account-state.ts';

export interface Account extends AccountState {
  /** Path of what is named; null: the request only says that it may name something. */
  readonly param: string | null;
}

/** What `request`, sent in `dialect`, names of an account; null: nothing, and nothing was allowed to. */
export function accountOf({ account }: Pick<Dialect, 'account'>, request: CanonicalRequest): Account | null {
  const file = storedFile(request);
  if (file !== null) return { family: familyOfFile(request), param: callersPath(request, file) };
  // Such a dialect lets blocks and members of an account pass where the request asks for an own key only.
  if (account === null || request.svc.route.byok !== 'only') return null;
  const member = account.members.find((name) => request.ext?.[name] != null);
  return member === undefined ? { family: null, param: null } : { family: account.family, param: member };
}

/** The refusal of a request that names `param` of an account which no own key reaches. */
export function ownKeyRequired(param: string): ServiceError {
  if (param === 'thread') {
    // The newest tool runners fall back to the whole history by themselves when they read these details.
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

/** Whether the organisation has a key at a provider of `model`. */
export function hasOwnKey(keys: OrgKeys, model: Model | null): boolean {
  if (keys.size === 0 || model === null) return false;
  return model.endpoints.some(({ provider, byok }) => byok !== undefined && keys.has(provider));
}
