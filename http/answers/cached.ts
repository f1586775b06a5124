// Answers that clients may keep for a while and ask for again with their tag (docs/api.md#what-may-be-kept).
import { type Operation, sha256Hex } from '@svc/core/kernel/index.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';

type Cached = NonNullable<Operation['cached']>;

/** What decides how an answer for one caller reads. */
const VARIES = 'authorization, x-api-key, anthropic-version, cookie';

/**
 * The tag of an answer. Weak (RFC 9110 8.8.1): `generated_at` says when it was put together, and an answer that differs in
 * nothing else is the same.
 */
function tagOf(body: string | Buffer, output: unknown): string {
  const dated = typeof output === 'object' && output !== null && 'generated_at' in output;
  const text = dated ? JSON.stringify({ ...output, generated_at: null }) : body;
  return `W/"${sha256Hex(text).slice(0, 32)}"`;
}

const opaque = (tag: string) => tag.replace(/^W\//, '');

/** Whether `asked`, the value of If-None-Match, names `tag`. Tags are compared weakly (RFC 9110 13.1.2). */
function namesTag(asked: string | undefined, tag: string): boolean {
  if (asked === undefined) return false;
  if (asked.trim() === '*') return true;
  return (asked.match(/(?:W\/)?"[^"]*"/g) ?? []).some((one) => opaque(one) === opaque(tag));
}

function addVary(reply: FastifyReply): void {
  const known = reply.getHeader('vary');
  reply.header('vary', typeof known === 'string' && known !== '' ? `${known}, ${VARIES}` : VARIES);
}

/**
 * Marks `body`, the answer `output` as it is sent, as one that may be kept. True: the caller has it already, and 304 without a
 * body is the answer.
 */
export function keepable(
  at: { request: FastifyRequest; reply: FastifyReply },
  { scope, max_age_seconds = 60 }: Cached,
  { body, output }: { body: string | Buffer; output: unknown },
): boolean {
  const tag = tagOf(body, output);
  at.reply.header('etag', tag).header('cache-control', `${scope}, max-age=${max_age_seconds}`);
  if (scope === 'private') addVary(at.reply);
  return namesTag(at.request.headers['if-none-match'], tag);
}
