// The dialog in which a person decides a matter: words are asked for, what follows is said, and a refusal stays here.
import { type FormEvent, type ReactNode, useState } from 'react';
import { useAction } from '../../api/send.ts';
import type { Result } from '../../api/session.ts';
import { Dialog, DialogFoot } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { FormFault } from '../../ui/states.tsx';

export function DecideDialog(props: {
  title: string;
  note: ReactNode;
  /** Label and hint of the words. */
  words: { readonly label: string; readonly hint: string; readonly needed: boolean };
  verb: string;
  danger?: boolean;
  /** Further fields, before the words. */
  children?: ReactNode;
  send: (form: FormData, words: string) => Promise<Result<object>>;
  onClose: () => void;
  onDone: () => void;
}) {
  const { title, note, words, verb, danger, children, send, onClose, onDone } = props;
  const { act, busy, fault, setFault } = useAction();
  const [empty, setEmpty] = useState(false);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = String(form.get('words') ?? '').trim();
    setFault(null);
    setEmpty(words.needed && text === '');
    if (words.needed && text === '') return;
    const done = await act(() => send(form, text));
    if (done !== null) onDone();
  };
  return (
    <Dialog title={title} note={note} size={480} onClose={onClose}>
      <form className="dialog-form" onSubmit={(event) => void submit(event)} noValidate>
        {children}
        <TextField
          label={words.label}
          name="words"
          maxLength={500}
          hint={words.hint}
          autoComplete="off"
          fault={empty ? 'Say it in one line.' : null}
          data-autofocus
        />
        <FormFault fault={fault} />
        <DialogFoot onClose={onClose} kind={danger ? 'danger' : 'primary'} busy={busy}>
          {verb}
        </DialogFoot>
      </form>
    </Dialog>
  );
}
