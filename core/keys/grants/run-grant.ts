// Calls that the service itself makes for an organization, in a run that a key or a person started. The worker that makes them
// has no API key, and none may be stored for it: it signs who the calls are for, for some minutes, under the key ring that
// gateway and worker share. Every call asks the database again, so a key that was revoked ends its runs too.
import {
  type Context,
  deriveKey,
  deriveKeys,
  type Environment,
  equalBytes,
  hmacSha256,
  type Id,
  nowMs,
  type RootKeyRing,
  ServiceError,
} from '../../kernel/index.ts';
import { orderBudget } from '../../ledger/index.ts';
import {
  findGrantFacts,
  type GrantFacts,
  legalCallsEnd,
  type Org,
  type PepperPlace,
  type Project,
} from '../../orgs/index.ts';
import { findPeopleNumber, insertPeopleNumber } from '../people-store.ts';
import { CURRENT_SVC_VERSION } from '../rights.ts';
import { findKey } from '../store.ts';
import type { Grant } from '../types.ts';
import { grantOf, inherited, statusAt } from './grant.ts';
import { NO_KEY, UNLIMITED } from './session-grant.ts';

export const RUN_PREFIX = 'svc-run-';
/** How long a credential is good for: a page of calls gets a new one. */
const TTL_MS = 900_000;
const FORM = /^svc-run-([\w-]{1,1200})\.([\w-]{43})$/;

/** Whom the calls of a run are for. */
export interface RunClaims {
  readonly run_id: string;
  readonly org_id: Id<'org'>;
  readonly project_id: Id<'project'>;
  readonly environment: Environment;
  /** Null: a person started it. */
  readonly key_id: Id<'key'> | null;
  readonly key_no: number;
}

const PURPOSE = 'run credentials';

/** A credential for calls of `claims`, good for a quarter of an hour. */
export function runCredential(root_key: RootKeyRing, claims: RunClaims): string {
  const { run_id, org_id, project_id, environment, key_id, key_no } = claims;
  const said = { run_id, org_id, project_id, environment, key_id, key_no, until_ms: nowMs() + TTL_MS };
  const body = Buffer.from(JSON.stringify(said)).toString('base64url');
  return `${RUN_PREFIX}${body}.${hmacSha256(deriveKey(root_key, PURPOSE), body).toString('base64url')}`;
}

/**
 * What answers of the run are sealed with in place of an API key's secret: the same for all its credentials, so that a
 * worker that takes over reads what another one paid for.
 */
export function runSecret(root_key: RootKeyRing, run_id: string): string {
  return hmacSha256(deriveKey(root_key, 'run answers'), run_id).toString('hex');
}

function refusal(reason: string): ServiceError {
  return new ServiceError('invalid_api_key', 'The credential of this run cannot be used.', {
    details: { reason },
  });
}

/** The claims of `credential`. @throws ServiceError invalid_api_key: forged, damaged or older than a quarter of an hour. */
export function readRunCredential(root_key: RootKeyRing, credential: string): RunClaims {
  const [, body, signature] = FORM.exec(credential) ?? [];
  if (body === undefined || signature === undefined) throw refusal('unknown');
  const given = Buffer.from(signature, 'base64url');
  const isOurs = (key: Buffer) => equalBytes(given, hmacSha256(key, body));
  if (!deriveKeys(root_key, PURPOSE).some(isOurs)) throw refusal('unknown');
  const { until_ms, ...claims } = JSON.parse(Buffer.from(body, 'base64url').toString()) as RunClaims & {
    until_ms: number;
  };
  if (until_ms <= nowMs()) throw refusal('expired');
  return claims;
}

async function grantOfKey(place: PepperPlace, claims: RunClaims, key_id: Id<'key'>): Promise<Grant> {
  const { org_id } = claims;
  const key = await findKey(place.db, { org_id, environment: null, id: key_id });
  const status = key === null ? 'revoked' : statusAt(key, new Date(nowMs()));
  if (key === null || (status !== 'active' && status !== 'rotating')) throw refusal(status);
  const facts = await findGrantFacts(place, key);
  if (facts === null) throw refusal('unknown');
  refuseInactive(facts);
  return grantOf(key, facts);
}

function refuseInactive({ status, legal_outstanding_since }: GrantFacts): void {
  if (status !== 'active') throw new ServiceError('org_inactive', 'The organization is closed or suspended.');
  const end = legalCallsEnd(legal_outstanding_since);
  if (end === null || nowMs() < end.getTime()) return;
  throw new ServiceError('org_inactive', 'The terms in force have waited too long to be accepted.', {
    details: { reason: 'legal' },
  });
}

/**
 * The grant with which calls of a run are made: that of the key that started it, as it is now; of a person's run, that of
 * the project. @throws ServiceError invalid_api_key, org_inactive.
 */
export async function grantOfRun(place: PepperPlace, claims: RunClaims): Promise<Grant> {
  if (claims.key_id !== null) return grantOfKey(place, claims, claims.key_id);
  const { org_id, project_id, environment, key_no } = claims;
  const facts = await findGrantFacts(place, { org_id, project_id });
  if (facts === null) throw refusal('unknown');
  refuseInactive(facts);
  const { limits, ...rest } = inherited(facts, { environment, key_no, data_policy: null });
  return {
    ...{ org_id, project_id, key_id: NO_KEY.id, environment },
    ...rest,
    limits: { ...limits, key: UNLIMITED },
    svc_version: CURRENT_SVC_VERSION,
  };
}

/**
 * The number under which calls that people have made in `project` count in the ledger, without a budget of its own. Call
 * inside a transaction.
 */
export async function peopleNumber(
  context: Context,
  org: Org,
  at: { readonly project: Project; readonly environment: Environment },
): Promise<number> {
  const { project, environment } = at;
  const place = { project_id: project.id, environment };
  const known = await findPeopleNumber(context.db, place);
  if (known !== null) return known;
  await insertPeopleNumber(context.db, place);
  const key_no = (await findPeopleNumber(context.db, place)) as number;
  await orderBudget(context, org.shard, {
    book_id: environment === 'live' ? org.live_book_id : org.sandbox_book_id,
    subject: { key_no },
    ...{ cap_micro_usd: null, hard: true, alerts: [] },
  });
  return key_no;
}
