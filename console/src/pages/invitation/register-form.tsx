// Making the account that an invitation is for; the link has proved the address.
import { type FormEvent, useState } from 'react';
import { type Fault, faultOfForm } from '../../api/errors.ts';
import { register } from '../../api/invitation.ts';
import { signIn } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { PasswordField, TextField } from '../../ui/field.tsx';
import { FormFault } from '../../ui/states.tsx';

function useRegister({ token, email, onDone }: { token: string; email: string; onDone: () => void }) {
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<Fault | null>(null);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (busy) return;
    const form = new FormData(event.currentTarget);
    const text = (name: string) => String(form.get(name) ?? '');
    const name = text('name').trim();
    if (name === '') return setFault(faultOfForm('Enter your name.'));
    if (form.get('terms') === null) return setFault(faultOfForm('Accept the terms to go on.'));
    setBusy(true);
    setFault(null);
    const made = await register(token, { email, name, password: text('password') });
    const entered = made.ok ? await signIn(email, text('password')) : null;
    setBusy(false);
    if (!made.ok) return setFault(made.fault);
    if (entered?.kind === 'refused') return setFault(entered.fault);
    onDone();
  };
  return { submit, busy, fault };
}

export function RegisterForm(props: { token: string; email: string; onDone: () => void }) {
  const { submit, busy, fault } = useRegister(props);
  return (
    <form className="sign-in-form" onSubmit={(event) => void submit(event)} noValidate>
      <TextField label="Your name" name="name" autoComplete="name" maxLength={120} autoFocus required />
      <input type="hidden" name="email" autoComplete="username" value={props.email} />
      <PasswordField
        label="Password"
        name="password"
        autoComplete="new-password"
        hint="At least 12 characters."
        required
      />
      <label className="check">
        <input type="checkbox" name="terms" value="yes" />
        <span>I accept the terms of service.</span>
      </label>
      <FormFault fault={fault} />
      <Button type="submit" kind="primary" className="wide" busy={busy}>
        Make the account
      </Button>
    </form>
  );
}
