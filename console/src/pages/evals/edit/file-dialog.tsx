// A suite out of a file. A large one is sent in parts; where one is refused or lost, what was stored stays, and pressing again goes on.
import { useNavigate } from '@tanstack/react-router';
import { type ChangeEvent, type FormEvent, useId, useRef, useState } from 'react';
import type { Fault } from '../../../api/errors.ts';
import { AddEvalCasesDocument, CreateEvalSuiteDocument } from '../../../api/gen/tools/graphql.ts';
import { useAction, useMutate } from '../../../api/send.ts';
import { useOrg } from '../../../app/org.tsx';
import { Dialog, DialogFoot } from '../../../ui/dialog.tsx';
import { TextField } from '../../../ui/field.tsx';
import { countText, plural } from '../../../ui/format/numbers.ts';
import { FormFault } from '../../../ui/states.tsx';
import { caseAt, FILE_BYTES_MAX, partsOf, readSuiteFile, type SuiteInFile } from './suite-file.ts';

/** What of a file is stored already, and as which suite. */
interface Stored {
  readonly id: string;
  readonly cases: number;
  /** A part whose answer was lost may have been stored: it is not added to another revision than this. */
  readonly revision: number;
}

/** Sends the parts that are not stored yet; gives the id once all are. */
function useStore(onStored: (cases: number) => void) {
  const mutate = useMutate();
  const { act, ...state } = useAction();
  const stored = useRef<Stored | null>(null);
  const named = (fault: Fault, part: Parameters<typeof caseAt>[0]): Fault => {
    const name = caseAt(part, fault.field, stored.current?.cases ?? 0);
    return name === null ? fault : { ...fault, message: `Case ${name}: ${fault.message}` };
  };
  const store = (name: string, suite: SuiteInFile) =>
    act(async () => {
      const left = suite.cases.slice(stored.current?.cases ?? 0);
      for (const cases of partsOf(left)) {
        const before = stored.current;
        const outcome =
          before === null
            ? await mutate(CreateEvalSuiteDocument, { name, cases })
            : await mutate(AddEvalCasesDocument, {
                ...{ id: before.id, cases, expectedRevision: before.revision },
              });
        if (!outcome.ok) return { ok: false as const, fault: named(outcome.fault, cases) };
        const { id, revision } = outcome.value.suite;
        const now = { id, revision, cases: (before?.cases ?? 0) + cases.length };
        stored.current = now;
        onStored(now.cases);
      }
      return { ok: true as const, value: (stored.current as Stored).id };
    });
  const forget = () => {
    stored.current = null;
    onStored(0);
    state.setFault(null);
  };
  return { ...state, store, forget };
}

function FileField({
  fault,
  onText,
}: {
  fault: string | null;
  onText: (text: string, name: string) => void;
}) {
  const id = useId();
  const read = async (event: ChangeEvent<HTMLInputElement>) => {
    const file = event.target.files?.[0];
    if (file === undefined) return;
    onText(file.size > FILE_BYTES_MAX ? '' : await file.text(), file.name);
  };
  return (
    <div className="field">
      <label htmlFor={id}>File</label>
      <input
        id={id}
        type="file"
        accept=".json,application/json"
        aria-describedby={`${id}-hint`}
        aria-invalid={fault === null ? undefined : true}
        data-autofocus
        onChange={(event) => void read(event)}
      />
      {fault !== null && (
        <span className="fault" role="alert">
          {fault}
        </span>
      )}
      <span className="hint" id={`${id}-hint`}>
        As svcctl evals export writes it. Of OpenAI, promptfoo or Inspect: svcctl evals import FILE --out
        suite.json first.
      </span>
    </div>
  );
}

export function SuiteFileDialog({ onClose }: { onClose: () => void }) {
  const { slug, env } = useOrg();
  const navigate = useNavigate();
  const [done, setDone] = useState(0);
  const { store, busy, fault, forget } = useStore(setDone);
  const [suite, setSuite] = useState<SuiteInFile | null>(null);
  const [wrong, setWrong] = useState<string | null>(null);
  const [name, setName] = useState('');
  const take = (text: string, file: string) => {
    forget();
    const read = readSuiteFile(text, file);
    setSuite('suite' in read ? read.suite : null);
    setWrong('fault' in read ? read.fault : null);
    setName('suite' in read ? read.suite.name : '');
  };
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (suite === null) return setWrong(wrong ?? 'Choose a file.');
    const id = await store(name.trim() === '' ? suite.name : name.trim(), suite);
    if (id !== null) void navigate({ to: '/$org/$env/evals/suites/$id', params: { org: slug, env, id } });
  };
  return (
    <Dialog title="Suite out of a file" note="Nothing is stored before you make the suite." onClose={onClose}>
      <form className="eval-form" noValidate onSubmit={(event) => void submit(event)}>
        <FileField fault={wrong} onText={take} />
        {suite !== null && (
          <TextField
            label="Name of the suite"
            name="name"
            maxLength={120}
            autoComplete="off"
            value={name}
            disabled={done > 0}
            onChange={(event) => setName(event.target.value)}
          />
        )}
        <p className="eval-estimate" role="status">
          {suite !== null && done === 0 && plural(suite.cases.length, 'case')}
          {suite !== null && done > 0 && `${countText(done)} of ${plural(suite.cases.length, 'case')} stored`}
        </p>
        <FormFault fault={fault} />
        <DialogFoot onClose={onClose} busy={busy}>
          {done > 0 && fault !== null ? 'Go on' : 'Make the suite'}
        </DialogFoot>
      </form>
    </Dialog>
  );
}
