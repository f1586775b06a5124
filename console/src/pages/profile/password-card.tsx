// Changing the password. Every other session of the person ends with it.
import { type FormEvent, useState } from 'react';
import { changePassword } from '../../api/account.ts';
import { useAction } from '../../api/send.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { PasswordField } from '../../ui/field.tsx';
import { FormFault } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { useProof } from './proof.tsx';

export function PasswordCard({ email, onChanged }: { email: string; onChanged: () => void }) {
  const proof = useProof();
  const { act, busy, fault } = useAction();
  const [missing, setMissing] = useState<'current' | 'next' | 'again' | null>(null);
  const [done, setDone] = useState(false);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const text = (name: string) => String(new FormData(form).get(name) ?? '');
    const [current, next] = [text('current'), text('next')];
    setDone(false);
    if (current === '') return setMissing('current');
    if (next === '') return setMissing('next');
    if (next !== text('again')) return setMissing('again');
    setMissing(null);
    if ((await act(() => proof.run(() => changePassword(current, next)))) === null) return;
    form.reset();
    setDone(true);
    onChanged();
  };
  const wrong = fault?.code === 'invalid_credentials' ? 'This is not your present password.' : null;
  const weak = fault?.field === 'new_password' ? fault.message : null;
  return (
    <Card title="Password" note="changing it signs you out everywhere else">
      <form className="profile-form" onSubmit={(event) => void submit(event)} noValidate>
        {/* For password managers: whose password it is. */}
        <input type="hidden" name="username" autoComplete="username" value={email} readOnly />
        <PasswordField
          label="Present password"
          name="current"
          autoComplete="current-password"
          fault={missing === 'current' ? 'Enter the password that you have now.' : wrong}
        />
        <PasswordField
          label="New password"
          name="next"
          autoComplete="new-password"
          hint="At least twelve characters; a few words are easiest."
          fault={missing === 'next' ? 'Enter a new password.' : weak}
        />
        <PasswordField
          label="New password again"
          name="again"
          autoComplete="new-password"
          fault={missing === 'again' ? 'The two are not the same.' : null}
        />
        {wrong === null && weak === null && <FormFault fault={fault} />}
        <div className="profile-foot">
          <Button type="submit" kind="primary" busy={busy}>
            Change password
          </Button>
          <span role="status">{done && <Status tone="ok">Changed; other sessions have ended</Status>}</span>
        </div>
      </form>
      {proof.dialog}
    </Card>
  );
}
