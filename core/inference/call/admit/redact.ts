// The one gate between the incoming bytes and everything that looks at them: what the organization's data policy
// names is removed before anything is read, hashed, routed, stored or sent. Both lanes see only redacted text.
import { type RedactedBody, redactBody } from '../../../redaction/index.ts';
import type { Incoming } from '../types.ts';

/** Headers whose text is stored in request rows. */
const HEADERS = ['x-svc-metadata', 'x-svc-app', 'x-title'];

type RedactionSettings = NonNullable<Incoming['grant']['data_policy']['redact']>;

/**
 * `incoming` with body and headers redacted; the same object when its organization redacts nothing, which costs one
 * look-up.
 * @throws ServiceError (or rejects) invalid_pattern, service_unavailable: then the request must
 * not continue.
 */
export function redactIncoming(incoming: Incoming): Incoming | Promise<Incoming> {
  const { redact } = incoming.grant.data_policy;
  if (redact === null) return incoming;
  const { org_id } = incoming.grant;
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
  return { ...incoming, body, members: null, top: null, redacted: { redactions, unscanned } };
}

async function later(
  incoming: Incoming,
  settings: RedactionSettings,
  body: RedactedBody | Promise<RedactedBody>,
  names: readonly string[],
): Promise<Incoming> {
  // All at once: if the body were refused while a header is awaited, its rejection would be unhandled.
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
  // Metadata is a JSON object of strings and is redacted as the body member that it stands for. What is not JSON is
  // refused when it is read.
  const [before, behind] = name === 'x-svc-metadata' ? ['{"metadata":', '}'] : ['', ''];
  const text = before === '' ? JSON.stringify([sent]) : before + sent + behind;
  const { body, ...counts } = await redactBody(settings, Buffer.from(text), incoming.grant);
  const made = body.toString();
  if (before === '') return { text: (JSON.parse(made) as [string])[0], ...counts };
  return { text: made.slice(before.length, made.length - behind.length), ...counts };
}
