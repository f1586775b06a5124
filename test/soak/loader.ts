// Most calls of a soak, by the way that a gateway books them and without HTTP: the product's client of the ledger holds and
// settles, and its writer of rows writes. `startLoader` runs this file as a process.
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { bareEnv } from '../support/gateway.ts';
import { endWithUs } from '../support/watch.ts';

/** Who calls, and how often. */
export interface Order {
  readonly calls: number;
  readonly seed: number;
  readonly callers: readonly {
    readonly org_id: string;
    readonly project_id: string;
    readonly book_id: number;
    readonly loader_key: { readonly id: string; readonly key_no: number };
  }[];
}

/** What became of an order. */
export interface Loaded {
  readonly booked: number;
  readonly cost_micro: number;
  /** Answers of the ledger other than `ok` and `settled`, by their status. */
  readonly others: Readonly<Record<string, number>>;
  /** Rows that the writer gave up. */
  readonly lost_rows: number;
}

export interface Loader {
  readonly pid: number;
  /** @throws Error when the process has ended. */
  load(order: Order): Promise<Loaded>;
  stop(): Promise<void>;
}

const PROGRAM = new URL('loader-program.ts', import.meta.url).pathname;

export async function startLoader({
  database_url,
  dir,
}: {
  readonly database_url: string;
  readonly dir: string;
}): Promise<Loader> {
  const child: ChildProcess = spawn(process.execPath, [PROGRAM], {
    env: { ...bareEnv(), SVC_DATABASE_URL: database_url, SVC_DATA_DIR: dir },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = new Promise<void>((done) => child.once('exit', () => done()));
  if (child.pid !== undefined) endWithUs(child.pid, ended);
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  const waiting: ((line: string | null) => void)[] = [];
  lines.on('line', (line) => waiting.shift()?.(line));
  void ended.then(() => waiting.splice(0).forEach((tell) => void tell(null)));
  const answer = async (): Promise<string> => {
    const line = await new Promise<string | null>((done) => waiting.push(done));
    if (line === null) throw new Error('the loader has ended');
    return line;
  };
  await answer();
  return {
    pid: child.pid as number,
    async load(order) {
      child.stdin?.write(`${JSON.stringify(order)}\n`);
      return JSON.parse(await answer()) as Loaded;
    },
    async stop() {
      child.stdin?.end();
      await ended;
    },
  };
}
