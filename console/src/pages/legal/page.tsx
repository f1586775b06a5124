// Legal: which documents hold, what waits to be accepted, and who processes data for the service.
import '../settings/settings.css';
import { useState } from 'react';
import { useQuery } from 'urql';
import { type Fault, faultOfQuery } from '../../api/errors.ts';
import { LegalPageDocument, type LegalPageQuery, type LegalRowFragment } from '../../api/gen/graphql.ts';
import { useOrg } from '../../app/org.tsx';
import { Button } from '../../ui/button.tsx';
import { Card, PageHead } from '../../ui/card.tsx';
import { BoneRows, Empty, ErrorBox, FormFault } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { Table } from '../../ui/table.tsx';
import { Time, useNow } from '../../ui/time.tsx';
import { managesMembers } from '../members/roles.ts';
import { AcceptDialog } from './accept-dialog.tsx';
import { record, saveLegal, texts } from './save.ts';
import { isAcceptable, standing } from './words.ts';

type Subprocessors = NonNullable<NonNullable<LegalPageQuery['legal']>['subprocessors']>;

function Line({ row, onAccept }: { row: LegalRowFragment; onAccept: (row: LegalRowFragment) => void }) {
  const { role } = useOrg();
  const now = useNow().getTime();
  const { tone, word } = standing(row, now);
  return (
    <tr>
      <td>
        <a className="link" href={row.url} target="_blank" rel="noreferrer">
          {row.title}
        </a>
        <div className="sub">{row.summary}</div>
      </td>
      <td className="soft">
        <Time at={row.effectiveAt} />
      </td>
      <td>
        <Status tone={tone}>{word}</Status>
        {row.acceptedBy && <div className="sub">by {row.acceptedBy}</div>}
      </td>
      <td>
        {role === 'owner' && isAcceptable(row, now) && (
          <Button aria-label={`Accept ${row.title} ${row.version}`} onClick={() => onAccept(row)}>
            Accept
          </Button>
        )}
      </td>
    </tr>
  );
}

function Documents(props: {
  rows: readonly LegalRowFragment[] | undefined;
  onAccept: (row: LegalRowFragment) => void;
}) {
  const { rows, onAccept } = props;
  if (rows?.length === 0) return <Empty title="No document yet">Nothing was published here.</Empty>;
  return (
    <Table name="Documents and their state" busy={rows === undefined}>
      <thead>
        <tr>
          <th scope="col">Document</th>
          <th scope="col">In force from</th>
          <th scope="col">State</th>
          <th scope="col">
            <span className="visually-hidden">Act</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {rows === undefined ? (
          <BoneRows rows={4} columns={4} />
        ) : (
          rows.map((row) => <Line key={`${row.kind} ${row.version}`} row={row} onAccept={onAccept} />)
        )}
      </tbody>
    </Table>
  );
}

function List({ list }: { list: Subprocessors }) {
  const { pending, entries } = list;
  const change = pending?.change;
  const parts = [
    ['added', change?.added],
    ['changed', change?.changed],
    ['removed', change?.removed],
  ] as const;
  const said = parts.flatMap(([word, ids]) => (ids && ids.length > 0 ? [`${word} ${ids.join(', ')}`] : []));
  return (
    <>
      {pending && (
        <p className="card-note">
          From <Time at={pending.effectiveAt} />: {said.join('; ') || 'nothing changes'}. Object by a ticket.
        </p>
      )}
      <Table name="List of sub-processors">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Purpose</th>
            <th scope="col">Location</th>
            <th scope="col">Keeps content</th>
            <th scope="col">Trains</th>
          </tr>
        </thead>
        <tbody>
          {entries.map((entry) => (
            <tr key={entry.id}>
              <td>{entry.name}</td>
              <td className="soft">{entry.purpose}</td>
              <td className="soft">{entry.location}</td>
              <td>{entry.retentionDays == null ? 'not stated' : `${entry.retentionDays} days`}</td>
              <td>{entry.trains ? 'yes' : 'no'}</td>
            </tr>
          ))}
        </tbody>
      </Table>
    </>
  );
}

function Files() {
  const { id, role } = useOrg();
  const [fault, setFault] = useState<Fault | null>(null);
  const shown = managesMembers(role) ? [...texts, record] : texts;
  return (
    <Card title="Texts made for you">
      <div className="row wrap">
        {shown.map((text) => (
          <Button key={text.path} onClick={() => void saveLegal(id, text).then(setFault)}>
            {text.label}
          </Button>
        ))}
      </div>
      <FormFault fault={fault} />
    </Card>
  );
}

export function LegalPage() {
  const [{ data, error }, again] = useQuery({ query: LegalPageDocument, requestPolicy: 'cache-and-network' });
  const [accepting, setAccepting] = useState<LegalRowFragment | null>(null);
  const [said, setSaid] = useState('');
  const legal = data?.legal;
  const reload = () => again({ requestPolicy: 'network-only' });
  return (
    <>
      <PageHead title="Legal">
        <p role="status">{said || 'An owner accepts for the organisation.'}</p>
      </PageHead>
      <div className="stack">
        {error && !legal?.documents ? (
          <div className="card">
            <ErrorBox fault={faultOfQuery(error)} onRetry={reload} />
          </div>
        ) : (
          <Card title="Documents" flush>
            <Documents rows={legal?.documents ?? undefined} onAccept={setAccepting} />
          </Card>
        )}
        {legal?.subprocessors && (
          <Card title="Sub-processors" note={`list of ${legal.subprocessors.version}`} flush>
            <List list={legal.subprocessors} />
          </Card>
        )}
        <Files />
      </div>
      {accepting && (
        <AcceptDialog
          row={accepting}
          onClose={() => setAccepting(null)}
          onDone={() => {
            setSaid(`${accepting.title} is accepted.`);
            setAccepting(null);
            reload();
          }}
        />
      )}
    </>
  );
}
