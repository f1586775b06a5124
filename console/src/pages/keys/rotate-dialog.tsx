// Rotating a key: how long the old one works on, then the secret of the new one.
import { type FormEvent, useState } from 'react';
import { type KeyRowFragment, RotateKeyDocument } from '../../api/gen/graphql.ts';
import { useSend } from '../../api/send.ts';
import { DialogFoot } from '../../ui/dialog.tsx';
import { FormFault } from '../../ui/states.tsx';
import type { NewKey } from './create.ts';
import { KeyDialog, type MakesKey } from './secret-dialog.tsx';

const graces = [
  {
    seconds: 0,
    name: 'Stop it now',
    what: 'Callers that still have the old key are refused within a second.',
  },
  { seconds: 3_600, name: 'An hour', what: 'For a few programs that you restart yourself.' },
  { seconds: 86_400, name: 'A day', what: 'For a deployment that takes the new key by itself.' },
  { seconds: 604_800, name: 'A week', what: 'The longest. Both keys work until then.' },
] as const;

function useRotate(id: string) {
  const { sendOnce, busy, fault } = useSend();
  const rotate = (grace: number): Promise<NewKey | null> =>
    sendOnce(RotateKeyDocument, { id, graceSeconds: grace });
  return { rotate, busy, fault };
}

export function RotateKeyDialog({ row, onClose, onMade, onUsed }: MakesKey & { row: KeyRowFragment }) {
  const [made, setMade] = useState<NewKey | null>(null);
  const [grace, setGrace] = useState<number>(3_600);
  const { rotate, busy, fault } = useRotate(row.id);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const next = await rotate(grace);
    if (next === null) return;
    setMade(next);
    onMade();
  };
  return (
    <KeyDialog
      made={made}
      title={`Rotate ${row.name}`}
      note="A new key with the same settings. The old one stops when its time is over."
      onClose={onClose}
      onUsed={onUsed}
    >
      <form className="key-form" onSubmit={(event) => void submit(event)} noValidate>
        <fieldset className="key-scopes">
          <legend>How long the old key works on</legend>
          {graces.map(({ seconds, name, what }) => (
            <label className="check" key={seconds}>
              <input
                type="radio"
                name="grace"
                checked={grace === seconds}
                onChange={() => setGrace(seconds)}
                {...(seconds === 3_600 ? { 'data-autofocus': true } : {})}
              />
              <span>
                {name} <span className="faint">{what}</span>
              </span>
            </label>
          ))}
        </fieldset>
        <FormFault fault={fault} />
        <DialogFoot onClose={onClose} busy={busy}>
          <span className="ellipsis">Rotate {row.name}</span>
        </DialogFoot>
      </form>
    </KeyDialog>
  );
}
