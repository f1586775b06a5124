// How the files of a release were made: an in-toto statement with SLSA provenance 1.0, signed in a DSSE envelope where there is a key.
import {
  type Ed25519Key,
  ed25519Verify,
  isObject,
  type JsonObject,
  sha256Hex,
} from '@svc/core/kernel/index.ts';

const PAYLOAD_TYPE = 'application/vnd.in-toto+json';
/** What `make release` does with its parameters; `cli/release/README.md` describes it. */
const BUILD_TYPE = 'urn:svc:release:1';

export interface Subject {
  readonly name: string;
  /** Lower-case hex. */
  readonly sha256: string;
}

/** The statement about `subjects`. */
export function provenanceOf(of: {
  readonly subjects: readonly Subject[];
  readonly tag: string;
  readonly commit: string;
  readonly lock_sha256: string;
  readonly base: { readonly name: string; readonly digest: string };
  /** Who ran it: an address of the machine that makes releases. */
  readonly builder: string;
}): JsonObject {
  const { subjects, tag, commit, lock_sha256, base, builder } = of;
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: subjects.map(({ name, sha256 }) => ({ name, digest: { sha256 } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: BUILD_TYPE,
        externalParameters: { tag, base: `${base.name}@${base.digest}` },
        resolvedDependencies: [
          { name: 'source', digest: { gitCommit: commit } },
          { name: 'package-lock.json', digest: { sha256: lock_sha256 } },
          { name: base.name, digest: { sha256: base.digest.replace('sha256:', '') } },
        ],
      },
      runDetails: { builder: { id: builder } },
    },
  };
}

/** What is signed of a payload (DSSE 1.0, "PAE"). */
function preAuthEncoding(payload: Buffer): Buffer {
  const head = `DSSEv1 ${PAYLOAD_TYPE.length} ${PAYLOAD_TYPE} ${payload.length} `;
  return Buffer.concat([Buffer.from(head), payload]);
}

/** The envelope of a statement; without a key it has no signature. */
export function envelopeOf(statement: JsonObject, key: Ed25519Key | null): JsonObject {
  const payload = Buffer.from(JSON.stringify(statement));
  const signatures =
    key === null
      ? []
      : [{ keyid: sha256Hex(key.public_key), sig: key.sign(preAuthEncoding(payload)).toString('base64') }];
  return { payloadType: PAYLOAD_TYPE, payload: payload.toString('base64'), signatures };
}

const SPKI_BYTES = 44;

/** The 32 bytes of an Ed25519 key in PEM (SubjectPublicKeyInfo), as `openssl pkey -pubout` writes it. @throws Error */
export function readPublicKey(pem: string): Buffer {
  const der = Buffer.from(pem.replaceAll(/-----[A-Z ]+-----|\s/g, ''), 'base64');
  if (!pem.includes('BEGIN PUBLIC KEY') || der.length !== SPKI_BYTES)
    throw new Error('this is no Ed25519 public key');
  return der.subarray(-32);
}

/** The statement of an envelope that `public_key` (32 bytes) has signed. @throws Error when it has not. */
export function openEnvelope(text: string, public_key: Uint8Array): JsonObject {
  const envelope: unknown = JSON.parse(text);
  if (
    !isObject(envelope) ||
    envelope['payloadType'] !== PAYLOAD_TYPE ||
    !Array.isArray(envelope['signatures'])
  )
    throw new Error('this is no envelope of a statement');
  const payload = Buffer.from(String(envelope['payload']), 'base64');
  const signed = (envelope['signatures'] as JsonObject[]).some(({ sig }) =>
    ed25519Verify(public_key, preAuthEncoding(payload), Buffer.from(String(sig), 'base64')),
  );
  if (!signed) throw new Error('the envelope is not signed by this key');
  return JSON.parse(payload.toString()) as JsonObject;
}
