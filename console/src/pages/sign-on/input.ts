// A connection as the server takes it: from what is stored, and from what a form says. Pure.
import type {
  MappedRole,
  PutSsoInput,
  SsoConnectionRowFragment,
  SsoKind,
} from '../../api/gen/tools/graphql.ts';
import { readGroups } from './groups.ts';

type Row = SsoConnectionRowFragment;
type ConfigInput = PutSsoInput['config'];

/** What a SAML provider says of itself, given again as it is stored. */
function samlSource({ config }: Row): ConfigInput {
  const { metadataUrl, idpEntityId, ssoUrl, certificates } = config;
  if (metadataUrl) return { metadataUrl };
  return { idpEntityId, ssoUrl, certificates: certificates.map(({ pem }) => pem) };
}

function configOf(row: Row): ConfigInput {
  const { issuer, clientId, scopes, claimMap, attributeMap, signRequests, allowIdpInitiated, jit } =
    row.config;
  if (row.kind === 'SAML') {
    const { email = null, name = null, groups = null } = attributeMap ?? {};
    return {
      ...samlSource(row),
      attributeMap: { email, name, groups },
      signRequests,
      allowIdpInitiated,
      jit,
    };
  }
  const { email = null, name = null, groups = null } = claimMap ?? {};
  return { issuer, clientId, scopes, jit, claimMap: { email, name, groups } };
}

/** A connection as it is stored now, for a change of one part of it; its secret stays. */
export function inputOf(row: Row): PutSsoInput {
  const { kind, displayName, status, enforce, defaultRole, roleMap } = row;
  return { kind, displayName, status, enforce, defaultRole, roleMap, config: configOf(row) };
}

type Texts = (name: string) => string;

function oidcOfForm(text: Texts, row: Row | null): ConfigInput {
  const secret = text('client_secret');
  const claims = row?.config.claimMap;
  return {
    issuer: text('issuer'),
    clientId: text('client_id'),
    ...(secret === '' ? {} : { clientSecret: secret }),
    scopes: text('scopes').split(/\s+/).filter(Boolean),
    claimMap: {
      ...(claims ? { email: claims.email, name: claims.name } : {}),
      groups: text('groups_claim') || 'groups',
    },
  };
}

function samlOfForm(form: FormData, text: Texts, row: Row | null): ConfigInput {
  const name = row?.config.attributeMap?.name ?? null;
  const rest: ConfigInput = {
    attributeMap: { email: text('email_attribute') || null, name, groups: text('groups_attribute') || null },
    signRequests: form.get('sign_requests') !== null,
    allowIdpInitiated: form.get('allow_idp_initiated') !== null,
  };
  const xml = text('metadata_xml');
  const url = text('metadata_url');
  if (xml !== '') return { ...rest, metadataXml: xml };
  if (url !== '') return { ...rest, metadataUrl: url };
  // Nothing new was given: what is stored stays.
  return { ...rest, ...(row?.kind === 'SAML' && !row.config.metadataUrl ? samlSource(row) : {}) };
}

/** What the form says; a fault where it cannot be read. */
export function inputOfForm(form: FormData, row: Row | null): PutSsoInput | { readonly fault: string } {
  const text = (name: string) => String(form.get(name) ?? '').trim();
  const groups = readGroups(text('role_map'));
  if ('fault' in groups) return groups;
  const kind = text('kind') as SsoKind;
  const config = kind === 'SAML' ? samlOfForm(form, text, row) : oidcOfForm(text, row);
  return {
    kind,
    displayName: text('display_name'),
    // What is switched on stays so; a new one is tried out first.
    status: row?.kind === kind ? row.status : 'DRAFT',
    enforce: row?.kind === kind && row.enforce,
    defaultRole: text('default_role') as MappedRole,
    roleMap: groups.map,
    ...(form.get('move_here') === null ? {} : { moveHere: true }),
    config: { ...config, jit: form.get('jit') !== null },
  };
}
