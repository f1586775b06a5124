// Reads ledger books in tests, with SQL that is independent of the product.
import pg from 'pg';

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

/**
 * The state of a book and its charges in order, read in one snapshot, because a batch may commit between two
 * statements.
 */
export function readBook(database_url: string, book_id: number): Promise<BookView> {
  return withClient(database_url, async (client) => {
    await client.query('begin isolation level repeatable read read only');
    const book = await client.query<{ available: string; held: string; sum: string }>(
      `select available, held, (select coalesce(sum(amount), 0) from ledger.entry e where e.book_id = b.book_id) as sum
         from ledger.book b where book_id = $1`,
      [book_id],
    );
    const charges = await client.query<{ id: string; amount: string }>(
      `select request_id::text as id, amount from ledger.entry
        where book_id = $1 and request_id is not null order by seq`,
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
