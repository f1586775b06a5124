// The description of a SAML provider: fetched, read, and brought down to the three facts that are used.
import type { Egress } from '../../egress/index.ts';
import { readCertificate } from '../../kernel/index.ts';
import { SsoFault } from '../sso/fault.ts';
import type { SamlFacts } from '../sso/types.ts';
import { type Node, parseMetadata } from './library.ts';
import { walk } from './strict.ts';

const BOUNDS = { bytes_max: 524_288, elements_max: 10_000, depth_max: 32 };
const REDIRECT = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect';
const PROTOCOL = 'urn:oasis:names:tc:SAML:2.0:protocol';
const CERTIFICATES_MAX = 10;
const TEXT_MAX = 1_024;

const invalid = () => new SsoFault('metadata_invalid');

function children(node: Node, name: string): readonly Node[] {
  const found = Object.hasOwn(node, name) ? node[name] : undefined;
  return Array.isArray(found)
    ? found.map((one) => (typeof one === 'string' ? { _: one } : (one as Node)))
    : [];
}

const attributeOf = (node: Node, name: string) =>
  node.$ !== undefined && Object.hasOwn(node.$, name) ? node.$[name] : undefined;

/** The one provider of a description. @throws SsoFault. */
function providerOf({ name, root }: { name: string; root: Node }): { entity: Node; provider: Node } {
  const entities = name === 'EntitiesDescriptor' ? children(root, 'EntityDescriptor') : [root];
  if (name !== 'EntitiesDescriptor' && name !== 'EntityDescriptor') throw invalid();
  const found = entities.flatMap((entity) =>
    children(entity, 'IDPSSODescriptor')
      .filter((one) => (attributeOf(one, 'protocolSupportEnumeration') ?? '').split(/\s+/).includes(PROTOCOL))
      .map((provider) => ({ entity, provider })),
  );
  const [first, ...others] = found;
  if (first === undefined || others.length > 0) throw invalid();
  return first;
}

function certificatesOf(provider: Node): string[] {
  const keys = children(provider, 'KeyDescriptor').filter(
    (key) => (attributeOf(key, 'use') ?? 'signing') === 'signing',
  );
  const texts = keys
    .flatMap((key) => children(key, 'KeyInfo'))
    .flatMap((info) => children(info, 'X509Data'))
    .flatMap((data) => children(data, 'X509Certificate'))
    .map((one) => (typeof one._ === 'string' ? one._ : ''));
  return usableCertificates(texts);
}

/** Certificates as they are stored, each once. @throws SsoFault certificate_invalid when there is none, or too many. */
export function usableCertificates(texts: readonly string[]): string[] {
  const read = texts.map(readCertificate);
  const usable = new Set(read.flatMap((one) => (one === null ? [] : [one.pem])));
  if (usable.size === 0 || usable.size > CERTIFICATES_MAX) throw new SsoFault('certificate_invalid');
  return [...usable];
}

function refuseLapsed(node: Node, at: Date): void {
  const until = attributeOf(node, 'validUntil');
  if (until !== undefined && !(Date.parse(until) > at.getTime())) throw new SsoFault('metadata_expired');
}

/** Whether browsers may be sent to `text`: https, or http where `plain` is allowed. */
export function isBrowserUrl(text: string, plain: boolean): boolean {
  if (!URL.canParse(text) || text.length > TEXT_MAX) return false;
  const { protocol, username, hash } = new URL(text);
  return (protocol === 'https:' || (plain && protocol === 'http:')) && username === '' && hash === '';
}

/**
 * What the description `text` says of its provider. @throws SsoFault metadata_invalid, metadata_expired, binding_unsupported,
 * certificate_invalid, unsafe_url.
 */
export async function readMetadata(
  text: string,
  { at, plain }: { at: Date; plain: boolean },
): Promise<SamlFacts> {
  // Descriptions have comments, which nobody reads; a document type is refused with everything else that is not plain.
  const bare = text
    .replace(/^\ufeff/, '')
    .replace(/<!--(?:(?!--)[\s\S])*-->/g, '')
    .trim();
  try {
    walk(bare, BOUNDS, () => {});
  } catch (error) {
    throw error instanceof SsoFault ? invalid() : error;
  }
  const parsed = await parseMetadata(bare);
  const { entity, provider } = providerOf(parsed);
  for (const node of [parsed.root, entity, provider]) refuseLapsed(node, at);
  const entity_id = attributeOf(entity, 'entityID') ?? '';
  if (entity_id === '' || entity_id.length > TEXT_MAX) throw invalid();
  const services = children(provider, 'SingleSignOnService');
  const service = services.find((one) => attributeOf(one, 'Binding') === REDIRECT);
  if (service === undefined) throw new SsoFault('binding_unsupported');
  const sso_url = attributeOf(service, 'Location') ?? '';
  if (!isBrowserUrl(sso_url, plain)) throw new SsoFault('unsafe_url');
  return { entity_id, sso_url, certificates: certificatesOf(provider) };
}

async function fetchText(egress: Egress, url: string): Promise<string> {
  if ((await egress.refusalOf(url)) !== null) throw new SsoFault('unsafe_url');
  const answer = await egress.exchange({
    ...{ url, method: 'GET', body: null, connect_ms: 3_000, total_ms: 8_000 },
    headers: { accept: 'application/samlmetadata+xml, application/xml, text/xml' },
    body_bytes_max: BOUNDS.bytes_max,
  });
  if (answer.fault === 'blocked_address') throw new SsoFault('unsafe_url');
  // A redirect is no description, and is not followed.
  if (answer.fault !== null || answer.status !== 200) throw new SsoFault('provider_unreachable');
  if (!answer.complete) throw invalid();
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(answer.body);
  } catch {
    throw invalid();
  }
}

/** The description at `url`, through the guarded client. @throws SsoFault. */
export async function fetchMetadata(
  egress: Egress,
  { url, ...read }: { url: string; at: Date; plain: boolean },
): Promise<SamlFacts> {
  return readMetadata(await fetchText(egress, url), read);
}
