// What every resolver of the tenant schema gets: the runner of operations, and loaders that combine the reads of one
// request. A loader admits its caller like the operation that it replaces.
import {
  getRequestOperation,
  type RequestFeed,
  type RowDetail,
  readDetails,
} from '@svc/core/analytics/index.ts';
import { listProjectsOperation, type ProjectView } from '@svc/core/budgets/index.ts';
import { getKeyOperation, type KeyView, readKeys } from '@svc/core/keys/index.ts';
import DataLoader from 'dataloader';
import type { Static } from 'typebox';
import { Runner, type SurfaceRequest } from '../run.ts';

type Detail = Static<typeof RowDetail>;
type KeyRecord = Static<typeof KeyView>;
type ProjectRecord = Static<typeof ProjectView>;

export interface TenantContext {
  readonly runner: Runner;
  readonly loaders: Loaders;
  /** Feed of new request rows, where streams are served; null on the gateway. */
  readonly feed: RequestFeed | null;
  /** The stream that this request became; null until one is opened. */
  readonly stream: StreamLife | null;
}

/** Lifetime of a stream: `signal` aborts with the connection, the session or after an hour. */
export interface StreamLife {
  readonly signal: AbortSignal;
  /** Clears what the loaders have read, so that a later row is not shown with objects read for an earlier one. */
  renew(): void;
}

/** One statement for all ids that are asked for in a tick, at whatever depth. */
class Loaders {
  readonly details: DataLoader<string, Detail | null>;
  readonly keys: DataLoader<string, KeyRecord | null>;
  readonly #runner: Runner;
  #projects: Promise<ReadonlyMap<string, ProjectRecord>> | null = null;

  constructor(runner: Runner) {
    this.#runner = runner;
    this.details = new DataLoader(async (ids) => {
      runner.admit(getRequestOperation);
      const found = await readDetails(runner.context(null), ids);
      return ids.map((id) => found.get(id) ?? null);
    });
    this.keys = new DataLoader(async (ids) => {
      runner.admit(getKeyOperation);
      const found = await readKeys(runner.context(null), ids);
      return ids.map((id) => found.get(id) ?? null);
    });
  }

  /** The organization's projects, read once: the plan limits their number. */
  projects(): Promise<ReadonlyMap<string, ProjectRecord>> {
    this.#projects ??= this.#runner
      .run(listProjectsOperation, {})
      .then(({ data }) => new Map(data.map((project) => [project.id, project])));
    return this.#projects;
  }

  /** Clears everything that was read. */
  clear(): void {
    this.details.clearAll();
    this.keys.clearAll();
    this.#projects = null;
  }
}

/** The context of one request; `stream_signal` ends the stream that the request may become. */
export function createTenantContext(
  request: SurfaceRequest,
  live: { readonly feed: RequestFeed; readonly signal: AbortSignal } | null,
): TenantContext {
  const runner = new Runner(request);
  const loaders = new Loaders(runner);
  const stream = live === null ? null : { signal: live.signal, renew: () => loaders.clear() };
  return { runner, loaders, feed: live?.feed ?? null, stream };
}
