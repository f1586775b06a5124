// Signing in at the organisation's own identity provider: the address says which one it is.
import { type FormEvent, useState } from 'react';
import { type Fault, faultOfForm } from '../../api/errors.ts';
import { findSignOn, signOnUrl } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { FormFault } from '../../ui/states.tsx';

/** `next` is the path of the console that one wants to. */
export function SsoForm(props: { email: string; next: string; onBack: () => void }) {
  const [fault, setFault] = useState<Fault | null>(null);
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (busy) return;
    const email = String(new FormData(event.currentTarget).get('email') ?? '').trim();
    if (email === '') return setFault(faultOfForm('Enter your e-mail address.'));
    setBusy(true);
    setFault(null);
    const found = await findSignOn(email);
    if (found.ok && found.value.alias !== null)
      return location.assign(signOnUrl(found.value.alias, props.next));
    setBusy(false);
    setFault(
      found.ok ? faultOfForm('There is no single sign-on for this address. Use your password.') : found.fault,
    );
  };
  return (
    <form className="sign-in-form" onSubmit={(event) => void submit(event)} noValidate>
      <TextField
        label="E-mail"
        name="email"
        type="email"
        autoComplete="username"
        autoCapitalize="none"
        spellCheck={false}
        defaultValue={props.email}
        hint="You go on at the identity provider of your organisation."
        autoFocus
        required
      />
      <FormFault fault={fault} />
      <Button type="submit" kind="primary" className="wide" busy={busy}>
        Continue
      </Button>
      <Button kind="quiet" className="wide" onClick={props.onBack}>
        Use a password
      </Button>
    </form>
  );
}
