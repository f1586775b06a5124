// What a call needs from the process: its open connections and caches.
import type { ByokCache } from '@svc/core/byok/index.ts';
import { type CatalogHandle, credentialOf, type Provider } from '@svc/core/catalog/index.ts';
import type { Pool } from '@svc/core/db/index.ts';
import { type Egress, egressOf } from '@svc/core/egress/index.ts';
import {
  type CallDeps,
  type CallRecord,
  createCredentials,
  createDrained,
  createOwnKeys,
  createSandboxUpstream,
  createShadows,
  createTicker,
  createTokenCounter,
  createTransport,
  type Formats,
  processClock,
} from '@svc/core/inference/index.ts';
import type { Log } from '@svc/core/kernel/index.ts';
import { findClaim, type Ledgers, storeAnswer } from '@svc/core/ledger/index.ts';
import type { PayloadLog } from '@svc/core/payloads/index.ts';
import {
  allowanceLeft,
  giveBackShadow,
  type PolicyCache,
  spendAllowance,
  takeShadow,
} from '@svc/core/policies/index.ts';
import { createTokenRatios } from '@svc/core/pricing/index.ts';
import { createAffinity, createHealth, type OpenFor } from '@svc/core/routing/index.ts';

/** What a gateway opens for its calls. */
interface CallParts {
  base_url: string;
  db: Pool;
  catalog: CatalogHandle;
  ledgers: Ledgers;
  policies: PolicyCache;
  byok: ByokCache;
  payloads: PayloadLog;
  /** Asks for a place under the limits of key and plan. */
  enter: Parameters<typeof createShadows>[0]['enter'];
  log: Log;
  formats: Formats;
  /** Absent: only public Internet addresses, and only over https. */
  egress?: Egress;
  record: (record: CallRecord) => void;
  replayed: CallDeps['replayed'];
}

/** One object per process. `record` receives every ended call, `replayed` every answer that is sent again. */
export function createCallDeps(parts: CallParts): CallDeps {
  return {
    base_url: parts.base_url,
    ledgers: parts.ledgers,
    transport: createTransport(),
    sandbox: createSandboxUpstream(),
    credentials: createCredentials(parts.formats.kinds, credentialOf, parts.log),
    own_keys: createOwnKeys(
      parts.formats.kinds,
      parts.byok,
      () => parts.catalog.current().providers,
      parts.log,
    ),
    clock: processClock,
    ticker: createTicker(processClock),
    tokens: createTokenCounter(),
    drained: createDrained(),
    shadows: createShadows({ books: shadowBooks(parts.db), log: parts.log, enter: parts.enter }),
    health: createHealth((endpoint_id, open_for) => logCircuit(parts, endpoint_id, open_for)),
    affinity: createAffinity(),
    log: parts.log,
    policies: parts.policies,
    payloads: parts.payloads,
    egress: parts.egress ?? egressOf({}),
    adapters: parts.formats.adapters,
    raw_lanes: parts.formats.raw_lanes,
    catalog: () => parts.catalog.current(),
    provider(endpoint) {
      return parts.catalog.provider(endpoint.provider) as Provider;
    },
    ratioOf: createTokenRatios(),
    claims(shard) {
      const ledger = parts.db.shards.at(shard);
      return {
        find: (scope, key_hash) => findClaim(ledger, { scope, key_hash }),
        store: (args) => storeAnswer(ledger, args),
      };
    },
    record: parts.record,
    replayed: parts.replayed,
  };
}

/** What of shadows is decided over all gateways. */
function shadowBooks(db: Pool): Parameters<typeof createShadows>[0]['books'] {
  return {
    take: (shadow, max) => takeShadow(db, shadow, max),
    giveBack: (shadow) => giveBackShadow(db, shadow),
    spend: (spending, within_allowance) => spendAllowance(db, spending, within_allowance),
    left: (org_id, at) => allowanceLeft(db, org_id, at),
  };
}

/** A failing provider must be visible in the log: calls that fail over to another endpoint succeed. */
function logCircuit(
  { catalog, log }: { catalog: CatalogHandle; log: Log },
  endpoint_id: string,
  open_for: OpenFor,
): void {
  const endpoint = catalog.current().endpoints.get(endpoint_id);
  const fields = { endpoint_id, provider: endpoint?.provider, model: endpoint?.model_id, open_for };
  if (open_for === 'nobody') log.info(fields, 'an endpoint answers again: its circuit is closed');
  else log.warn(fields, 'an endpoint fails: its circuit is open');
}
