// Erasing an end user and saving what is stored of one, for owners and admins; below, what was asked for before.
import { type FormEvent, useState } from 'react';
import { useQuery } from 'urql';
import { faultOfQuery } from '../../api/errors.ts';
import {
  type DataSubjectRequestKind,
  EndUserRequestsDocument,
  EraseSubjectDocument,
} from '../../api/gen/graphql.ts';
import { useAction, useSend } from '../../api/send.ts';
import { useOrg } from '../../app/org.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { IdText } from '../../ui/copy.tsx';
import { Dialog, DialogFoot } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { ErrorBox, FormFault } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { saveSubject } from './save-subject.ts';

type Act = 'erase' | 'export';

const words = {
  erase: {
    title: 'Erase an end user',
    note: 'Their calls are unlinked from them, and tags and stored content of these calls are deleted. It cannot be undone.',
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

function UserDialog({ act: wanted, onClose, onDone }: { act: Act; onClose: () => void; onDone: () => void }) {
  const { id, slug } = useOrg();
  const { send, busy: sending, fault: refused } = useSend();
  const { act, busy: saving, fault: failed } = useAction();
  const { title, note, verb, kind } = words[wanted];
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const userId = String(new FormData(event.currentTarget).get('user') ?? '');
    const done =
      wanted === 'erase'
        ? await send(EraseSubjectDocument, { userId })
        : await act(() => saveSubject({ id, slug }, userId));
    if (done !== null) onDone();
  };
  return (
    <Dialog title={title} note={note} size={460} onClose={onClose}>
      <form className="settings-form" onSubmit={(event) => void submit(event)} noValidate>
        <TextField
          label="Your id of the end user"
          name="user"
          hint="As your calls send it in user. It is stored nowhere here."
          autoComplete="off"
          spellCheck={false}
          data-autofocus
        />
        <FormFault fault={refused ?? failed} />
        <DialogFoot onClose={onClose} kind={kind} busy={sending || saving}>
          {verb}
        </DialogFoot>
      </form>
    </Dialog>
  );
}

const kinds: Readonly<Record<DataSubjectRequestKind, string>> = { ERASURE: 'Erasure', EXPORT: 'Export' };

export function EndUsersCard() {
  const [open, setOpen] = useState<Act | null>(null);
  const [{ data, error }, again] = useQuery({ query: EndUserRequestsDocument });
  const reload = () => again({ requestPolicy: 'network-only' });
  const rows = (data?.privacyRequests?.edges ?? []).map(({ node }) => node);
  return (
    <Card title="End users">
      <div className="settings-foot">
        <span className="grow soft">Answer people who want to see or erase what is stored of them.</span>
        <Button onClick={() => setOpen('export')}>Export</Button>
        <Button kind="danger" onClick={() => setOpen('erase')}>
          Erase
        </Button>
      </div>
      {error && !data && <ErrorBox fault={faultOfQuery(error)} onRetry={reload} />}
      {rows.length > 0 && (
        <Table name="Requests about end users">
          <tbody>
            {rows.map((row) => (
              <tr key={row.id}>
                <td>{kinds[row.kind]}</td>
                <td className="soft">{row.status.toLowerCase()}</td>
                <td className="num">{row.records} calls</td>
                <td>
                  <IdText id={row.id} />
                </td>
                <td className="soft">
                  <Time at={row.createdAt} />
                </td>
              </tr>
            ))}
          </tbody>
        </Table>
      )}
      {open !== null && (
        <UserDialog
          act={open}
          onClose={() => setOpen(null)}
          onDone={() => {
            setOpen(null);
            reload();
          }}
        />
      )}
    </Card>
  );
}
