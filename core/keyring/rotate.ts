// The rotation: every sealed value comes under the current key, while everything works (docs/operate/key-ring.md).
import {
  type Db,
  headerOf,
  openColumn,
  type RootKeyRing,
  rootKeys,
  type SealedColumnName,
  sealColumn,
  sealedColumn,
  sealedColumns,
} from '../kernel/index.ts';
import { lockOutdated, type StoredValue, writeSealed } from './store.ts';

/** Values of one transaction; of values that may have megabytes so many are in memory at once. */
const BATCH = 100;
const BATCH_OF_LARGE = 8;
/** What others held in one turn is looked at in the next. Beyond so many turns a value counts as left. */
const TURNS = 20;

/** What runs transactions: each batch is one, so that a rotation that is killed loses at most a batch. */
interface RotationStore {
  transaction<T>(work: (db: Db) => Promise<T>): Promise<T>;
}

/** A value that no key of the ring opens, by its place; never what is in it. */
interface Unopened {
  readonly column: SealedColumnName;
  readonly row: string;
}

/** What became of one column. */
export interface Resealed {
  readonly column: SealedColumnName;
  readonly resealed: number;
  readonly unopened: number;
}

export const columnNames = Object.keys(sealedColumns) as SealedColumnName[];

function rowText(row: StoredValue['row']): string {
  return row.map((part) => (typeof part === 'string' ? part : part.toString('hex'))).join(' ');
}

/** A value as it shall be; null when no key opens it. */
function sealedAnew(
  root_key: RootKeyRing,
  name: SealedColumnName,
  { row, sealed, plain }: StoredValue,
): Buffer | null {
  try {
    const text = sealed === null ? (plain as Buffer) : openColumn(root_key, name, row, sealed);
    return sealColumn(root_key, name, row, text);
  } catch {
    return null;
  }
}

class ColumnRotation {
  readonly #store: RotationStore;
  readonly #root_key: RootKeyRing;
  readonly #name: SealedColumnName;
  readonly #lost = new Set<string>();
  resealed = 0;

  constructor(store: RotationStore, root_key: RootKeyRing, name: SealedColumnName) {
    this.#store = store;
    this.#root_key = root_key;
    this.#name = name;
  }

  get lost(): readonly string[] {
    return [...this.#lost];
  }

  /** One way through the column; how many values it sealed anew. `done` hears of every batch. */
  async turn(done: () => void): Promise<number> {
    const column = sealedColumn(this.#name);
    const limit = column.large === true ? BATCH_OF_LARGE : BATCH;
    let written = 0;
    for (let after: StoredValue['row'] | null = null; ; ) {
      const from: StoredValue['row'] | null = after;
      const batch: { found: number; last: StoredValue['row'] | null; written: number } =
        await this.#store.transaction(async (db) => {
          const header = headerOf(rootKeys(this.#root_key)[0]);
          const found = await lockOutdated(db, column, { header, after: from, limit });
          let sealed_anew = 0;
          for (const value of found) {
            const sealed = sealedAnew(this.#root_key, this.#name, value);
            if (sealed === null) this.#lost.add(rowText(value.row));
            else {
              await writeSealed(db, column, { row: value.row, sealed });
              sealed_anew++;
            }
          }
          return { found: found.length, last: found.at(-1)?.row ?? null, written: sealed_anew };
        });
      written += batch.written;
      this.resealed += batch.written;
      if (batch.written > 0) done();
      if (batch.found < limit || batch.last === null) return written;
      after = batch.last;
    }
  }
}

/**
 * Seals every value under the current key that is not, in batches, and says of each column what was done. It can be killed
 * and begun again at any time, and several may run at once: what is done already is not found any more. Values that others
 * write meanwhile are theirs. `tell` hears after each batch what was done in its column.
 */
export async function resealAll(
  store: RotationStore,
  root_key: RootKeyRing,
  tell: (progress: Resealed) => void = () => {},
): Promise<{ readonly columns: readonly Resealed[]; readonly unopened: readonly Unopened[] }> {
  const columns: Resealed[] = [];
  const unopened: Unopened[] = [];
  for (const column of columnNames) {
    const rotation = new ColumnRotation(store, root_key, column);
    const said = () => ({ column, resealed: rotation.resealed, unopened: rotation.lost.length });
    for (let turn = 0; turn < TURNS; turn++) if ((await rotation.turn(() => tell(said()))) === 0) break;
    columns.push(said());
    unopened.push(...rotation.lost.map((row) => ({ column, row })));
  }
  return { columns, unopened };
}
