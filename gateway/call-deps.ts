// The parts a call needs, from the open handles of the process.
import { type CatalogHandle, credentialOf, type Provider } from '@svc/core/catalog/index.ts';
import {
  adapters,
  type CallDeps,
  type CallRecord,
  createCredentials,
  createDrained,
  createSandboxUpstream,
  createTicker,
  createTransport,
  rawLanes,
} from '@svc/core/inference/index.ts';
import type { Db, Log } from '@svc/core/kernel/index.ts';
import { findClaim, type LedgerClient, storeAnswer } from '@svc/core/ledger/index.ts';
import type { PolicyBook } from '@svc/core/policies/index.ts';
import { TokenRatio } from '@svc/core/pricing/index.ts';
import { createHealth } from '@svc/core/routing/index.ts';

/** One object per process; `record` hears of every ended call, `replayed` of every answer given again. */
export function createCallDeps(parts: {
  db: Db;
  catalog: CatalogHandle;
  ledger: LedgerClient;
  policies: PolicyBook;
  log: Log;
  record: (record: CallRecord) => void;
  replayed: CallDeps['replayed'];
}): CallDeps {
  const ratios = new Map<string, TokenRatio>();
  return {
    ledger: parts.ledger,
    transport: createTransport(),
    sandbox: createSandboxUpstream(),
    credentials: createCredentials(credentialOf),
    ticker: createTicker(),
    drained: createDrained(),
    health: createHealth(),
    log: parts.log,
    policies: parts.policies,
    adapters,
    raw_lanes: rawLanes,
    catalog: () => parts.catalog.current(),
    provider(endpoint) {
      return parts.catalog.current().providers.get(endpoint.provider) as Provider;
    },
    ratioOf(endpoint_id) {
      let ratio = ratios.get(endpoint_id);
      if (ratio === undefined) {
        ratio = new TokenRatio();
        ratios.set(endpoint_id, ratio);
      }
      return ratio;
    },
    claims: {
      find: (scope, key_hash) => findClaim(parts.db, { scope, key_hash }),
      store: (args) => storeAnswer(parts.db, args),
    },
    record: parts.record,
    replayed: parts.replayed,
  };
}
