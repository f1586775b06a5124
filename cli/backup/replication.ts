// A connection that speaks PostgreSQL's replication protocol, over which a server gives its files and its write-ahead log
// (WAL) to whoever may replicate. https://www.postgresql.org/docs/18/protocol-replication.html
import pg from 'pg';

/** A row of an answer, as text. */
export type Row = readonly (string | null)[];

type Wire = pg.Connection & {
  query(text: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
  stream: { pause(): void; resume(): void };
};

/** What a running copy may do with its connection. */
export interface Copying {
  /** Sends a message back, as while following. */
  send(message: Buffer): void;
  pause(): void;
  resume(): void;
}

/** A command in the form that `pg` runs: it collects the rows and hands on what is copied out. */
class ReplicationCommand {
  readonly #text: string;
  readonly #onData: ((data: Buffer, copying: Copying) => void) | null;
  readonly rows: Row[] = [];
  readonly done: Promise<readonly Row[]>;
  #end!: (rows: readonly Row[]) => void;
  #fail!: (error: Error) => void;
  #copying: Copying | null = null;
  #failed = false;

  constructor(text: string, onData: ((data: Buffer, copying: Copying) => void) | null) {
    this.#text = text;
    this.#onData = onData;
    this.done = new Promise((end, fail) => {
      this.#end = end;
      this.#fail = fail;
    });
  }

  submit(wire: Wire): void {
    this.#copying = {
      send: (message) => wire.sendCopyFromChunk(message),
      pause: () => wire.stream.pause(),
      resume: () => wire.stream.resume(),
    };
    // At the end of a timeline the server ends its side of the stream, and waits for ours.
    if (this.#text.startsWith('START_REPLICATION')) wire.once('copyDone', () => wire.endCopyFrom());
    wire.query(this.#text);
  }

  handleRowDescription(): void {}
  handleCommandComplete(): void {}
  handleEmptyQuery(): void {}

  handleDataRow({ fields }: { fields: Row }): void {
    this.rows.push(fields);
  }

  handleCopyData({ chunk }: { chunk: Buffer }): void {
    if (this.#failed || this.#copying === null) return;
    try {
      // The buffer of the message is used again for the next one.
      this.#onData?.(Buffer.from(chunk), this.#copying);
    } catch (error) {
      this.handleError(error as Error);
    }
  }

  handleError(error: Error): void {
    this.#failed = true;
    this.#fail(error);
  }

  handleReadyForQuery(): void {
    this.#end(this.rows);
  }
}

export interface Replication {
  /** Runs a command; resolves with the rows of its answer. @throws Error of the server. */
  run(text: string, onData?: (data: Buffer, copying: Copying) => void): Promise<readonly Row[]>;
  /** Rejects when the connection is lost. */
  readonly lost: Promise<never>;
  end(): Promise<void>;
}

/** Connects to the server of `url`; its login needs the right to replicate. @throws Error when it cannot. */
export async function connectReplication(url: string): Promise<Replication> {
  const options = { connectionString: url, replication: 'true', application_name: 'svcctl backup' };
  const client = new pg.Client(options as pg.ClientConfig);
  let fail: (error: Error) => void;
  const lost = new Promise<never>((_, no) => {
    fail = no;
  });
  lost.catch(() => {});
  client.on('error', (error) => fail(error));
  client.on('end', () => fail(new Error('the server has closed the connection')));
  await client.connect();
  return {
    lost,
    run(text, onData) {
      const command = new ReplicationCommand(text, onData ?? null);
      client.query(command as unknown as pg.Submittable);
      return Promise.race([command.done, lost]);
    },
    end: () => client.end(),
  };
}

/** A position in the WAL (`16/B374D848`) as a number. */
export function positionOf(text: string): bigint {
  const [high = '0', low = '0'] = text.split('/');
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`);
}

/** A position as the server writes it. */
export function textOf(position: bigint): string {
  return `${(position >> 32n).toString(16)}/${(position & 0xffff_ffffn).toString(16)}`.toUpperCase();
}

/** The name of the file of a segment of the WAL, of `size` bytes, that holds `position`. */
export function segmentName(timeline: number, position: bigint, size: bigint): string {
  const hex = (n: bigint) => n.toString(16).toUpperCase().padStart(8, '0');
  const number = position / size;
  const each = 0x1_0000_0000n / size;
  return hex(BigInt(timeline)) + hex(number / each) + hex(number % each);
}
