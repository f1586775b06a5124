// What a SAML provider needs to be known by, and what it needs to know of this service.
import { type ChangeEvent, useId, useRef } from 'react';
import type { SignOnFactsFragment, SsoConnectionRowFragment } from '../../api/gen/tools/graphql.ts';
import { CopyButton } from '../../ui/copy.tsx';
import { AreaField, TextField } from '../../ui/field.tsx';

type Row = SsoConnectionRowFragment | null;
type Addresses = SignOnFactsFragment['serviceProvider'];

/** The addresses that a provider is given, to copy. */
export function ProviderAddresses({ kind, addresses }: { kind: string; addresses: Addresses }) {
  if (!addresses) return null;
  const rows: readonly (readonly [string, string, string])[] =
    kind === 'SAML'
      ? [
          ['ACS URL', addresses.acsUrl, 'the ACS URL'],
          ['Entity ID', addresses.entityId, 'the entity ID'],
        ]
      : [
          ['Redirect', addresses.callbackUrl, 'the redirect address'],
          ['Sign-out', addresses.logoutUrl, 'the address for sign-outs'],
        ];
  return (
    <dl className="sign-on-facts">
      {rows.map(([name, url, what]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <code>{url}</code> <CopyButton text={url} what={what} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function MetadataFields({ row }: { row: Row }) {
  const area = useRef<HTMLTextAreaElement>(null);
  const id = useId();
  const read = async (event: ChangeEvent<HTMLInputElement>) => {
    const [file] = event.currentTarget.files ?? [];
    if (file !== undefined && area.current !== null) area.current.value = await file.text();
  };
  const is_stored = row?.kind === 'SAML';
  return (
    <>
      <TextField
        label="Metadata address"
        name="metadata_url"
        type="url"
        defaultValue={row?.config.metadataUrl ?? ''}
        placeholder="https://login.example.com/metadata"
        hint="Fetched now and every day, so that a new certificate is taken by itself."
      />
      <AreaField
        ref={area}
        label="or the metadata itself"
        name="metadata_xml"
        rows={4}
        spellCheck={false}
        hint={is_stored ? 'Leave both empty to keep what is stored.' : 'XML, from the provider.'}
      />
      <div className="field">
        <label htmlFor={id}>or a file with it</label>
        <input id={id} type="file" accept=".xml,text/xml" onChange={(event) => void read(event)} />
      </div>
    </>
  );
}

/** What is asked about a SAML provider. */
export function SamlFields({ row }: { row: Row }) {
  const config = row?.kind === 'SAML' ? row.config : null;
  return (
    <>
      <MetadataFields row={row} />
      <TextField
        label="Attribute with the e-mail address"
        name="email_attribute"
        defaultValue={config?.attributeMap?.email ?? ''}
        hint="Empty: the name of the subject, email or mail."
      />
      <TextField
        label="Attribute with the groups"
        name="groups_attribute"
        defaultValue={config?.attributeMap?.groups ?? ''}
        hint="Empty: groups or memberOf."
      />
      <label className="sign-on-check">
        <input type="checkbox" name="sign_requests" defaultChecked={config?.signRequests ?? false} />
        Sign requests
      </label>
      <label className="sign-on-check">
        <input
          type="checkbox"
          name="allow_idp_initiated"
          defaultChecked={config?.allowIdpInitiated ?? false}
        />
        People may begin at the provider
      </label>
    </>
  );
}
