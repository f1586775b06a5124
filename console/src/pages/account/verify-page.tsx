// Where the mail that proves an address leads. The password is asked for, so that nobody makes an account with the password
// that somebody else has chosen for them.
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { faultOfForm } from '../../api/errors.ts';
import { verifyEmail } from '../../api/sign-up.ts';
import { takeToken } from '../../app/mailed-token.ts';
import { Button } from '../../ui/button.tsx';
import { PasswordField } from '../../ui/field.tsx';
import { FormFault } from '../../ui/states.tsx';
import { OutsideCard, useForm } from './frame.tsx';

export function VerifyEmailPage() {
  const [token] = useState(takeToken);
  const { submit, busy, fault, done } = useForm((text) => {
    const password = text('password');
    if (password === '') return faultOfForm('Enter the password that you chose.');
    return verifyEmail(token, password);
  });
  return (
    <OutsideCard title="Confirm your address" note="and your account is ready">
      {done === null ? (
        <form className="sign-in-form" onSubmit={(event) => void submit(event)} noValidate>
          <PasswordField
            label="Password"
            name="password"
            autoComplete="current-password"
            hint="The one that you chose for the account. Another’s request has another’s password: close the page."
            autoFocus
            required
          />
          <FormFault fault={fault} />
          <Button type="submit" kind="primary" className="wide" busy={busy}>
            Confirm the address
          </Button>
        </form>
      ) : (
        <div className="sign-in-form" role="status">
          <p>{done.email} is confirmed, and the account is ready.</p>
          <Link className="btn primary wide" to="/sign-in">
            Sign in
          </Link>
        </div>
      )}
    </OutsideCard>
  );
}
