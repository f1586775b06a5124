// The tables of a ledger as the verifier reads them: in step, book by book.
import type { Row, TableName } from './store.ts';

/** A table read book by book, without ever holding more than the next row. */
export class Cursor {
  private readonly rows: AsyncIterator<Row>;
  private next: Row | null = null;
  private started = false;

  constructor(rows: AsyncIterable<Row>) {
    this.rows = rows[Symbol.asyncIterator]();
  }

  /** The next row without taking it; null at the end. */
  async peek(): Promise<Row | null> {
    if (!this.started) {
      this.started = true;
      await this.advance();
    }
    return this.next;
  }

  private async advance(): Promise<void> {
    const { value, done } = await this.rows.next();
    this.next = done === true ? null : (value as Row);
  }

  /** Takes the next row when `wanted` says so; null otherwise. */
  async take(wanted: (row: Row) => boolean): Promise<Row | null> {
    const row = this.started ? this.next : await this.peek();
    if (row === null || !wanted(row)) return null;
    await this.advance();
    return row;
  }
}

export type Cursors = Readonly<Record<TableName, Cursor>>;
