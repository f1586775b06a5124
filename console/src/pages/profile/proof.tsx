// Changes of an account need a fresh proof of the person: the password is asked for when the server wants it, and what
// was begun goes on.
import { type FormEvent, useState } from 'react';
import { prove } from '../../api/account.ts';
import { useAction } from '../../api/send.ts';
import { leaveForProof, type Result } from '../../api/session.ts';
import { Dialog, DialogFoot } from '../../ui/dialog.tsx';
import { PasswordField } from '../../ui/field.tsx';
import { FormFault } from '../../ui/states.tsx';

interface Asking {
  answer(proved: boolean): void;
}

/**
 * `run` asks for the password where it must (or leaves for the provider), then does what was asked once more; `dialog` stands
 * on the page.
 */
export function useProof(why = 'This changes how you sign in, and your last sign-in is a while ago.') {
  const [asking, setAsking] = useState<Asking | null>(null);
  const run = async <T,>(act: () => Promise<Result<T>>): Promise<Result<T>> => {
    const first = await act();
    if (first.ok || first.fault.code !== 'reauthentication_required') return first;
    if (await leaveForProof()) return first;
    const proved = await new Promise<boolean>((answer) => setAsking({ answer }));
    setAsking(null);
    return proved ? act() : first;
  };
  return { run, dialog: asking && <ProofDialog asking={asking} why={why} /> };
}

function ProofDialog({ asking, why }: { asking: Asking; why: string }) {
  const { act, busy, fault } = useAction();
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const password = String(new FormData(event.currentTarget).get('password') ?? '');
    const proved = await act(() => prove(password));
    if (proved !== null) asking.answer(true);
  };
  return (
    <Dialog title="Enter your password" note={why} size={420} onClose={() => asking.answer(false)}>
      <form className="profile-form" onSubmit={(event) => void submit(event)} noValidate>
        <PasswordField
          label="Password"
          name="password"
          autoComplete="current-password"
          data-autofocus
          required
        />
        <FormFault fault={fault} />
        <DialogFoot onClose={() => asking.answer(false)} busy={busy}>
          Continue
        </DialogFoot>
      </form>
    </Dialog>
  );
}
