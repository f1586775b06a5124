// Lets three processes at a few books, kills them in turn, and writes down what their callers saw.
import { createPool, type Pool } from '@svc/core/db/index.ts';
import { newRequestId } from '@svc/core/kernel/index.ts';
import { sweepOnce } from '@svc/core/ledger/index.ts';
import { journalDirectory, makeBook, until } from '@svc/core/ledger/testing/testing.ts';
import { type Draw, drawFrom } from '../crash/draw.ts';
import type { Answer, History, Operation, Order } from './operations.ts';
import { type LedgerProcess, startLedgerProcess } from './process.ts';

const PROCESSES = 3;
const LANES = 4;
/** Orders to a process before it is killed, and within how many milliseconds it is. */
const BURST = 6;
const BURST_MS = 12;
/** Between two sweeps that find nothing. */
const SWEEP_MS = 50;

/** Nanoseconds since this file was loaded: of one clock, and exact as a number. */
const began = process.hrtime.bigint();
const elapsed = () => Number(process.hrtime.bigint() - began);

export interface Recording {
  readonly seed: number;
  readonly books: number;
  readonly operations: number;
  readonly kills: number;
  /** Share of holds that are sent twice; a tenth when absent. */
  readonly repeated?: number;
}

/** What happened so far on one book, and what may be asked of it next. */
class Book {
  readonly operations: Operation[] = [];
  /** Requests that may be held. */
  readonly open: string[] = [];
  /** Movements by reference, to be sent again. */
  readonly moved: Order[] = [];
  readonly no: number;

  constructor(no: number) {
    this.no = no;
  }

  /** The next order, by `draw`. */
  next(draw: Draw): Order {
    const book = this.no;
    const kind = draw.weighted({ hold: 40, settle: 36, release: 6, topup: 7, refund: 5, balance: 6 });
    if (kind === 'settle' || kind === 'release') {
      const at = draw.int(0, this.open.length - 1);
      const id = this.open[at];
      if (id !== undefined) {
        // Some stay, and are settled or released once more.
        if (draw.unit() < 0.7) this.open.splice(at, 1);
        return { kind, book, id, amount: kind === 'settle' ? draw.int(0, 500) : 0 };
      }
    }
    const again = draw.unit() < 0.3 && this.moved.length > 0;
    if (kind === 'topup' || kind === 'refund') {
      const order = again
        ? draw.pick(this.moved)
        : { kind, book, id: `${kind}_${newRequestId()}`, amount: draw.int(1, kind === 'topup' ? 900 : 600) };
      if (!again) this.moved.push(order);
      return order;
    }
    if (kind === 'balance') return { kind, book, id: '', amount: 0 };
    return { kind: 'hold', book, id: newRequestId(), amount: draw.int(1, 400) };
  }
}

class Recorder {
  readonly #url: string;
  readonly #pool: Pool;
  readonly #draw: Draw;
  readonly #journal = journalDirectory();
  /** Those that can be asked. */
  readonly #processes: LedgerProcess[] = [];
  readonly #books: Book[] = [];
  readonly #repeated: number;
  #started = 0;
  #left: number;
  #client = 0;

  constructor(url: string, { seed, operations, repeated = 0.1 }: Recording) {
    this.#repeated = repeated;
    this.#url = url;
    this.#pool = createPool(url, { max: 4 });
    this.#draw = drawFrom(seed);
    this.#left = operations;
  }

  async #start(): Promise<void> {
    const name = `linearizable-${this.#started++}`;
    const { dir } = this.#journal;
    this.#processes.push(await startLedgerProcess({ url: this.#url, journal_dir: dir, name }));
  }

  /** Waits until the server does nothing for `application` any more. */
  async #untilGone(application: string): Promise<void> {
    await until(async () => {
      const { rows } = await this.#pool.query<{ count: number }>({
        name: '',
        text: 'select count(*)::int as count from pg_stat_activity where application_name = $1',
        values: [application],
      });
      return rows[0]?.count === 0;
    });
  }

  /** Does `order` and writes it down; what a killed process was asked may happen until the server let go of it. */
  async #do(book: Book, order: Order, worker = this.#draw.pick(this.#processes)): Promise<Answer> {
    const { book: _, ...asked } = order;
    const client = this.#client++;
    const call = elapsed();
    const answer = await worker.ask(order);
    if (answer.answer === '') await this.#untilGone(worker.application);
    book.operations.push({ ...asked, ...answer, client, call, return: elapsed() });
    return answer;
  }

  /** Whatever comes next, in `worker` where one is named. */
  async #anything(worker?: LedgerProcess): Promise<void> {
    const book = this.#draw.pick(this.#books);
    const order = book.next(this.#draw);
    // A client may send a hold again before it heard of the first.
    const times = order.kind === 'hold' && this.#draw.unit() < this.#repeated ? 2 : 1;
    const answers = await Promise.all(Array.from({ length: times }, () => this.#do(book, order, worker)));
    if (order.kind !== 'hold') return;
    // Some are left to the sweeper.
    const forgotten = this.#draw.unit() < 0.04;
    if (!forgotten && answers.some(({ answer }) => ['ok', ''].includes(answer))) book.open.push(order.id);
  }

  /** One caller: an order after another, until there were enough. */
  async #lane(): Promise<void> {
    while (this.#left-- > 0) await this.#anything();
  }

  async #sweepWhile(busy: () => boolean): Promise<void> {
    while (busy()) {
      const call = elapsed();
      const swept = await sweepOnce(this.#pool);
      for (const { book_id, request_id } of swept) {
        const book = this.#books.find(({ no }) => no === book_id);
        book?.operations.push({
          ...{ kind: 'sweep', id: request_id, amount: 0, answer: 'done' },
          ...{ client: this.#client++, call, return: elapsed() },
        });
      }
      if (swept.length === 0) await new Promise((resolve) => setTimeout(resolve, SWEEP_MS));
    }
  }

  async #killInTurn(kills: number, operations: number): Promise<void> {
    for (let kill = 1; kill <= kills; kill++) {
      await until(() => this.#left <= operations - (operations / (kills + 1)) * kill, 60_000);
      const [oldest] = this.#processes;
      this.#processes.shift();
      // Killed in the middle of them, at one moment or another.
      const burst = Array.from({ length: BURST }, () => this.#anything(oldest!));
      await new Promise((resolve) => setTimeout(resolve, this.#draw.int(0, BURST_MS)));
      await oldest!.kill();
      await Promise.all(burst);
      await this.#start();
    }
  }

  async #nothingHeld(): Promise<boolean> {
    const { rows } = await this.#pool.query<{ count: number }>({
      name: '',
      text: `select count(*)::int as count from ledger.hold h join ledger.lease l using (lease_id)
              where l.process <> all ($1::text[])`,
      values: [this.#processes.map(({ application }) => application.replace('svc-ledger ', ''))],
    });
    return rows[0]?.count === 0;
  }

  async run({ books, operations, kills }: Recording): Promise<History> {
    for (let i = 0; i < books; i++) this.#books.push(new Book(await makeBook(this.#pool)));
    for (let at = 0; at < PROCESSES; at++) await this.#start();
    let busy = true;
    const sweeping = this.#sweepWhile(() => busy);
    await Promise.all([
      ...Array.from({ length: PROCESSES * LANES }, () => this.#lane()),
      this.#killInTurn(kills, operations),
    ]);
    // What killed processes held is given back when their leases have lapsed.
    await until(() => this.#nothingHeld());
    busy = false;
    await sweeping;
    for (const book of this.#books)
      await this.#do(book, { kind: 'balance', book: book.no, id: '', amount: 0 });
    return Object.fromEntries(this.#books.map(({ no, operations }) => [no, operations]));
  }

  async end(): Promise<void> {
    for (const process of this.#processes) await process.kill();
    await this.#pool.end();
    this.#journal.remove();
  }
}

/** Operations of a book and its balance at the end, from processes that were killed in between. */
export async function record(url: string, recording: Recording): Promise<History> {
  const recorder = new Recorder(url, recording);
  try {
    return await recorder.run(recording);
  } finally {
    await recorder.end();
  }
}
