// A SAML provider as an admin names it: by the address of its description, by the description, or by its three facts.
import type { Static } from 'typebox';
import { egressOf } from '../../egress/index.ts';
import { type Context, invalid } from '../../kernel/index.ts';
import type { ConfigIn } from '../sso/config-schema.ts';
import { SsoFault } from '../sso/fault.ts';
import type { Connection, SamlConnection, SamlFacts } from '../sso/types.ts';
import { fetchMetadata, isBrowserUrl, readMetadata, usableCertificates } from './metadata.ts';

type Given = Static<typeof ConfigIn>;

const words: Readonly<Record<string, string>> = {
  unsafe_url:
    'This address, or one that the description names, may not be used: it must be public and https.',
  provider_unreachable: 'There is no description at this address. Redirects are not followed.',
  metadata_invalid: 'This is no description of one SAML 2.0 identity provider.',
  metadata_expired: 'The description has lapsed (validUntil).',
  binding_unsupported: 'The provider does not take requests by HTTP-Redirect.',
  certificate_invalid:
    'There must be one to ten certificates to sign with, with RSA keys of at least 2,048 bits.',
};

async function orRefuse<T>(param: string, run: () => Promise<T> | T): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof SsoFault)) throw error;
    throw invalid(param, 'format', words[error.reason] ?? 'The provider cannot be used.');
  }
}

/** Whether it is the same provider, whatever certificates it has by now. */
export function isSameSaml(a: SamlFacts, b: SamlFacts): boolean {
  return a.entity_id === b.entity_id && a.sso_url === b.sso_url;
}

async function fromAddress(
  context: Context,
  { url, before, plain }: { url: string; before: Connection | null; plain: boolean },
): Promise<Pick<SamlConnection, 'metadata' | 'metadata_at'>> {
  const param = 'config.metadata_url';
  const at = context.now();
  const egress = egressOf(context.services);
  const refusal = await egress.refusalOf(url);
  if (refusal !== null) throw invalid(param, 'format', `The address ${refusal}.`);
  try {
    return { metadata: await fetchMetadata(egress, { url, at, plain }), metadata_at: at };
  } catch (error) {
    if (!(error instanceof SsoFault)) throw error;
    // Who switches a connection off, or changes a role, must not need a provider that answers.
    if (before?.kind === 'saml' && before.config.metadata_url === url)
      return { metadata: before.metadata, metadata_at: before.metadata_at };
    throw invalid(param, 'format', words[error.reason] ?? 'The provider cannot be used.');
  }
}

function fromFacts({ idp_entity_id, sso_url, certificates }: Given, plain: boolean): Promise<SamlFacts> {
  if (idp_entity_id === undefined)
    throw invalid('config.idp_entity_id', 'required', 'The name of the provider is missing.');
  if (sso_url === undefined || !isBrowserUrl(sso_url, plain))
    throw invalid('config.sso_url', 'format', 'The address where browsers go must be https.');
  return orRefuse('config.certificates', () => ({
    ...{ entity_id: idp_entity_id, sso_url },
    certificates: usableCertificates(certificates ?? []),
  }));
}

async function factsOf(
  context: Context,
  { given, before }: { given: Given; before: Connection | null },
): Promise<Pick<SamlConnection, 'metadata' | 'metadata_at'>> {
  const { metadata_url, metadata_xml, idp_entity_id } = given;
  const ways = [metadata_url, metadata_xml, idp_entity_id].filter((one) => one !== undefined);
  if (ways.length !== 1)
    throw invalid(
      'config',
      'format',
      'Give one of metadata_url, metadata_xml, and idp_entity_id with sso_url and certificates.',
    );
  const plain = context.services.sign_in.base_url.startsWith('http:');
  if (metadata_url !== undefined) return fromAddress(context, { url: metadata_url, before, plain });
  if (metadata_xml === undefined) return { metadata: await fromFacts(given, plain), metadata_at: null };
  const read = () => readMetadata(metadata_xml, { at: context.now(), plain });
  return { metadata: await orRefuse('config.metadata_xml', read), metadata_at: null };
}

/** The provider of `given`, as it is stored. @throws ServiceError invalid_request. */
export async function chooseSaml(
  context: Context,
  { given, before }: { given: Given; before: Connection | null },
): Promise<Pick<SamlConnection, 'kind' | 'config' | 'metadata' | 'metadata_at'>> {
  const { metadata_url = null, attribute_map, sign_requests = false, allow_idp_initiated = false } = given;
  const { email = null, name = null, groups = null } = attribute_map ?? {};
  const facts = await factsOf(context, { given, before });
  const config = {
    ...{ metadata_url, sign_requests, allow_idp_initiated, jit: given.jit ?? true },
    attribute_map: { email, name, groups },
  };
  return { kind: 'saml', config, ...facts };
}
