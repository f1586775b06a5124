// What is asked of a book, and what is answered, in the words of checker/book.go.

export interface Order {
  readonly kind: 'hold' | 'settle' | 'release' | 'topup' | 'refund' | 'balance';
  readonly book: number;
  /** The request of a hold, settle or release; the reference of a top-up or refund. */
  readonly id: string;
  /** Micro-dollars; of a settle its cost. */
  readonly amount: number;
}

export interface Answer {
  /** Empty: its process was killed before it answered. */
  readonly answer: string;
  /** Of a settle, micro-dollars. */
  readonly charged?: number;
  /** Of a balance, micro-dollars. */
  readonly available?: number;
  readonly held?: number;
}

/** An operation as its caller saw it. Times are nanoseconds of one clock. */
export interface Operation extends Omit<Order, 'kind' | 'book'>, Answer {
  readonly kind: Order['kind'] | 'sweep';
  readonly client: number;
  readonly call: number;
  readonly return: number;
}

/** By book. */
export type History = Readonly<Record<string, readonly Operation[]>>;
