// A gateway, providers whose answers the test decides, a Temporal server, and workers to be killed.
import { join } from 'node:path';
import type { Json } from '../calls/caller.ts';
import { endChunks, type Handler, streamHead, textChunk, usageOf } from '../calls/upstream.ts';
import { type Org, openWorld, type World } from '../calls/world.ts';
import { atFileEnd } from '../support/ends.ts';
import { until } from '../support/programs/until.ts';
import { startWorkerProgram, type WorkerProcess } from '../support/programs/worker.ts';
import { startTemporal, type TestTemporal } from '../support/temporal.ts';

export interface EvalWorld extends Omit<World, 'ended'> {
  readonly temporal: TestTemporal;
  worker(env?: Readonly<Record<string, string>>): Promise<WorkerProcess>;
  /** A request of the management API with a key. */
  rest(key: string, method: string, path: string, body?: object): Promise<{ status: number; json: Json }>;
  /** The run once it has ended. */
  ended(key: string, run_id: string, patience_ms?: number): Promise<Json>;
  /** All results of a run, by case and target. */
  results(key: string, run_id: string): Promise<Json[]>;
}

/** Opens a world that ends with the file. */
export async function startEvalWorld(): Promise<EvalWorld> {
  const world = await openWorld({ gateway: 'alone', models: { script: 16, 'script-full': 8 } });
  atFileEnd(() => world.close());
  const temporal = await startTemporal();
  atFileEnd(() => temporal.stop());
  const { gateway } = world;
  const rest: EvalWorld['rest'] = async (key, method, path, body) => {
    const answer = await fetch(gateway.base_url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, json: text === '' ? {} : (JSON.parse(text) as Json) };
  };
  return {
    ...world,
    gateway,
    temporal,
    rest,
    worker: (env = {}) =>
      startWorkerProgram({
        SVC_DATABASE_URL: world.database_url,
        SVC_TEMPORAL_ADDRESS: temporal.address,
        SVC_DATA_DIR: gateway.data_dir,
        SVC_PROVIDERS_FILE: join(gateway.data_dir, `providers-test-${gateway.port}.yaml`),
        SVC_GATEWAY_URL: gateway.base_url,
        SVC_METRICS_PORT: '0',
        SVC_LOG_LEVEL: 'info',
        ...env,
      }),
    ended: (key, run_id, patience_ms = 120_000) =>
      until(
        `the end of ${run_id}`,
        async () => {
          const { json } = await rest(key, 'GET', `/v1/evals/runs/${run_id}`);
          return json['finished_at'] === null ? null : json;
        },
        patience_ms,
      ),
    async results(key, run_id) {
      const all: Json[] = [];
      for (let cursor = ''; ; ) {
        const path = `/v1/evals/runs/${run_id}/results?limit=500&cursor=${cursor}`;
        const { json } = await rest(key, 'GET', path);
        all.push(...json['data']);
        cursor = json['next_cursor'];
        if (cursor === '') return all;
      }
    },
  };
}

/** What the last message of a request says. */
export function askedOf(body: Record<string, unknown>): string {
  const messages = body['messages'] as { content: unknown }[];
  const { content } = messages.at(-1) as { content: unknown };
  return typeof content === 'string' ? content : String((content as { text?: string }[])[0]?.text ?? '');
}

/** A provider that says what `say` makes of the question, and reports `tokensOf` it. */
export function answering(
  say: (asked: string) => string,
  tokensOf: (asked: string, body: Record<string, unknown>) => { input: number; output: number },
): Handler {
  return (response, { body }) => {
    const model = String(body['model']);
    const asked = askedOf(body);
    const { input, output } = tokensOf(asked, body);
    streamHead(response);
    response.write(textChunk(model, say(asked)));
    response.end(endChunks(model, usageOf(input, output)));
  };
}

/** What the ledger has charged for the calls of a run, and for how many. */
export async function chargedFor(world: EvalWorld, org: Org): Promise<{ charged: number; calls: number }> {
  const { rows } = await world.db.query<{ charged: string; calls: string }>(
    `select coalesce(-sum(e.amount), 0) as charged, count(*) as calls
       from ledger.entry e where e.book_id = $1 and e.request_id is not null`,
    [org.live_book_id],
  );
  return { charged: Number(rows[0]?.charged), calls: Number(rows[0]?.calls) };
}
