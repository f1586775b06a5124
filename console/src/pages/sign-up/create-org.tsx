// Making an organisation, from the switch between them.
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { base_url } from '../../api/boot.ts';
import { CreateOrgDocument } from '../../api/gen/graphql.ts';
import { useSend } from '../../api/send.ts';
import { loadSession } from '../../api/session.ts';
import { Dialog, DialogFoot } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { FormFault } from '../../ui/states.tsx';
import { InviteCodeField } from './code-field.tsx';

/** A short name made of `name`: small letters, digits and hyphens. */
const slugOf = (name: string) =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
    .replaceAll(/^-+|-+$/g, '');

function useCreate(onClose: () => void) {
  const { send, busy, fault } = useSend();
  const navigate = useNavigate();
  const create = async (input: {
    name: string;
    slug: string;
    billingCountry: string;
    inviteCode?: string;
    acceptTerms?: boolean;
  }) => {
    const done = await send(CreateOrgDocument, input);
    if (done === null) return;
    await loadSession();
    onClose();
    await navigate({ to: '/$org/$env/home', params: { org: input.slug, env: 'live' } });
  };
  return { create, busy, fault };
}

/** Name and short name; the short one follows the name until it is typed itself. */
function Names() {
  const [slug, setSlug] = useState<string | null>(null);
  const [name, setName] = useState('');
  return (
    <>
      <TextField
        label="Name"
        name="name"
        value={name}
        maxLength={120}
        autoComplete="organization"
        onChange={({ target }) => setName(target.value)}
        data-autofocus
      />
      <TextField
        label="Short name"
        name="slug"
        value={slug ?? slugOf(name)}
        maxLength={40}
        spellCheck={false}
        autoComplete="off"
        hint="In every address of this console."
        onChange={({ target }) => setSlug(target.value)}
      />
    </>
  );
}

/** Left empty, an owner accepts later: until then the documents wait. */
function TermsCheck() {
  return (
    <label className="check">
      <input type="checkbox" name="terms" />
      <span>
        I accept the terms, the privacy notice and the acceptable use policy for it{' '}
        <a className="link" href={`${base_url}/docs/legal`} target="_blank" rel="noreferrer">
          Read them
        </a>
      </span>
    </label>
  );
}

/** `needsCode`: the person may make none without an invite code. */
export function CreateOrgDialog({
  needsCode = false,
  onClose,
}: {
  needsCode?: boolean;
  onClose: () => void;
}) {
  const { create, busy, fault } = useCreate(onClose);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (name: string) => String(form.get(name) ?? '').trim();
    const code = needsCode ? { inviteCode: text('invite_code') } : {};
    const billingCountry = text('country').toUpperCase();
    const terms = form.get('terms') === null ? {} : { acceptTerms: true };
    void create({ name: text('name'), slug: text('slug'), billingCountry, ...code, ...terms });
  };
  return (
    <Dialog
      title="New organisation"
      note="It has its own balance, keys and members, and begins with play money in the sandbox."
      size={460}
      onClose={onClose}
    >
      <form className="sign-in-form" onSubmit={submit} noValidate>
        <Names />
        <TextField
          label="Billing country"
          name="country"
          maxLength={2}
          autoComplete="country"
          hint="Two letters, such as IN or US. It decides the currency and the tax."
        />
        {needsCode && <InviteCodeField />}
        <TermsCheck />
        <FormFault fault={fault} />
        <DialogFoot onClose={onClose} busy={busy}>
          Make the organisation
        </DialogFoot>
      </form>
    </Dialog>
  );
}
