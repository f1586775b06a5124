import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readEd25519Key, sha256Hex } from '@svc/core/kernel/index.ts';
import { atFileEnd } from '@svc/test/support/ends.ts';
import { beforeEach, expect, test } from 'vitest';
import { envelopeOf, openEnvelope, provenanceOf, readPublicKey } from './provenance.ts';
import { releaseFaults } from './verify.ts';

const scratch = mkdtempSync(join(tmpdir(), 'svc-provenance-'));
atFileEnd(() => rm(scratch, { recursive: true, force: true }));

/** A pair as a person makes it. */
function pair(name: string): { private_pem: string; public_pem: string } {
  const file = join(scratch, `${name}.pem`);
  execFileSync('openssl', ['genpkey', '-algorithm', 'ed25519', '-out', file]);
  const public_pem = execFileSync('openssl', ['pkey', '-in', file, '-pubout']).toString();
  return { private_pem: readFileSync(file, 'utf8'), public_pem };
}

const ours = pair('ours');
const theirs = pair('theirs');
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(scratch, 'release-'));
  const texts = { 'svc-1.2.3.tgz': 'a chart', 'NOTES.txt': 'notes' };
  for (const [name, text] of Object.entries(texts)) writeFileSync(join(folder, name), text);
  const subjects = Object.entries(texts).map(([name, text]) => ({ name, sha256: sha256Hex(text) }));
  const statement = provenanceOf({
    subjects: [{ name: 'registry.example/svc:1.2.3', sha256: sha256Hex('image') }, ...subjects],
    ...{
      tag: 'v1.2.3',
      commit: 'c'.repeat(40),
      lock_sha256: sha256Hex('lock'),
      builder: 'https://ci.example',
    },
    base: { name: 'node:24', digest: `sha256:${sha256Hex('base')}` },
  });
  const envelope = envelopeOf(statement, readEd25519Key(ours.private_pem));
  writeFileSync(join(folder, 'svc-1.2.3.intoto.jsonl'), `${JSON.stringify(envelope)}\n`);
});

const readStatement = () => readFileSync(join(folder, 'svc-1.2.3.intoto.jsonl'), 'utf8');

test('a release whose files are those of its signed statement has no faults', async () => {
  expect(await releaseFaults(folder, ours.public_pem)).toEqual([]);
  const statement = openEnvelope(readStatement(), readPublicKey(ours.public_pem));
  expect(statement).toMatchObject({
    ...{ _type: 'https://in-toto.io/Statement/v1', predicateType: 'https://slsa.dev/provenance/v1' },
    predicate: {
      buildDefinition: {
        externalParameters: { tag: 'v1.2.3', base: `node:24@sha256:${sha256Hex('base')}` },
        resolvedDependencies: expect.arrayContaining([
          { name: 'source', digest: { gitCommit: 'c'.repeat(40) } },
        ]),
      },
    },
  });
});

test('openssl finds the signature right as well', () => {
  const { payload, payloadType, signatures } = JSON.parse(readStatement());
  const body = Buffer.from(payload, 'base64');
  const head = `DSSEv1 ${payloadType.length} ${payloadType} ${body.length} `;
  writeFileSync(join(folder, 'signed'), Buffer.concat([Buffer.from(head), body]));
  writeFileSync(join(folder, 'signature'), Buffer.from(signatures[0].sig, 'base64'));
  writeFileSync(join(folder, 'public.pem'), ours.public_pem);
  const args = [
    '-verify',
    '-rawin',
    '-pubin',
    '-inkey',
    'public.pem',
    '-in',
    'signed',
    '-sigfile',
    'signature',
  ];
  expect(execFileSync('openssl', ['pkeyutl', ...args], { cwd: folder }).toString()).toContain('Success');
});

test('a file that was changed, one that is missing and one that was added are named', async () => {
  writeFileSync(join(folder, 'svc-1.2.3.tgz'), 'another chart');
  rmSync(join(folder, 'NOTES.txt'));
  writeFileSync(join(folder, 'svc-1.2.3-fixed.tgz'), 'take this one');
  expect(await releaseFaults(folder, ours.public_pem)).toEqual([
    'svc-1.2.3.tgz is another file than the one that was released',
    'NOTES.txt is not here',
    'svc-1.2.3-fixed.tgz is not part of the release',
  ]);
});

test.each([
  ['another key has signed', (text: string) => text, theirs.public_pem],
  [
    'nobody has signed',
    (text: string) => JSON.stringify({ ...JSON.parse(text), signatures: [] }),
    ours.public_pem,
  ],
  [
    'was changed after it was signed',
    (text: string) => {
      const envelope = JSON.parse(text);
      const payload = Buffer.from(envelope.payload, 'base64').toString().replace('v1.2.3', 'v1.2.4');
      return JSON.stringify({ ...envelope, payload: Buffer.from(payload).toString('base64') });
    },
    ours.public_pem,
  ],
])('a statement that %s is refused', async (_, change, public_pem) => {
  writeFileSync(join(folder, 'svc-1.2.3.intoto.jsonl'), change(readStatement()));
  await expect(releaseFaults(folder, public_pem)).rejects.toThrow('not signed by this key');
});

test('a key of another kind is refused', () => {
  const rsa = execFileSync('openssl', ['genrsa', '2048'], { stdio: ['ignore', 'pipe', 'ignore'] }).toString();
  expect(() => readEd25519Key(rsa)).toThrow('no Ed25519 key');
  expect(() => readPublicKey(ours.private_pem)).toThrow('no Ed25519 public key');
});
