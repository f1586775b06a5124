// What stands under which key, so that an operator knows when a former one can go.
import {
  type Db,
  headerOf,
  type RootKey,
  type RootKeyRing,
  rootKeys,
  type SealedColumnName,
  sealedColumn,
} from '../kernel/index.ts';
import { type PayloadKey, readPayloadKey } from '../workflow-starts/index.ts';
import { columnNames } from './rotate.ts';
import { countCodes, countSealed } from './store.ts';

/** Values of one kind under one key. */
export interface Count {
  /** A sealed column, or what codes are for. */
  readonly of: SealedColumnName | string;
  readonly values: number;
}

/** A key of the ring and what needs it. */
export interface KeyUse {
  readonly name: string;
  readonly id: string;
  readonly is_current: boolean;
  readonly sealed: readonly Count[];
  /** Codes that people hold, which can be checked under this key alone. */
  readonly codes: readonly Count[];
  /** What histories of workflows at Temporal need it for; null: nothing was encrypted under it there. */
  readonly workflows: PayloadKey | null;
}

export interface KeyRingStatus {
  readonly keys: readonly KeyUse[];
  /** Sealed before values named their key, never sealed, or under a key that is not in the ring. */
  readonly unnamed: readonly Count[];
  /** Codes made before their key was noted, or under a key that is not in the ring. */
  readonly unnamed_codes: readonly Count[];
}

/** How many values are in each of `counts` together. */
export function total(counts: readonly Count[]): number {
  return counts.reduce((sum, { values }) => sum + values, 0);
}

interface Found {
  readonly of: string;
  readonly key_id: Buffer | null;
  readonly values: number;
}

function countsOf(found: readonly Found[], key: RootKey | null, keys: readonly RootKey[]): Count[] {
  const isUnder = ({ key_id }: Found) =>
    key === null
      ? !keys.some(({ id }) => key_id !== null && id.equals(key_id))
      : key_id !== null && key.id.equals(key_id);
  const counts = new Map<string, number>();
  for (const one of found.filter(isUnder)) counts.set(one.of, (counts.get(one.of) ?? 0) + one.values);
  return [...counts].map(([of, values]) => ({ of, values }));
}

/** Counts every sealed value and every code that can still be used, by key. It reads every sealed column once. */
export async function readKeyRingStatus(db: Db, root_key: RootKeyRing, at: Date): Promise<KeyRingStatus> {
  const keys = rootKeys(root_key);
  const sealed: Found[] = [];
  for (const of of columnNames) {
    const counted = await countSealed(db, sealedColumn(of), keys.map(headerOf));
    sealed.push(
      ...counted.map(({ header, values }) => ({ of, key_id: header?.subarray(1) ?? null, values })),
    );
  }
  const counted = await countCodes(db, at);
  const codes = counted.map(({ codes: of, key_id, values }) => ({ of, key_id, values }));
  const workflows: (PayloadKey | null)[] = [];
  for (const { id } of keys) workflows.push(await readPayloadKey(db, id.toString('hex')));
  return {
    keys: keys.map((key, no) => ({
      ...{ name: key.name, id: key.id.toString('hex'), is_current: no === 0 },
      ...{ sealed: countsOf(sealed, key, keys), codes: countsOf(codes, key, keys) },
      workflows: workflows[no] ?? null,
    })),
    unnamed: countsOf(sealed, null, keys),
    unnamed_codes: countsOf(codes, null, keys),
  };
}
