import fc from 'fast-check';
import { expect, test } from 'vitest';
import { GrowingTree, inclusionPath, leafHash, rootOfPath, treeHash } from './merkle.ts';

test('trees have the hashes of the vectors that Certificate Transparency published', () => {
  const leaves = [
    '',
    '00',
    '10',
    '2021',
    '3031',
    '40414243',
    '5051525354555657',
    '606162636465666768696a6b6c6d6e6f',
  ];
  const hashes = leaves.map((hex) => leafHash(Buffer.from(hex, 'hex')));
  const roots = hashes.map((_, i) => treeHash(hashes.slice(0, i + 1)).toString('hex'));
  expect(roots).toEqual([
    '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
    'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
    'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
    'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
    '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
    '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
    'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
    '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
  ]);
  expect(treeHash([]).toString('hex')).toBe(
    'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  );
});

const places = fc
  .integer({ min: 1, max: 70 })
  .chain((size) => fc.record({ size: fc.constant(size), index: fc.integer({ min: 0, max: size - 1 }) }));

test('a path leads to the root from its own leaf and place, and from no other', () => {
  fc.assert(
    fc.property(places, fc.nat(), ({ size, index }, other) => {
      const leaves = Array.from({ length: size }, (_, i) => leafHash(Buffer.from([i])));
      const path = inclusionPath(leaves, index);
      const root = treeHash(leaves);
      const from = (leaf: Buffer, at: number) => rootOfPath({ leaf, index: at, size, path });
      expect(from(leaves[index]!, index)).toEqual(root);
      expect(from(leafHash(Buffer.from('other')), index)).not.toEqual(root);
      const wrong = other % size;
      if (wrong !== index) expect(from(leaves[wrong]!, index)).not.toEqual(root);
      expect(rootOfPath({ leaf: leaves[index]!, index, size, path: [...path, root] })).not.toEqual(root);
      expect(rootOfPath({ leaf: leaves[index]!, index: size, size, path })).toBeNull();
    }),
  );
});

test('a tree that grows counts its leaves and has at each size the hash that the standard gives by halves', () => {
  const leaves = Array.from({ length: 33 }, (_, i) => leafHash(Buffer.from([i])));
  const tree = new GrowingTree();
  for (const [i, leaf] of leaves.entries()) {
    tree.add(leaf);
    expect(tree.size).toBe(i + 1);
    const path = inclusionPath(leaves.slice(0, i + 1), i);
    expect(rootOfPath({ leaf, index: i, size: i + 1, path })).toEqual(tree.root());
  }
});

test('no root has a place before the first, and none a path that is too short', () => {
  const leaves = Array.from({ length: 5 }, (_, i) => leafHash(Buffer.from([i])));
  const path = inclusionPath(leaves, 0);
  expect(rootOfPath({ leaf: leaves[0]!, index: -1, size: 5, path })).toBeNull();
  expect(rootOfPath({ leaf: leaves[0]!, index: -1, size: 1, path: [] })).toBeNull();
  expect(rootOfPath({ leaf: leaves[0]!, index: 0, size: 5, path: path.slice(1) })).toBeNull();
});
