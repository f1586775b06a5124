// A suite that is made with its first case, renamed, or deleted.
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import {
  CreateEvalSuiteDocument,
  DeleteEvalSuiteDocument,
  UpdateEvalSuiteDocument,
} from '../../../api/gen/tools/graphql.ts';
import { useSend } from '../../../api/send.ts';
import { useOrg } from '../../../app/org.tsx';
import { Dialog, DialogFoot } from '../../../ui/dialog.tsx';
import { TextField } from '../../../ui/field.tsx';
import { plural } from '../../../ui/format/numbers.ts';
import { FormFault } from '../../../ui/states.tsx';
import { CaseFieldSet } from './case-fields.tsx';
import { type Faults, fieldOf, readCase } from './case-form.ts';
import { typedIn, useTyped } from './use-typed.ts';

const NAME_MAX = 120;

function NameField({ value, fault }: { value?: string; fault: string | null }) {
  return (
    <TextField
      label="Name of the suite"
      name="name"
      maxLength={NAME_MAX}
      autoComplete="off"
      defaultValue={value}
      fault={fault}
      data-autofocus
    />
  );
}

export function NewSuiteDialog({ onClose }: { onClose: () => void }) {
  const { slug, env } = useOrg();
  const navigate = useNavigate();
  const { send, busy, fault } = useSend();
  const [wrong, setWrong] = useState<Faults>({});
  const { typed, as_json, onJson } = useTyped(null);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const now = typedIn(event.currentTarget);
    const name = (now['name'] ?? '').trim();
    const { fields, faults } = readCase(now, as_json);
    setWrong({ ...faults, ...(name === '' ? { name: 'What the suite is called.' } : {}) });
    if (fields === null || name === '') return;
    const id = (now['id'] ?? '').trim();
    const first = { ...fields, ...(id === '' ? {} : { id }) };
    const made = await send(CreateEvalSuiteDocument, { name, cases: [first] });
    if (made === null) return;
    void navigate({ to: '/$org/$env/evals/suites/$id', params: { org: slug, env, id: made.suite.id } });
  };
  const field = fieldOf(fault?.field ?? null, as_json);
  const faults = { ...(field === null || fault === null ? {} : { [field]: fault.message }), ...wrong };
  return (
    <Dialog
      title="New suite"
      note="It begins with one case; more are added on its page."
      onClose={onClose}
      size={620}
    >
      <form className="eval-form" noValidate onSubmit={(event) => void submit(event)}>
        <NameField fault={faults['name'] ?? null} />
        <CaseFieldSet {...{ typed, faults, as_json }} onJson={onJson} />
        <FormFault fault={field === null ? fault : null} />
        <DialogFoot onClose={onClose} busy={busy}>
          Make the suite
        </DialogFoot>
      </form>
    </Dialog>
  );
}

interface Of {
  readonly suite: {
    readonly id: string;
    readonly name: string;
    readonly caseCount: number;
    readonly revision: number;
  };
  readonly onClose: () => void;
}

export function RenameSuiteDialog({ suite, onClose, onDone }: Of & { onDone: () => void }) {
  const { send, busy, fault } = useSend();
  const [wrong, setWrong] = useState<string | null>(null);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const name = String(new FormData(event.currentTarget).get('name') ?? '').trim();
    setWrong(name === '' ? 'What the suite is called.' : null);
    if (name === '') return;
    if ((await send(UpdateEvalSuiteDocument, { id: suite.id, name })) !== null) onDone();
  };
  const at_name = fault?.field === 'input.name' ? fault.message : null;
  return (
    <Dialog
      title="Rename the suite"
      note="Runs that were made keep its old name."
      onClose={onClose}
      size={440}
    >
      <form className="eval-form" noValidate onSubmit={(event) => void submit(event)}>
        <NameField value={suite.name} fault={wrong ?? at_name} />
        <FormFault fault={at_name === null ? fault : null} />
        <DialogFoot onClose={onClose} busy={busy}>
          Rename it
        </DialogFoot>
      </form>
    </Dialog>
  );
}

export function DeleteSuiteDialog({ suite, onClose }: Of) {
  const { slug, env } = useOrg();
  const navigate = useNavigate();
  const { send, busy, fault } = useSend();
  const remove = async () => {
    const done = await send(DeleteEvalSuiteDocument, { id: suite.id, expectedRevision: suite.revision });
    if (done !== null) void navigate({ to: '/$org/$env/evals', params: { org: slug, env } });
  };
  return (
    <Dialog
      title={`Delete ${suite.name}?`}
      note={`${plural(suite.caseCount, 'case')} go with it. Its runs and their results stay.`}
      onClose={onClose}
      size={440}
    >
      <FormFault fault={fault} />
      <DialogFoot onClose={onClose} cautious kind="danger" busy={busy} onPress={() => void remove()}>
        Delete the suite
      </DialogFoot>
    </Dialog>
  );
}
