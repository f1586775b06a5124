// What a person may ask about calls without a key: a session stands for the oldest project of its environment, which is
// the one that the organization began with.
import { type Id, ServiceError, type SessionCaller } from '../../kernel/index.ts';
import { findGrantFacts, listProjects, type PepperPlace } from '../../orgs/index.ts';
import { CURRENT_SVC_VERSION } from '../rights.ts';
import type { Grant } from '../types.ts';
import { inherited } from './grant.ts';

/** No key has these, so that no policy, budget or limit of a key applies. */
export const NO_KEY = { id: 'key_00000000000000000000000000' as Id<'key'>, no: 0 };
export const UNLIMITED = { rpm: null, tpm: null, concurrency: null };

/**
 * The grant with which `caller`, who is in an organization, asks.
 * @throws ServiceError not_found when the organization has no project in the environment.
 */
export async function grantOfSession(place: PepperPlace, caller: SessionCaller): Promise<Grant> {
  const { environment } = caller;
  const org_id = caller.org_id as Id<'org'>;
  const [project] = await listProjects(place.db, { org_id, environment, id: null });
  const facts =
    project === undefined ? null : await findGrantFacts(place, { org_id, project_id: project.id });
  if (project === undefined || facts === null) {
    throw new ServiceError('not_found', 'The organization has no project in this environment.');
  }
  const { limits, ...rest } = inherited(facts, { environment, key_no: NO_KEY.no, data_policy: null });
  return {
    ...{ org_id, project_id: project.id, key_id: NO_KEY.id, environment },
    ...rest,
    limits: { ...limits, key: UNLIMITED },
    svc_version: CURRENT_SVC_VERSION,
  };
}
