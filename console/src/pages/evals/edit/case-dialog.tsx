// A case that is added, changed or removed. Somebody else may edit the suite meanwhile: where they left this case as it was, what was
// typed is saved all the same; where they did not, theirs is shown, and the person decides.
import { type FormEvent, useState } from 'react';
import { useClient, useQuery } from 'urql';
import { faultOfQuery } from '../../../api/errors.ts';
import {
  AddEvalCasesDocument,
  EvalSuiteCaseDocument,
  RemoveEvalCaseDocument,
  UpdateEvalCaseDocument,
} from '../../../api/gen/tools/graphql.ts';
import { useAction, useMutate, useSend } from '../../../api/send.ts';
import { Dialog, DialogFoot } from '../../../ui/dialog.tsx';
import { Bone, ErrorBox, FormFault } from '../../../ui/states.tsx';
import { askedText, graderText } from '../words.ts';
import { CaseFieldSet } from './case-fields.tsx';
import { type CaseFields, type CaseShown, type Faults, fieldOf, readCase } from './case-form.ts';
import { typedIn, useTyped } from './use-typed.ts';

interface Of {
  readonly suite_id: string;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** A case that was read, and the revision that it was read of. */
interface Opened {
  readonly one: CaseShown;
  readonly revision: number;
}

/** Reads a case as it is now; null: it is gone, or the suite is. */
function useReadCase(suite_id: string) {
  const client = useClient();
  return async (case_id: string): Promise<Opened | null> => {
    const { data } = await client
      .query(EvalSuiteCaseDocument, { id: suite_id, caseId: case_id }, { requestPolicy: 'network-only' })
      .toPromise();
    const one = data?.evalSuiteCase;
    const revision = data?.evalSuiteHistory?.suite.revision;
    return one == null || revision === undefined ? null : { one, revision };
  };
}

/** What they made of the case meanwhile. */
function Theirs({ one }: { one: CaseShown | null }) {
  return (
    <div className="form-fault" role="alert">
      {one === null ? (
        'Somebody removed this case meanwhile.'
      ) : (
        <>
          Somebody changed this case meanwhile. Theirs asks “{askedText(one)}”; {graderText(one)}. Save once
          more to put yours in its place.
        </>
      )}
    </div>
  );
}

/** The form of a case; `save` gives what the API refused, by field. */
function Form(props: {
  shown: CaseShown | null;
  busy: boolean;
  verb: string;
  around: { readonly faults: Faults; readonly fault: Parameters<typeof FormFault>[0]['fault'] };
  note?: React.ReactNode;
  onSave: (fields: CaseFields, id: string, as_json: boolean) => void;
  onClose: () => void;
}) {
  const { shown, busy, verb, around, note, onSave, onClose } = props;
  const { typed, as_json, onJson } = useTyped(shown);
  const [wrong, setWrong] = useState<Faults>({});
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const now = typedIn(event.currentTarget);
    const { fields, faults } = readCase(now, as_json);
    setWrong(faults ?? {});
    if (fields !== null) onSave(fields, (now['id'] ?? '').trim(), as_json);
  };
  return (
    <form className="eval-form" noValidate onSubmit={submit}>
      <CaseFieldSet typed={typed} faults={{ ...around.faults, ...wrong }} as_json={as_json} onJson={onJson} />
      {note}
      <FormFault fault={around.fault} />
      <DialogFoot onClose={onClose} busy={busy}>
        {verb}
      </DialogFoot>
    </form>
  );
}

/** A refusal as faults of fields, or of the form where it is about none of them. */
function aroundOf(fault: ReturnType<typeof useAction>['fault'], as_json: boolean) {
  const field = fieldOf(fault?.field ?? null, as_json);
  return field === null || fault === null
    ? { faults: {}, fault }
    : { faults: { [field]: fault.message }, fault: null };
}

export function AddCaseDialog({ suite_id, onClose, onDone }: Of) {
  const { send, busy, fault } = useSend();
  const [as_json, setJson] = useState(false);
  const save = async (fields: CaseFields, id: string, json: boolean) => {
    setJson(json);
    const one = { ...fields, ...(id === '' ? {} : { id }) };
    if ((await send(AddEvalCasesDocument, { id: suite_id, cases: [one] })) !== null) onDone();
  };
  return (
    <Dialog
      title="Add a case"
      note="It comes after the others, in a new revision."
      onClose={onClose}
      size={620}
    >
      <Form
        shown={null}
        verb="Add the case"
        around={aroundOf(fault, as_json)}
        onSave={(fields, id, json) => void save(fields, id, json)}
        {...{ busy, onClose }}
      />
    </Dialog>
  );
}

/** Saves over `opened`, once more by itself where the others left this case alone. */
function useSave({ suite_id }: Pick<Of, 'suite_id'>, first: Opened) {
  const mutate = useMutate();
  const read = useReadCase(suite_id);
  const { act, ...state } = useAction();
  const [opened, setOpened] = useState(first);
  const [theirs, setTheirs] = useState<{ readonly one: CaseShown | null } | null>(null);
  const save = (fields: CaseFields, new_id: string) =>
    act(async () => {
      setTheirs(null);
      const sendAt = (expectedRevision: number) =>
        mutate(UpdateEvalCaseDocument, {
          ...{ id: suite_id, caseId: opened.one.id, ...fields, expectedRevision },
          ...(new_id === '' || new_id === opened.one.id ? {} : { newId: new_id }),
        });
      const outcome = await sendAt(opened.revision);
      if (outcome.ok || outcome.fault.code !== 'precondition_failed') return outcome;
      const present = await read(opened.one.id);
      if (present === null) {
        setTheirs({ one: null });
        return outcome;
      }
      setOpened(present);
      if (JSON.stringify(present.one) === JSON.stringify(opened.one)) return sendAt(present.revision);
      setTheirs({ one: present.one });
      return outcome;
    });
  return { ...state, save, theirs };
}

function EditForm({ suite_id, onClose, onDone, opened }: Of & { opened: Opened }) {
  const { save, busy, fault, theirs } = useSave({ suite_id }, opened);
  const [as_json, setJson] = useState(false);
  const around = theirs === null ? aroundOf(fault, as_json) : { faults: {}, fault: null };
  return (
    <Form
      shown={opened.one}
      verb="Save the case"
      around={around}
      note={theirs && <Theirs one={theirs.one} />}
      onSave={(fields, id, json) => {
        setJson(json);
        void save(fields, id).then((done) => done !== null && onDone());
      }}
      {...{ busy, onClose }}
    />
  );
}

export function EditCaseDialog({ case_id, ...of }: Of & { case_id: string }) {
  const [{ data, error, fetching }, again] = useQuery({
    query: EvalSuiteCaseDocument,
    variables: { id: of.suite_id, caseId: case_id },
    requestPolicy: 'network-only',
  });
  // What was read first stays: reading again under a form would take what is typed.
  const [opened, setOpened] = useState<Opened | null>(null);
  const one = data?.evalSuiteCase;
  const revision = data?.evalSuiteHistory?.suite.revision;
  if (opened === null && !fetching && one != null && revision !== undefined) setOpened({ one, revision });
  const gone = !fetching && opened === null && data !== undefined && one === null;
  return (
    <Dialog
      title={`Case ${case_id}`}
      note="What you save is a new revision. Runs keep theirs."
      onClose={of.onClose}
      size={620}
    >
      {error && !data && (
        <ErrorBox fault={faultOfQuery(error)} onRetry={() => again({ requestPolicy: 'network-only' })} />
      )}
      {gone && <Theirs one={null} />}
      {opened === null && !gone && !error && <Bone width={260} />}
      {opened !== null && <EditForm {...of} opened={opened} />}
    </Dialog>
  );
}

export function RemoveCaseDialog({ case_id, revision, ...of }: Of & { case_id: string; revision: number }) {
  const { suite_id, onClose, onDone } = of;
  const { send, busy, fault } = useSend();
  const remove = async () => {
    const input = { id: suite_id, caseId: case_id, expectedRevision: revision };
    if ((await send(RemoveEvalCaseDocument, input)) !== null) onDone();
  };
  return (
    <Dialog
      title={`Remove ${case_id}?`}
      note="The next run does not ask it. Runs that were made keep it, with their results."
      onClose={onClose}
      size={440}
    >
      <FormFault fault={fault} />
      <DialogFoot onClose={onClose} cautious kind="danger" busy={busy} onPress={() => void remove()}>
        Remove the case
      </DialogFoot>
    </Dialog>
  );
}
