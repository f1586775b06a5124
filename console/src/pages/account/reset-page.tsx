// Where the mail for a forgotten password leads: setting a new one.
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { faultOfForm } from '../../api/errors.ts';
import { resetPassword } from '../../api/sign-up.ts';
import { takeToken } from '../../app/mailed-token.ts';
import { Button } from '../../ui/button.tsx';
import { PasswordField } from '../../ui/field.tsx';
import { FormFault } from '../../ui/states.tsx';
import { OutsideCard, useForm } from './frame.tsx';

export function ResetPasswordPage() {
  const [token] = useState(takeToken);
  const { submit, busy, fault, done } = useForm((text) => {
    const password = text('password');
    if (password === '') return faultOfForm('Enter a new password.');
    return resetPassword(token, password);
  });
  return (
    <OutsideCard
      title="Set a new password"
      note="every session of yours ends then"
      below={<Link to="/forgot-password">Ask for a new link</Link>}
    >
      {done === null ? (
        <form className="sign-in-form" onSubmit={(event) => void submit(event)} noValidate>
          <PasswordField
            label="New password"
            name="password"
            autoComplete="new-password"
            hint="At least 12 characters."
            autoFocus
            required
          />
          <FormFault fault={fault} />
          <Button type="submit" kind="primary" className="wide" busy={busy}>
            Set the password
          </Button>
        </form>
      ) : (
        <div className="sign-in-form" role="status">
          <p>The password is set, and all sessions have ended.</p>
          <Link className="btn primary wide" to="/sign-in">
            Sign in
          </Link>
        </div>
      )}
    </OutsideCard>
  );
}
