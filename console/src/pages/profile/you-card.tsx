// Who the person is. Another address counts only once its mailbox is proved.
import { type FormEvent, useState } from 'react';
import { type Profile, updateMe } from '../../api/account.ts';
import { useAction } from '../../api/send.ts';
import { loadSession, type Session } from '../../api/session.ts';
import { useOrg } from '../../app/org.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { IdText } from '../../ui/copy.tsx';
import { TextField } from '../../ui/field.tsx';
import { FormFault } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { useProof } from './proof.tsx';

/** What of the form is not as it was. */
function changesOf(user: Session['user'], name: string, email: string): { name?: string; email?: string } {
  return { ...(name === user.name ? {} : { name }), ...(email === user.email ? {} : { email }) };
}

function Form({ user }: { user: Session['user'] }) {
  const proof = useProof();
  const { act, busy, fault } = useAction();
  const [saved, setSaved] = useState<Profile | null>(null);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (name: string) => String(form.get(name) ?? '').trim();
    const changes = changesOf(user, text('name'), text('email'));
    setSaved(null);
    const done = await act(() => proof.run(() => updateMe(changes)));
    if (done === null) return;
    setSaved(done);
    await loadSession();
  };
  return (
    <form className="profile-form" onSubmit={(event) => void submit(event)} noValidate>
      <TextField label="Name" name="name" autoComplete="name" maxLength={120} defaultValue={user.name} />
      <TextField
        label="E-mail"
        name="email"
        type="email"
        autoComplete="email"
        autoCapitalize="none"
        spellCheck={false}
        defaultValue={user.email}
        hint="A new address counts once you have opened the link that we mail to it."
      />
      <FormFault fault={fault} />
      <div className="profile-foot">
        <Button type="submit" kind="primary" busy={busy}>
          Save
        </Button>
        <span role="status">{saved && <Status tone="ok">Saved</Status>}</span>
      </div>
      {saved?.email_pending && (
        <p>
          A mail is on its way to {saved.email_pending}. Open its link within a day and enter your password;
          until then you sign in with {saved.email}.
        </p>
      )}
      {proof.dialog}
    </form>
  );
}

export function YouCard({ session }: { session: Session }) {
  const { name: org_name, role } = useOrg();
  const { user, orgs, by_provider = false } = session;
  return (
    <Card title="You">
      {!by_provider && <Form user={user} />}
      <dl className="profile-facts">
        {by_provider && (
          <>
            <div>
              <dt>Name</dt>
              <dd>{user.name || '–'}</dd>
            </div>
            <div>
              <dt>E-mail</dt>
              <dd>{user.email}</dd>
            </div>
          </>
        )}
        <div>
          <dt>Here</dt>
          <dd>
            {role} of {org_name}
            {orgs.length > 1 && `, and in ${orgs.length - 1} more`}
          </dd>
        </div>
        <div>
          <dt>Id</dt>
          <dd>
            <IdText id={user.id} />
          </dd>
        </div>
      </dl>
    </Card>
  );
}
