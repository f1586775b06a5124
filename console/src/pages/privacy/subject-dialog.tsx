// Asking for an erasure or an export by the id that calls name the end user with.
import { type FormEvent, useState } from 'react';
import { EraseSubjectDocument } from '../../api/gen/tools/graphql.ts';
import { useAction, useSend } from '../../api/send.ts';
import { useOrg } from '../../app/org.tsx';
import { Dialog, DialogFoot } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { FormFault } from '../../ui/states.tsx';
import { saveSubject } from './save.ts';
import { checkSubject, erasureText, exportText, type SubjectFaults } from './subjects.ts';

export type Act = 'erase' | 'export';

const words = {
  erase: {
    title: 'Erase an end user',
    note: 'Their calls are unlinked from them, and tags and stored content of these calls are deleted. Cost and tokens stay. It cannot be undone.',
    verb: 'Erase',
    kind: 'danger',
  },
  export: {
    title: 'Export an end user',
    note: 'Saves each call of theirs with what is stored of its content, newest first, a line of JSON each.',
    verb: 'Save the file',
    kind: 'primary',
  },
} as const;

/** Does it; says in words what has become of it, or null where it was refused. */
function useAct(wanted: Act) {
  const { id, slug } = useOrg();
  const { send, busy: sending, fault: refused } = useSend();
  const { act, busy: saving, fault: failed } = useAction();
  const run = async (userId: string): Promise<string | null> => {
    if (wanted === 'erase') {
      const done = await send(EraseSubjectDocument, { userId });
      return done === null ? null : erasureText(done.request);
    }
    const records = await act(() => saveSubject({ id, slug }, userId));
    return records === null ? null : exportText(records);
  };
  return { run, busy: sending || saving, fault: refused ?? failed };
}

export function SubjectDialog(props: { act: Act; onClose: () => void; onDone: (said: string) => void }) {
  const { act, onClose, onDone } = props;
  const { run, busy, fault } = useAct(act);
  const [faults, setFaults] = useState<SubjectFaults | null>(null);
  const { title, note, verb, kind } = words[act];
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    // Spaces are part of an id: calls send it as it is.
    const user = String(form.get('user') ?? '');
    const wrong = checkSubject(user, act === 'erase' ? String(form.get('confirm') ?? '') : null);
    setFaults(wrong);
    const said = wrong === null ? await run(user) : null;
    if (said !== null) onDone(said);
  };
  const of_user = fault !== null && /(?:userId|user_id)$/.test(fault.field ?? '') ? fault.message : null;
  return (
    <Dialog title={title} note={note} size={460} onClose={onClose}>
      <form className="settings-form" onSubmit={(event) => void submit(event)} noValidate>
        <TextField
          label="Your id of the end user"
          name="user"
          hint="As your calls send it in user. It is stored nowhere here."
          autoComplete="off"
          spellCheck={false}
          fault={faults?.user ?? of_user}
          data-autofocus
        />
        {act === 'erase' && (
          <TextField
            label="Type the id again to erase"
            name="confirm"
            autoComplete="off"
            spellCheck={false}
            fault={faults?.confirm ?? null}
          />
        )}
        <FormFault fault={of_user === null ? fault : null} />
        <DialogFoot onClose={onClose} kind={kind} busy={busy}>
          {verb}
        </DialogFoot>
      </form>
    </Dialog>
  );
}
