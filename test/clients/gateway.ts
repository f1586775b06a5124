// The gateway that a client test file talks to: sandbox models answer, a test key pays with play credit.
import { afterAll, beforeAll } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { startTestGateway, type TestGateway } from '../support/shared-gateway.ts';

/** Starts a gateway before the tests of the file and stops it after them; call the result inside tests. */
export function useGateway(env: Readonly<Record<string, string>> = {}): () => TestGateway {
  let gateway: TestGateway | null = null;
  beforeAll(async () => {
    gateway = await startTestGateway({ database_url: await createTestDatabase(), env });
  });
  afterAll(async () => {
    await gateway?.stop();
  });
  return () => {
    if (gateway === null) throw new Error('the gateway has not been started');
    return gateway;
  };
}

/** The member `svc`, which clients keep although they do not know it. */
export interface SvcPart {
  readonly svc?: {
    readonly request_id: string;
    readonly provider: string;
    readonly cost: { readonly total_micro_usd: number } | null;
  };
}

/** A reply's `svc`; clients' types do not name it. */
export function svcOf(reply: unknown): NonNullable<SvcPart['svc']> {
  const { svc } = reply as SvcPart;
  if (svc === undefined) throw new Error(`no svc in ${JSON.stringify(reply)}`);
  return svc;
}
