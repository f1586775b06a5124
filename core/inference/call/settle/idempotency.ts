// Idempotency-Key on calls (docs/idempotency.md#calls). The key is claimed in the hold's transaction. The answer is
// kept for 24 hours, encrypted with a key that only the caller can provide again, and a retry gets the same answer
// without paying again.
import {
  canonicalJson,
  hkdfSha256,
  isObject,
  type RequestId,
  ServiceError,
  seal,
  sha256,
  unseal,
} from '../../../kernel/index.ts';
import type { Claim, IdempotencyClaim } from '../../../ledger/index.ts';
import type { CanonicalAnswer, ReplyEnd, ReplyMeta } from '../../canonical/types.ts';
import type { Clock } from '../clock.ts';
import { askBefore } from '../patience.ts';
import type { Incoming } from '../types.ts';

const WAIT_MS = 2_000;
const POLL_MS = 100;
/** A larger answer is not kept; its retry is refused with the amount that was charged. */
const STORED_MAX = 4_194_304;
const PRINTABLE = /^[\x20-\x7e]{1,128}$/;

/** What a replay needs in addition to the answer itself. */
export interface StoredAnswer {
  readonly answer: CanonicalAnswer;
  readonly meta: ReplyMeta;
  readonly end: ReplyEnd;
  readonly region: string;
  readonly attempts: number;
}

export interface Idempotency {
  readonly claim: IdempotencyClaim;
  /** API key and Idempotency-Key joined. Together with a request id they give the encryption key. Never stored. */
  readonly material: Buffer;
}

/**
 * The claim that `incoming` makes; null without the header. @throws ServiceError invalid_request for a malformed
 * value.
 */
export function idempotencyOf(incoming: Incoming, body: unknown): Idempotency | null {
  const key = incoming.headers['idempotency-key'];
  if (key === undefined) return null;
  if (!PRINTABLE.test(key)) {
    throw new ServiceError('invalid_request', 'An Idempotency-Key has 1 to 128 printable ASCII characters.', {
      param: 'Idempotency-Key',
    });
  }
  const { grant, path } = incoming;
  const meant = isObject(body) ? { ...body } : {};
  // A stream may be retried as a whole answer, and the reverse.
  delete meant['stream'];
  delete meant['stream_options'];
  return {
    claim: {
      scope: `${grant.project_id} ${grant.environment} ${path}`,
      key_hash: sha256(key),
      fingerprint: sha256(`POST ${path} ${grant.svc_version} ${canonicalJson(meant)}`),
    },
    material: sha256(`${incoming.secret}\n${key}`),
  };
}

function sealingKey(material: Buffer, id: RequestId): Buffer {
  return hkdfSha256(material, `svc idempotent answer ${id}`);
}

/** `stored`, encrypted; null when it is too large to keep. */
export function sealAnswer(material: Buffer, id: RequestId, stored: StoredAnswer): Buffer | null {
  const plain = Buffer.from(JSON.stringify(stored));
  return plain.length > STORED_MAX ? null : seal(sealingKey(material, id), plain, id);
}

/**
 * Waits for the call that holds the key and returns its answer. Null: the key has become free.
 * @throws ServiceError idempotency_conflict (422, another body), idempotency_in_progress (409, still running after 2
 * s), idempotency_replay_unavailable (409, done and charged but not kept), service_unavailable.
 */
export async function findReplay(
  clock: Clock,
  find: (scope: string, key_hash: Buffer) => Promise<Claim | null>,
  { claim, material }: Idempotency,
): Promise<{ id: RequestId; stored: StoredAnswer } | null> {
  const patience_ends = clock.monotonicMs() + WAIT_MS;
  for (;;) {
    const found = await askBefore(find(claim.scope, claim.key_hash));
    if (found === null) return null;
    if (!found.fingerprint.equals(claim.fingerprint)) {
      throw new ServiceError('idempotency_conflict', 'This Idempotency-Key was used with another body.');
    }
    if (found.state === 'done') return { id: found.request_id, stored: openStored(found, material) };
    if (clock.monotonicMs() >= patience_ends) {
      throw new ServiceError('idempotency_in_progress', 'The first call with this key is still running.', {
        details: { request_id: found.request_id },
        retry_after_ms: 1_000,
      });
    }
    await new Promise((done) => setTimeout(done, POLL_MS));
  }
}

function openStored(found: Claim, material: Buffer): StoredAnswer {
  const unavailable = () =>
    new ServiceError(
      'idempotency_replay_unavailable',
      'The call was made and charged, but its answer was not kept.',
      {
        details: { request_id: found.request_id, cost_micro_usd: found.cost_micro_usd },
      },
    );
  if (found.sealed_answer === null) throw unavailable();
  try {
    const plain = unseal(sealingKey(material, found.request_id), found.sealed_answer, found.request_id);
    return JSON.parse(plain.toString()) as StoredAnswer;
  } catch {
    // Encrypted with another API key, which has been rotated since; nobody can decrypt it now.
    throw unavailable();
  }
}
