// The one gate between the bytes that came in and everything that looks at them: what the organisation's policy names
// is taken out before anything is read, hashed, routed, stored or sent. Both lanes then see only redacted text.
import { type RedactedBody, redactBody } from '../../../redaction/index.ts';
import type { Incoming } from '../types.ts';
import { refuseTooMany } from './parse.ts';

/** Headers whose text ends up in rows. */
const HEADERS = ['x-svc-metadata', 'x-svc-app', 'x-title'];

type RedactionSettings = NonNullable<Incoming['grant']['data_policy']['redact']>;

/**
 * `incoming` with body and headers redacted; itself where its organisation asks for none, which costs one look.
 * @throws ServiceError (or rejects) invalid_pattern, request_too_large, service_unavailable: then nothing may go on.
 */
export function redactIncoming(incoming: Incoming): Incoming | Promise<Incoming> {
  const { redact } = incoming.grant.data_policy;
  if (redact === null) return incoming;
  const { org_id } = incoming.grant;
  // Redaction parses the body as well. What counts is ASCII, so no byte needs decoding.
  refuseTooMany(incoming.body.toString('latin1'));
  const body = redactBody(redact, incoming.body, {
    org_id,
    spared: incoming.dialect.spared,
  });
  const named = HEADERS.filter((name) => incoming.headers[name] !== undefined);
  if (body instanceof Promise || named.length > 0) return later(incoming, redact, body, named);
  return taken(incoming, body);
}

function taken(incoming: Incoming, { body, redactions, unscanned }: RedactedBody): Incoming {
  if (redactions === 0 && unscanned === 0 && body === incoming.body) return incoming;
  return { ...incoming, body, redacted: { redactions, unscanned } };
}

async function later(
  incoming: Incoming,
  settings: RedactionSettings,
  body: RedactedBody | Promise<RedactedBody>,
  names: readonly string[],
): Promise<Incoming> {
  // All at once: a body that is refused while a header is waited for must not be a rejection that nobody hears.
  const [made, ...texts] = await Promise.all([
    body,
    ...names.map((name) => header(incoming, settings, name)),
  ]);
  const headers: Record<string, string | undefined> = { ...incoming.headers };
  let { redactions, unscanned } = made;
  names.forEach((name, i) => {
    const found = texts[i] as RedactedHeader;
    headers[name] = found.text;
    redactions += found.redactions;
    unscanned += found.unscanned;
  });
  return taken({ ...incoming, headers }, { body: made.body, redactions, unscanned });
}

type RedactedHeader = Omit<RedactedBody, 'body'> & { readonly text: string };

async function header(
  incoming: Incoming,
  settings: RedactionSettings,
  name: string,
): Promise<RedactedHeader> {
  const sent = incoming.headers[name] as string;
  // Metadata are a JSON object of strings, and read as the member that they stand for; what is not JSON is refused as
  // such when it is read.
  const [before, behind] = name === 'x-svc-metadata' ? ['{"metadata":', '}'] : ['', ''];
  const text = before === '' ? JSON.stringify([sent]) : before + sent + behind;
  const { body, ...counts } = await redactBody(settings, Buffer.from(text), incoming.grant);
  const made = body.toString();
  if (before === '') return { text: (JSON.parse(made) as [string])[0], ...counts };
  return { text: made.slice(before.length, made.length - behind.length), ...counts };
}
