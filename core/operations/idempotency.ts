// Idempotency-Key on management POSTs (docs/idempotency.md#everything-else): stored with the fact in one transaction,
// sealed, kept 24 hours.
import {
  type Context,
  canonicalJson,
  type Operation,
  openColumn,
  orgCaller,
  type RowKey,
  ServiceError,
  sealColumn,
  sha256,
  sha256Hex,
} from '../kernel/index.ts';
import { knownAgain, runOperation } from './context.ts';
import { type AnswerKey, claimAnswer, freeAnswer, storeAnswer } from './store.ts';

const KEPT_MS = 24 * 3_600_000;
/** A first call that has not ended by then was killed with its process: the next one takes over. */
const ABANDONED_MS = 60_000;
const FORM = /^[\x20-\x7e]{1,128}$/;
/** Refusals that say nothing about the request itself are not kept. */
const PASSING = new Set([401, 403, 409, 429]);

interface StoredResult {
  readonly status: number;
  /** JSON text, the same for every replay. */
  readonly body: string;
  readonly replay: boolean;
}

interface Kept {
  readonly body: string;
}

const COLUMN = 'idempotency.body';

function rowOf(key: AnswerKey): RowKey[] {
  return [key.org_id, key.environment, key.path, key.key_hash];
}

/** Whose keys they are: the organization's; before a person has entered one, the person's own. */
function scopeOf(context: Context): Pick<AnswerKey, 'org_id' | 'environment'> {
  const { caller } = context;
  if (caller.kind === 'session' && caller.org_id === null) {
    return { org_id: caller.user_id, environment: caller.environment };
  }
  const { org_id, environment } = orgCaller(context);
  return { org_id, environment };
}

/**
 * The answer of the first call under a key, as it was stored.
 * @throws ServiceError idempotency_conflict when that call had another body, idempotency_in_progress while it runs.
 */
function firstAnswer(
  stored: NonNullable<Awaited<ReturnType<typeof claimAnswer>>>,
  fingerprint: Buffer,
  decrypt: (body: Buffer) => Buffer,
): StoredResult {
  if (!stored.fingerprint.equals(fingerprint)) {
    throw new ServiceError('idempotency_conflict', 'This Idempotency-Key was used with another body.', {
      param: 'Idempotency-Key',
    });
  }
  if (stored.status === null || stored.body === null) {
    throw new ServiceError('idempotency_in_progress', 'The first call with this key is still running.', {
      retry_after_ms: 1_000,
    });
  }
  const kept = JSON.parse(decrypt(stored.body).toString()) as Kept;
  return { status: stored.status, body: kept.body, replay: true };
}

/**
 * Runs `operation` at most once per (organization, environment, path, `idempotency_key`) in 24 hours and returns the
 * first answer again afterwards. `refusalBody` writes the body of a refusal that is kept.
 * @throws ServiceError invalid_request, idempotency_conflict, idempotency_in_progress, and what the operation throws.
 */
export async function runOnce(
  context: Context,
  operation: Operation,
  args: {
    idempotency_key: string;
    path: string;
    input: unknown;
    refusalBody: (error: ServiceError) => string;
  },
): Promise<StoredResult> {
  if (!FORM.test(args.idempotency_key)) {
    throw new ServiceError('invalid_request', 'An Idempotency-Key has 1 to 128 printable ASCII characters.', {
      param: 'Idempotency-Key',
    });
  }
  const key: AnswerKey = {
    ...scopeOf(context),
    path: args.path,
    key_hash: sha256(args.idempotency_key),
  };
  const fingerprint = sha256(`${operation.method} ${args.path} ${canonicalJson(args.input)}`);
  const at = context.now();
  const { root_key } = context.services;
  const stored = await claimAnswer(context.db, key, {
    fingerprint,
    at,
    expires_at: new Date(at.getTime() + KEPT_MS),
    abandoned_before: new Date(at.getTime() - ABANDONED_MS),
  });
  if (stored !== null)
    return firstAnswer(stored, fingerprint, (body) => openColumn(root_key, COLUMN, rowOf(key), body));
  const keep = (status: number, body: string) => ({
    started_at: at,
    status,
    body: sealColumn(root_key, COLUMN, rowOf(key), Buffer.from(JSON.stringify({ body } satisfies Kept))),
  });
  try {
    const once = async (context: Context): Promise<StoredResult> => {
      const status = operation.status ?? 200;
      const known = knownAgain(context, sha256Hex(`${args.path} ${args.idempotency_key}`));
      const body = JSON.stringify(await runOperation(known, operation, args.input));
      // Another call has taken over meanwhile: this one must not stand beside it.
      if (!(await storeAnswer(context.db, key, keep(status, body)))) {
        throw new ServiceError('idempotency_in_progress', 'The call took too long and was run again.', {
          retry_after_ms: 1_000,
        });
      }
      return { status, body, replay: false };
    };
    return await (operation.own_transactions === true ? once(context) : context.transaction(once));
  } catch (error) {
    if (error instanceof ServiceError && error.status < 500 && !PASSING.has(error.status)) {
      await storeAnswer(context.db, key, keep(error.status, args.refusalBody(error)));
    } else {
      // Freed before the refusal goes out; where this fails too, the claim lapses by itself after a minute.
      await freeAnswer(context.db, key, at).catch(() => {});
    }
    throw error;
  }
}
