// Erasures of organizations that have not ended, the one due first at the top, and the notice of those to come.
import { type FormEvent, useState } from 'react';
import { useQuery } from 'urql';
import { faultOfForm, faultOfQuery } from '../../../api/errors.ts';
import {
  type OrgErasureRowFragment,
  SetErasureTermsDocument,
  StaffErasuresDocument,
  TakeErasureBackDocument,
} from '../../../api/gen/staff/graphql.ts';
import { useAction, useMutate } from '../../../api/send.ts';
import { Button } from '../../../ui/button.tsx';
import { Card, PageHead } from '../../../ui/card.tsx';
import { TextField } from '../../../ui/field.tsx';
import { BoneRows, Empty, ErrorBox, FormFault } from '../../../ui/states.tsx';
import { Status } from '../../../ui/status.tsx';
import { Columns, Table } from '../../../ui/table.tsx';
import { Time } from '../../../ui/time.tsx';
import { To } from '../../go.tsx';
import { useMay } from '../../realm.ts';
import { DecideDialog } from '../decide-dialog.tsx';

type Row = OrgErasureRowFragment;

function stateOf({ status, stepsDone, steps }: Row): string {
  if (status === 'running') return `${stepsDone} of ${steps} tables done`;
  return status === 'closing' ? 'closing' : 'announced';
}

function Line({ row, onCancel }: { row: Row; onCancel: () => void }) {
  const may = useMay('support', 'compliance');
  return (
    <tr>
      <td>
        <To className="link" href={`/orgs/${row.orgId}`}>
          {row.slug}
        </To>
        {row.refundRequested && <div className="sub">unused credit goes back</div>}
      </td>
      <td data-label="State">
        <Status tone={row.overdue ? 'bad' : 'warn'}>{row.overdue ? 'overdue' : stateOf(row)}</Status>
        {row.overdue && <div className="sub">{stateOf(row)}</div>}
      </td>
      <td className="soft" data-label="Asked for">
        <Time at={row.requestedAt} />
      </td>
      <td className="soft" data-label="Due">
        <Time at={row.dueAt} />
      </td>
      <td>
        {may && row.status === 'asked' && (
          <Button onClick={onCancel} aria-label={`Take the erasure of ${row.slug} back`}>
            Take back…
          </Button>
        )}
      </td>
    </tr>
  );
}

function BackDialog({ row, onClose, onDone }: { row: Row; onClose: () => void; onDone: () => void }) {
  const mutate = useMutate();
  return (
    <DecideDialog
      title={`Take the erasure of ${row.slug} back`}
      note="For its owner, who asked for it. The organization goes on as it is."
      words={{ label: 'Reason', hint: "Stands in the organization's audit log.", needed: true }}
      verb="Take it back"
      send={(_, reason) => mutate(TakeErasureBackDocument, { orgId: row.orgId, reason })}
      onClose={onClose}
      onDone={onDone}
    />
  );
}

function Terms({ days, onDone }: { days: number; onDone: () => void }) {
  const mutate = useMutate();
  const { act, busy, fault, setFault } = useAction();
  const may = useMay('compliance');
  const [said, setSaid] = useState('');
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const typed = Number(new FormData(event.currentTarget).get('days'));
    setFault(null);
    setSaid('');
    const done = await act(async () =>
      Number.isInteger(typed) && typed >= 7 && typed <= 90
        ? mutate(SetErasureTermsDocument, { noticeDays: typed })
        : { ok: false as const, fault: faultOfForm('A whole number of days from 7 to 90.') },
    );
    if (done === null) return;
    setSaid(`The notice is ${typed} days.`);
    onDone();
  };
  return (
    <Card title="Notice">
      <form className="settings-form" noValidate onSubmit={(event) => void submit(event)}>
        <TextField
          label="Days between asking and the beginning"
          name="days"
          inputMode="numeric"
          defaultValue={String(days)}
          disabled={!may}
          hint="7 to 90. What was asked for keeps its time."
        />
        <FormFault fault={fault} />
        <p className="soft" role="status">
          {said}
        </p>
        {may && (
          <div>
            <Button type="submit" kind="primary" busy={busy}>
              Set the notice
            </Button>
          </div>
        )}
      </form>
    </Card>
  );
}

export function ErasuresPage() {
  const [doing, setDoing] = useState<Row | null>(null);
  const [{ data, error }, again] = useQuery({ query: StaffErasuresDocument });
  const reread = () => again({ requestPolicy: 'network-only' });
  const rows = data?.orgErasures;
  return (
    <>
      <PageHead title="Erasures">
        <p>Organizations that are to be erased. The one that is due first stands first.</p>
      </PageHead>
      <div className="stack">
        <Card title="Not ended" flush>
          {error && !rows && <ErrorBox fault={faultOfQuery(error)} onRetry={reread} />}
          {rows?.length === 0 && (
            <Empty title="Nothing is to be erased">
              Owners ask for it in the settings of an organization.
            </Empty>
          )}
          {!error && rows?.length !== 0 && (
            <Table name="Erasures that have not ended" stacks busy={!rows}>
              <Columns of={['Organization', 'State', 'Asked for', 'Due', { name: 'Acts', hidden: true }]} />
              <tbody>
                {rows ? (
                  rows.map((row) => <Line key={row.orgId} row={row} onCancel={() => setDoing(row)} />)
                ) : (
                  <BoneRows rows={3} columns={5} />
                )}
              </tbody>
            </Table>
          )}
        </Card>
        {data?.orgErasureTerms && <Terms days={data.orgErasureTerms.noticeDays} onDone={reread} />}
      </div>
      {doing && (
        <BackDialog
          row={doing}
          onClose={() => setDoing(null)}
          onDone={() => {
            setDoing(null);
            reread();
          }}
        />
      )}
    </>
  );
}
