// Requests about end users, for owners and admins: erasing one, saving what is stored of one, and what was asked for before.
import { useEffect, useState } from 'react';
import { useClient, useQuery } from 'urql';
import { faultOfQuery } from '../../api/errors.ts';
import { EndUserRequestsDocument, type SubjectRowFragment } from '../../api/gen/tools/graphql.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { IdText } from '../../ui/copy.tsx';
import { countText } from '../../ui/format/numbers.ts';
import { BoneRows, Empty, ErrorBox } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { Columns, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { OlderFoot, useOlder } from '../credits/older.tsx';
import { ReceiptDialog } from './receipt-dialog.tsx';
import { type Act, SubjectDialog } from './subject-dialog.tsx';
import { goesOn, kindWords, stateMarks } from './subjects.ts';

const PAGE = 20;
/** How often the list is read again while an erasure goes on. */
const LOOK_MS = 3_000;

function useRequests() {
  const client = useClient();
  const variables = { first: PAGE };
  const [{ data, error }, again] = useQuery({
    ...{ query: EndUserRequestsDocument, variables },
    requestPolicy: 'cache-and-network',
  });
  const older = useOlder(data?.privacyRequests, async (after) => {
    const { data: page, error } = await client
      .query(EndUserRequestsDocument, { ...variables, after })
      .toPromise();
    return { page: page?.privacyRequests, error };
  });
  const waits = data?.privacyRequests?.nodes.some(goesOn) ?? false;
  useEffect(() => {
    if (!waits) return;
    const timer = setInterval(() => again({ requestPolicy: 'network-only' }), LOOK_MS);
    return () => clearInterval(timer);
  }, [waits, again]);
  return { ...older, error, read: () => again({ requestPolicy: 'network-only' }) };
}

function Line({ row, onOpen }: { row: SubjectRowFragment; onOpen: () => void }) {
  const { tone, shape, word } = stateMarks[row.status];
  return (
    <tr>
      <td data-label="What">{kindWords[row.kind]}</td>
      <td data-label="State">
        <Status tone={tone} shape={shape}>
          {word}
        </Status>
      </td>
      <td data-label="End user">
        <IdText id={row.subjectHash} short />
      </td>
      <td className="n" data-label="Calls">
        {countText(row.records)}
      </td>
      <td className="soft" data-label="Asked">
        <Time at={row.createdAt} />
      </td>
      <td>
        {row.receipt && (
          <button type="button" className="link" aria-label={`Receipt of ${row.id}`} onClick={onOpen}>
            Receipt
          </button>
        )}
      </td>
    </tr>
  );
}

const columns = [
  ...['What', 'State', 'End user'],
  { name: 'Calls', className: 'n' },
  'Asked',
  { name: 'Receipt', hidden: true },
] as const;

function List({ requests }: { requests: ReturnType<typeof useRequests> }) {
  const { rows, error, read, ...older } = requests;
  const [open, setOpen] = useState<SubjectRowFragment | null>(null);
  if (error && !rows) return <ErrorBox fault={faultOfQuery(error)} onRetry={read} />;
  if (rows?.length === 0)
    return (
      <Empty title="Nobody has asked yet">
        When a person wants to see or erase what is stored of them, do it here.
      </Empty>
    );
  return (
    <>
      <Table name="Requests about end users" busy={rows === undefined} stacks>
        <Columns of={columns} />
        <tbody>
          {rows === undefined ? (
            <BoneRows rows={2} columns={columns.length} />
          ) : (
            rows.map((row) => <Line key={row.id} row={row} onOpen={() => setOpen(row)} />)
          )}
        </tbody>
      </Table>
      <OlderFoot shown={rows?.length ?? 0} what="requests" {...older} />
      {open?.receipt && <ReceiptDialog row={open} receipt={open.receipt} onClose={() => setOpen(null)} />}
    </>
  );
}

export function SubjectsCard() {
  const [act, setAct] = useState<Act | null>(null);
  const [said, setSaid] = useState('');
  const requests = useRequests();
  const buttons = (
    <span className="row wrap">
      <Button icon="download" onClick={() => setAct('export')}>
        Export an end user
      </Button>
      <Button kind="danger" onClick={() => setAct('erase')}>
        Erase an end user
      </Button>
    </span>
  );
  return (
    <Card title="End users" note="what was asked for, newest first" more={buttons} flush>
      <p className="privacy-said" role="status">
        {said}
      </p>
      <List requests={requests} />
      {act !== null && (
        <SubjectDialog
          act={act}
          onClose={() => setAct(null)}
          onDone={(said) => {
            setAct(null);
            setSaid(said);
            requests.read();
          }}
        />
      )}
    </Card>
  );
}
