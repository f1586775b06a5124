// Calls of runs, which the worker makes for the organization that started one (core/evals): by a credential that it signs, and
// never for more than a cap.
import type { IncomingHttpHeaders } from 'node:http';
import { type Db, type MicroUsd, microUsd, type RootKeyRing, ServiceError } from '@svc/core/kernel/index.ts';
import { type Grant, grantOfRun, readRunCredential, runSecret } from '@svc/core/keys/index.ts';

/** Micro-USD that the call may be charged at most. Of no effect with an API key. */
const CAP_HEADER = 'x-svc-cost-cap-micro';

/** The cap of a call of a run. @throws ServiceError invalid_request where there is none. */
export function costCapOf(headers: IncomingHttpHeaders): MicroUsd {
  const value = headers[CAP_HEADER];
  if (typeof value === 'string' && /^\d{1,15}$/.test(value)) return microUsd(Number(value));
  throw new ServiceError('invalid_request', 'A call of a run needs a cap.', { param: CAP_HEADER });
}

/** Whom `credential` speaks for. @throws ServiceError invalid_api_key, org_inactive. */
export async function runAdmission(
  { db, root_key }: { db: Db; root_key: RootKeyRing },
  credential: string,
): Promise<{ grant: Grant; secret: string }> {
  const claims = readRunCredential(root_key, credential);
  return { grant: await grantOfRun({ db, root_key }, claims), secret: runSecret(root_key, claims.run_id) };
}
