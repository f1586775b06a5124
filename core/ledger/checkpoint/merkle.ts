// Merkle tree hashes and inclusion proofs as RFC 6962, section 2.1, defines them: SHA-256, a byte 0 before a leaf, a
// byte 1 before the two children of a node.
import { sha256 } from '../../kernel/index.ts';

const LEAF = Buffer.from([0]);
const NODE = Buffer.from([1]);

/** The hash of a leaf with the content `data`. */
export function leafHash(data: Uint8Array): Buffer {
  return sha256(Buffer.concat([LEAF, data]));
}

function nodeHash(left: Buffer, right: Buffer): Buffer {
  return sha256(Buffer.concat([NODE, left, right]));
}

/** The largest power of two below `size`: how many leaves the left half of a tree has. */
function leftSize(size: number): number {
  let power = 1;
  while (power * 2 < size) power *= 2;
  return power;
}

/** A tree that is built leaf by leaf and keeps only the roots of its complete parts. */
export class GrowingTree {
  private readonly complete: { readonly height: number; readonly hash: Buffer }[] = [];
  size = 0;

  add(leaf: Buffer): void {
    let top = { height: 0, hash: leaf };
    while (this.complete.at(-1)?.height === top.height) {
      const left = this.complete.pop()!;
      top = { height: top.height + 1, hash: nodeHash(left.hash, top.hash) };
    }
    this.complete.push(top);
    this.size++;
  }

  /** The hash of the whole tree; of a tree without leaves the hash of nothing. */
  root(): Buffer {
    const last = this.complete.at(-1);
    if (last === undefined) return sha256(Buffer.alloc(0));
    return this.complete.slice(0, -1).reduceRight((right, { hash }) => nodeHash(hash, right), last.hash);
  }
}

/** The hash of the tree over `leaves`, which are hashes of leaves. */
export function treeHash(leaves: readonly Buffer[]): Buffer {
  const tree = new GrowingTree();
  for (const leaf of leaves) tree.add(leaf);
  return tree.root();
}

/** What proves that `leaves[index]` is in the tree over `leaves`: the siblings on the way to the root, lowest first. */
export function inclusionPath(leaves: readonly Buffer[], index: number): Buffer[] {
  if (leaves.length <= 1) return [];
  const left = leftSize(leaves.length);
  return index < left
    ? [...inclusionPath(leaves.slice(0, left), index), treeHash(leaves.slice(left))]
    : [...inclusionPath(leaves.slice(left), index - left), treeHash(leaves.slice(0, left))];
}

/** The root that `path` leads to from `leaf` at `index` of a tree of `size` leaves; null where no such tree has one. */
export function rootOfPath(place: {
  readonly leaf: Buffer;
  readonly index: number;
  readonly size: number;
  readonly path: readonly Buffer[];
}): Buffer | null {
  const { leaf, index, size, path } = place;
  if (index < 0 || index >= size) return null;
  if (size === 1) return path.length === 0 ? leaf : null;
  const sibling = path.at(-1);
  if (sibling === undefined) return null;
  const left = leftSize(size);
  const inLeft = index < left;
  const half = rootOfPath({
    leaf,
    index: inLeft ? index : index - left,
    size: inLeft ? left : size - left,
    path: path.slice(0, -1),
  });
  if (half === null) return null;
  return inLeft ? nodeHash(half, sibling) : nodeHash(sibling, half);
}
