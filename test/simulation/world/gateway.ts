// A gateway as a set of its own parts: all that gateway/start.ts opens for calls, without the listener in front of it.
import { openByokCache } from '@svc/core/byok/index.ts';
import type { CatalogHandle } from '@svc/core/catalog/index.ts';
import { createPool, type Pool, type ShardAddress } from '@svc/core/db/index.ts';
import { builtIn, type CallDeps, type CallRecord, startCall } from '@svc/core/inference/index.ts';
import {
  type Context,
  type Log,
  newRequestId,
  type RequestId,
  type RootKeyRing,
} from '@svc/core/kernel/index.ts';
import { type KeyGrant, openKeyRing } from '@svc/core/keys/index.ts';
import { openLedgers } from '@svc/core/ledger/index.ts';
import { isRefusal, openMemoryLimits, subjectOf } from '@svc/core/limits/index.ts';
import { openPolicyCache } from '@svc/core/policies/index.ts';
import type { Changes } from '@svc/core/runtime/index.ts';
import { createCallDeps } from '@svc/gateway/call-deps.ts';
import { DATABASE_URL } from '../engine/database.ts';
import { paymentContext } from './payments.ts';
import type { Providers } from './provider.ts';
import type { RailBooks } from './rails.ts';
import type { CallerSink } from './sink.ts';

/** What all gateways of a run share, and what was opened once. */
export interface Surroundings {
  readonly shards: readonly ShardAddress[];
  readonly catalog: CatalogHandle;
  readonly root_key: RootKeyRing;
  readonly providers: Providers;
  readonly books: RailBooks;
  readonly log: Log;
  readonly lease_seconds: number;
  /** Rows of calls as the gateway would store them. */
  readonly records: CallRecord[];
}

/** What a caller sends. */
export interface Asked {
  readonly path: string;
  readonly secret: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface SimGateway {
  /** Runs a call, or answers why there is none. */
  call(asked: Asked, sink: CallerSink): Promise<void>;
  /** Where its payments are made and booked. */
  readonly context: Context;
}

/** Nothing that processes remember changes during a run, so nobody has to be told of changes. */
function unchanging(db: Pool): Changes {
  return { db, session_id: null, heardWithin: () => true, follow: () => () => {}, close: async () => {} };
}

/** Opens a gateway called `name`, whose journals are in `journal_dir`. Rejects while its ledger cannot be reached. */
export async function openGateway(
  { shards, catalog, root_key, providers, books, log, lease_seconds, records }: Surroundings,
  { name, journal_dir }: { readonly name: string; readonly journal_dir: string },
): Promise<SimGateway> {
  const db = createPool(DATABASE_URL, { max: 4, application: name, role: 'svc_runtime', shards });
  const changes = unchanging(db);
  const key_ring = openKeyRing({ changes, log, root_key });
  const policies = openPolicyCache({ changes, log, process_name: name });
  const byok = openByokCache({ changes, log, root_key });
  const limits = openMemoryLimits();
  const ledgers = await openLedgers(db.shards.placements, {
    ...{ process_name: name, journal_dir, log, lease_seconds },
  });
  const made = createCallDeps({
    ...{ base_url: 'http://gateway.sim', db, catalog, ledgers, policies, byok, log },
    payloads: { open: () => null } as never,
    formats: builtIn,
    enter: (grant) => limits.enter(subjectOf(grant)),
    record: (record) => void records.push(record),
    replayed: () => {},
  });
  const calls: CallDeps = { ...made, transport: providers.transport() };
  const run = (id: RequestId, grant: KeyGrant, asked: Asked, sink: CallerSink): void => {
    if (sink.gone) return;
    const place = limits.enter(subjectOf(grant));
    if (place instanceof Promise || isRefusal(place)) throw new Error('no limit is set in a run');
    const dialect = builtIn.dialects.get(asked.path);
    if (dialect === undefined) throw new Error(`no format is served at ${asked.path}`);
    startCall(
      calls,
      {
        ...{ request_id: id, dialect, grant, place, path: asked.path, secret: asked.secret },
        ...{ body: Buffer.from(asked.body), in_slices: false, members: null, top: null },
        ...{ headers: asked.headers, client_ip_prefix: '' },
      },
      sink,
    );
  };
  return {
    context: paymentContext({ pool: db, root_key, books, log }),
    async call(asked, sink) {
      const id = newRequestId();
      try {
        run(id, await key_ring.verify(asked.secret), asked, sink);
      } catch (error) {
        // What routes.ts answers where the key cannot be looked up.
        log.warn({ error }, 'a call is refused before it begins');
        sink.head(503, ['x-svc-request-id', id]);
        sink.end('{"error":{"code":"service_unavailable"}}');
      }
    },
  };
}
