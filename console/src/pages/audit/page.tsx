// The audit log: who did what, to what, and what changed.
import './audit.css';
import { type FormEvent, useState } from 'react';
import { useClient, useQuery } from 'urql';
import { type Fault, faultOfQuery } from '../../api/errors.ts';
import { AuditLogDocument, type AuditRowFragment } from '../../api/gen/tools/graphql.ts';
import { useOrg } from '../../app/org.tsx';
import { Button } from '../../ui/button.tsx';
import { Card, PageHead } from '../../ui/card.tsx';
import { TextField } from '../../ui/field.tsx';
import { BoneRows, Empty, ErrorBox, FormFault } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { Columns, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { OlderFoot, useOlder } from '../credits/older.tsx';
import { managesMembers } from '../members/roles.ts';
import { saveAudit } from './save.ts';
import { changeText } from './words.ts';

const FIRST_PAGE = 50;
const OLDER_PAGE = 100;

function Line({ row }: { row: AuditRowFragment }) {
  const change = [row.reason, changeText(row.before, row.after)].filter(Boolean).join('; ');
  return (
    <tr>
      <td className="soft">
        <Time at={row.at} />
      </td>
      <td className="audit-who">
        <div className="two">
          <div className="ellipsis" title={row.actor.display}>
            {row.actor.display}
          </div>
          <div className="sub">
            {row.actor.type.toLowerCase()}
            {row.ipPrefix && ` · ${row.ipPrefix}`}
          </div>
        </div>
      </td>
      <td>
        {row.action} {row.outcome === 'DENIED' && <Status tone="bad">denied</Status>}
      </td>
      <td className="audit-who">
        <div className="ellipsis" title={row.target?.id ?? undefined}>
          {row.target?.display ?? row.target?.id ?? '–'}
        </div>
      </td>
      <td className="audit-change">
        <div className="ellipsis" title={change}>
          {change || '–'}
        </div>
      </td>
    </tr>
  );
}

function List({ action }: { action: string | undefined }) {
  const client = useClient();
  const [{ data, error }, again] = useQuery({
    query: AuditLogDocument,
    variables: { first: FIRST_PAGE, action: action ?? null },
  });
  const { rows, ...older } = useOlder(data?.auditLog, async (after) => {
    const variables = { first: OLDER_PAGE, after, action: action ?? null };
    const { data: page, error } = await client.query(AuditLogDocument, variables).toPromise();
    return { page: page?.auditLog, error };
  });
  if (error && !data)
    return <ErrorBox fault={faultOfQuery(error)} onRetry={() => again({ requestPolicy: 'network-only' })} />;
  if (rows?.length === 0) return <Empty title="No such entry">Nothing that was done fits this.</Empty>;
  return (
    <>
      <Table name="Audit log" busy={rows === undefined}>
        <Columns of={['When', 'Who', 'Did', 'To', 'Change']} />
        <tbody>
          {rows === undefined ? (
            <BoneRows rows={6} columns={5} />
          ) : (
            rows.map((row) => <Line key={row.id} row={row} />)
          )}
        </tbody>
      </Table>
      <OlderFoot shown={rows?.length ?? 0} what="entries" {...older} />
    </>
  );
}

function Log() {
  const { id, slug } = useOrg();
  const [action, setAction] = useState<string | undefined>(undefined);
  const [fault, setFault] = useState<Fault | null>(null);
  const [busy, setBusy] = useState(false);
  const filter = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const typed = String(new FormData(event.currentTarget).get('action') ?? '').trim();
    setAction(typed === '' ? undefined : typed);
  };
  const save = async () => {
    setBusy(true);
    setFault(await saveAudit({ id, slug }, action));
    setBusy(false);
  };
  return (
    <>
      <form className="audit-filter" onSubmit={filter}>
        <TextField label="What was done begins with" name="action" placeholder="keys." autoComplete="off" />
        <Button type="submit" icon="filter">
          Show
        </Button>
        <Button icon="download" busy={busy} onClick={() => void save()}>
          CSV
        </Button>
      </form>
      <FormFault fault={fault} />
      <Card flush>
        <List key={action ?? ''} action={action} />
      </Card>
    </>
  );
}

export function AuditPage() {
  const { role } = useOrg();
  return (
    <>
      <PageHead title="Audit log">
        <p>Who did what in this organisation. Entries are never changed or removed.</p>
      </PageHead>
      <div className="stack">
        {managesMembers(role) ? (
          <Log />
        ) : (
          <div className="card">
            <Empty title="Not for your role">Owners and admins see the audit log.</Empty>
          </div>
        )}
      </div>
    </>
  );
}
