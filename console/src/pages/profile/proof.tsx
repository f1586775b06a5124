// Changes of an account need a fresh proof of the person: the password is asked for when the server wants it, and what
// was begun goes on.
import { type FormEvent, useRef, useState } from 'react';
import { prove } from '../../api/account.ts';
import type { Fault } from '../../api/errors.ts';
import { leaveForProof, type Result } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
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
  const [fault, setFault] = useState<Fault | null>(null);
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    const answer = await prove(String(new FormData(event.currentTarget).get('password') ?? ''));
    setBusy(false);
    if (answer.ok) asking.answer(true);
    else setFault(answer.fault);
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
        <div className="dialog-foot">
          <Button onClick={() => asking.answer(false)}>Cancel</Button>
          <Button type="submit" kind="primary" busy={busy}>
            Continue
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** One action of a form at a time: its button is busy, and what went wrong stands above it. */
export function useAction() {
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<Fault | null>(null);
  const running = useRef(false);
  const act = async <T,>(work: () => Promise<Result<T>>): Promise<T | null> => {
    if (running.current) return null;
    running.current = true;
    setBusy(true);
    setFault(null);
    const answer = await work();
    running.current = false;
    setBusy(false);
    if (answer.ok) return answer.value;
    setFault(answer.fault);
    return null;
  };
  return { act, busy, fault, setFault };
}
