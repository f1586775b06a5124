// Connecting an identity provider, or changing it. It is saved as a draft first; switching it on is another step.
import { type FormEvent, useState } from 'react';
import { storefront } from '../../api/boot.ts';
import { faultOfForm } from '../../api/errors.ts';
import {
  PutSsoDocument,
  type SignOnFactsFragment,
  type SsoConnectionRowFragment,
} from '../../api/gen/tools/graphql.ts';
import { useAction, useMutate } from '../../api/send.ts';
import { Dialog, DialogFoot } from '../../ui/dialog.tsx';
import { PasswordField, SelectField, TextField } from '../../ui/field.tsx';
import { FormFault } from '../../ui/states.tsx';
import { useProof } from '../profile/proof.tsx';
import { writeGroups } from './groups.ts';
import { inputOfForm } from './input.ts';
import { ProviderAddresses, SamlFields } from './saml-fields.tsx';

type Row = SsoConnectionRowFragment | null;
const DEFAULT_SCOPES = 'openid email profile';

function OidcFields({ row }: { row: Row }) {
  const config = row?.kind === 'OIDC' ? row.config : null;
  return (
    <>
      <TextField
        label="Issuer"
        name="issuer"
        type="url"
        defaultValue={config?.issuer ?? ''}
        placeholder="https://login.example.com"
        hint="Its address of OpenID Connect, exactly as the provider names itself."
        required
      />
      <TextField label="Client ID" name="client_id" defaultValue={config?.clientId ?? ''} required />
      <PasswordField
        label="Client secret"
        name="client_secret"
        autoComplete="off"
        hint={config?.hasSecret ? 'One is stored. Leave empty to keep it.' : 'Never shown again.'}
      />
      <TextField
        label="Scopes"
        name="scopes"
        defaultValue={config?.scopes.join(' ') ?? DEFAULT_SCOPES}
        hint="Separated by blanks."
      />
      <TextField
        label="Claim with the groups"
        name="groups_claim"
        defaultValue={config?.claimMap?.groups ?? 'groups'}
      />
    </>
  );
}

function RoleFields({ row }: { row: Row }) {
  return (
    <>
      <SelectField
        label="Role of who comes first"
        name="default_role"
        defaultValue={row?.defaultRole ?? 'DEVELOPER'}
      >
        <option value="ADMIN">Admin</option>
        <option value="DEVELOPER">Developer</option>
        <option value="BILLING">Billing</option>
        <option value="VIEWER">Viewer</option>
      </SelectField>
      <div className="field">
        <label htmlFor="sign-on-groups">Groups and their roles</label>
        <textarea
          id="sign-on-groups"
          className="input"
          name="role_map"
          rows={4}
          spellCheck={false}
          defaultValue={writeGroups(row?.roleMap)}
          aria-describedby="sign-on-groups-hint"
        />
        <span className="hint" id="sign-on-groups-hint">
          A line for each, as Platform team = admin. The highest role counts.
        </span>
      </div>
      <label className="sign-on-check">
        <input type="checkbox" name="jit" defaultChecked={row?.config.jit ?? true} />
        People of the domains become members when they first come
      </label>
    </>
  );
}

/** At a storefront, of a provider that was given other addresses than those here. */
function MoveField({ row, addresses }: { row: Row; addresses: SignOnFactsFragment['serviceProvider'] }) {
  if (row === null || storefront === null || !addresses) return null;
  const { hostname } = window.location;
  if (new URL(addresses.callbackUrl).hostname === hostname) return null;
  return (
    <label className="sign-on-check">
      <input type="checkbox" name="move_here" />
      The provider now has the same addresses at {hostname}: take its answers there
    </label>
  );
}

export function ConnectionDialog(props: {
  row: Row;
  addresses: SignOnFactsFragment['serviceProvider'];
  onClose: () => void;
  onDone: () => void;
}) {
  const { row, addresses, onClose, onDone } = props;
  const mutate = useMutate();
  const proof = useProof();
  const { act, busy, fault, setFault } = useAction();
  const [kind, setKind] = useState<string>(row?.kind ?? 'OIDC');
  const [title] = useState(row === null ? 'Connect your identity provider' : 'Change the connection');
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const input = inputOfForm(new FormData(event.currentTarget), row);
    if ('fault' in input) return setFault(faultOfForm(input.fault));
    const done = await act(() => proof.run(() => mutate(PutSsoDocument, input)));
    if (done !== null) onDone();
  };
  return (
    <Dialog title={title} note="The provider asks for these addresses:" size={560} onClose={onClose}>
      <ProviderAddresses kind={kind} addresses={addresses} />
      <form className="sign-on-form" onSubmit={(event) => void submit(event)} noValidate>
        <SelectField
          label="Protocol"
          name="kind"
          value={kind}
          onChange={(event) => setKind(event.currentTarget.value)}
        >
          <option value="OIDC">OpenID Connect</option>
          <option value="SAML">SAML 2.0</option>
        </SelectField>
        <TextField
          label="Name"
          name="display_name"
          defaultValue={row?.displayName ?? ''}
          hint="As people know it."
          data-autofocus
          required
        />
        {kind === 'SAML' ? <SamlFields row={row} /> : <OidcFields row={row} />}
        <RoleFields row={row} />
        <MoveField row={row} addresses={addresses} />
        <FormFault fault={fault} />
        <DialogFoot onClose={onClose} busy={busy}>
          {row === null ? 'Save as draft' : 'Save'}
        </DialogFoot>
      </form>
      {proof.dialog}
    </Dialog>
  );
}
