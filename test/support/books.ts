// Reads ledger books in tests, with SQL that is independent of the product.
import { ledgerNaming, ledgerSchemaOf, type ShardAddress, withLedgerSchema } from '@svc/core/db/index.ts';
import pg from 'pg';

/** Whether databases of tests have three ledgers without being asked for them (`make test SHARDS=3`). */
export const sharded = process.env['TEST_SHARDS'] === '3' || process.env['TEST_CITUS'] !== undefined;

/** Addresses of a Citus cluster that the databases of tests are made in, its coordinator first (`make citus`); none: of no cluster. */
export const cluster = (process.env['TEST_CITUS'] ?? '').split(' ').filter((url) => url !== '');

/** The value of SVC_LEDGER_SHARDS for `shards`. */
export function shardsVariable(shards: readonly ShardAddress[]): string {
  return shards.map(({ name, url }) => `${name}=${url}`).join(' ');
}

/** The two ledgers beside `main` of the database at `url`; a proxy for that database is a proxy for them too. */
export function furtherLedgers(url: string): readonly [ShardAddress, ShardAddress] {
  const beside = new URL(url);
  // Of a cluster both are schemas of one database, at two of its servers.
  if (cluster.length === 0) beside.pathname += '_b';
  return [
    { name: 'a', url: withLedgerSchema(url, 'ledger_a') },
    { name: 'b', url: withLedgerSchema(beside.href, 'ledger_b') },
  ];
}

/** The further ledgers that every database of the run has: none, or two. */
export function usualLedgers(url: string): readonly ShardAddress[] {
  return sharded ? furtherLedgers(url) : [];
}

/** The variable by which programs on the database at `url` know its further ledgers, where it has any. */
export function ledgersEnv(url: string): Readonly<Record<string, string>> {
  const shards = usualLedgers(url);
  return shards.length === 0 ? {} : { SVC_LEDGER_SHARDS: shardsVariable(shards) };
}

/** The ledgers of the database at `url`, `main` first. */
export function ledgersOf(url: string): readonly string[] {
  return [url, ...usualLedgers(url).map((ledger) => ledger.url)];
}

export interface BookView {
  readonly available: number;
  readonly held: number;
  /** The sum of the entries: credits minus charges. */
  readonly entries_sum: number;
  readonly charges: readonly { readonly request_id: string; readonly amount: number }[];
}

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** The ULID stored in a uuid column: the same 128 bits. */
export function ulidOf(uuid: string): string {
  let bits = BigInt(`0x${uuid.replaceAll('-', '')}`);
  let text = '';
  for (let i = 0; i < 26; i++) {
    text = (ALPHABET[Number(bits & 31n)] as string) + text;
    bits >>= 5n;
  }
  return text;
}

/** Runs `work` on a new connection. */
export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Rows of an installation and of its ledgers, read with SQL of a test's own. */
export interface Reader {
  // biome-ignore lint/suspicious/noExplicitAny: as the driver types a statement whose rows are not described
  query<Row extends pg.QueryResultRow = any>(text: string, values?: unknown[]): Promise<pg.QueryResult<Row>>;
  end(): Promise<void>;
}

/**
 * Reads the database at `url`. With several ledgers, a statement about the ledger runs in the one that has the book
 * among its values, else in all of them: the answer is that of the ledger which has rows for it.
 */
export function openReader(url: string, max: number): Reader {
  const ledgers = ledgersOf(url).map((address) => {
    const pool = new pg.Pool({ connectionString: address, max });
    pool.on('error', () => {});
    const named = ledgerNaming(ledgerSchemaOf(address));
    return {
      query: (text: string, values?: unknown[]) => pool.query(named(text), values),
      end: () => pool.end(),
    };
  });
  const [main, ...others] = ledgers as [(typeof ledgers)[number], ...typeof ledgers];
  const ledgerWith = async (values: unknown[]) => {
    const books = values.filter((value) => typeof value === 'number');
    for (const ledger of ledgers) {
      const text = 'select 1 from ledger.book where book_id = any($1::bigint[])';
      if ((await ledger.query(text, [books])).rows.length > 0) return ledger;
    }
    return null;
  };
  return {
    async query(text, values = []) {
      if (others.length === 0 || !text.includes('ledger.')) return main.query(text, values);
      const ledger = await ledgerWith(values);
      if (ledger !== null) return ledger.query(text, values);
      const results = await Promise.all(ledgers.map((one) => one.query(text, values)));
      return results.find(({ rowCount }) => (rowCount ?? 0) > 0) ?? (results[0] as pg.QueryResult);
    },
    async end() {
      await Promise.all(ledgers.map((ledger) => ledger.end()));
    },
  };
}

/** The ledger of the database at `url` that has book `book_id`. @throws Error when none has it. */
async function ledgerOf(url: string, book_id: number): Promise<string> {
  const all = ledgersOf(url);
  if (all.length === 1) return url;
  for (const ledger of all) {
    const text = ledgerNaming(ledgerSchemaOf(ledger))('select 1 from ledger.book where book_id = $1');
    const found = await withClient(ledger, (client) => client.query(text, [book_id]));
    if (found.rows.length > 0) return ledger;
  }
  throw new Error(`no ledger has book ${book_id}`);
}

/**
 * The state of a book and its charges in order, read in one snapshot, because a batch may commit between two
 * statements.
 */
export async function readBook(database_url: string, book_id: number): Promise<BookView> {
  const ledger = await ledgerOf(database_url, book_id);
  const named = ledgerNaming(ledgerSchemaOf(ledger));
  return withClient(ledger, async (client) => {
    await client.query('begin isolation level repeatable read read only');
    const book = await client.query<{ available: string; held: string; sum: string }>(
      named(`select available, held, (select coalesce(sum(amount), 0) from ledger.entry e where e.book_id = b.book_id) as sum
         from ledger.book b where book_id = $1`),
      [book_id],
    );
    const charges = await client.query<{ id: string; amount: string }>(
      named(`select request_id::text as id, amount from ledger.entry
        where book_id = $1 and request_id is not null order by seq`),
      [book_id],
    );
    const row = book.rows[0];
    if (row === undefined) throw new Error(`no book ${book_id}`);
    return {
      available: Number(row.available),
      held: Number(row.held),
      entries_sum: Number(row.sum),
      charges: charges.rows.map(({ id, amount }) => ({ request_id: ulidOf(id), amount: Number(amount) })),
    };
  });
}

/** Reads the book until `holds` returns true for it. @throws Error with the last state after `timeout_ms`. */
export async function untilBook(
  database_url: string,
  book_id: number,
  holds: (book: BookView) => boolean,
  timeout_ms = 15_000,
): Promise<BookView> {
  const deadline = performance.now() + timeout_ms;
  for (;;) {
    const book = await readBook(database_url, book_id);
    if (holds(book)) return book;
    if (performance.now() > deadline) {
      const { charges, ...rest } = book;
      throw new Error(`the book did not come to rest: ${JSON.stringify(rest)}, ${charges.length} charges`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
