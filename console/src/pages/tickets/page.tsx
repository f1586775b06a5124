// Tickets: what was asked of support, and how each stands.
import './tickets.css';
import { Link, useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useClient, useQuery } from 'urql';
import { faultOfQuery } from '../../api/errors.ts';
import { type TicketRowFragment, TicketsDocument } from '../../api/gen/tools/graphql.ts';
import { useOrg } from '../../app/org.tsx';
import { useShortcuts } from '../../app/shortcuts.ts';
import { Button } from '../../ui/button.tsx';
import { Card, PageHead } from '../../ui/card.tsx';
import { BoneRows, Empty, ErrorBox } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { OlderFoot, useOlder } from '../credits/older.tsx';
import { CreateTicketDialog } from './create-dialog.tsx';
import { kindWords, standing } from './words.ts';

const PAGE = 50;

function Line({ row }: { row: TicketRowFragment }) {
  const { slug, env } = useOrg();
  const { tone, word } = standing(row);
  return (
    <tr>
      <td className="ticket-subject">
        <div className="ellipsis" title={row.subject}>
          <Link className="link" to="/$org/$env/tickets/$id" params={{ org: slug, env, id: row.id }}>
            {row.subject}
          </Link>
        </div>
      </td>
      <td className="soft" data-label="About">
        {kindWords[row.kind]}
      </td>
      <td data-label="State">
        <Status tone={tone}>{word}</Status>
      </td>
      <td className="soft" data-label="Last word">
        <Time at={row.updatedAt} />
      </td>
    </tr>
  );
}

function List({ rows }: { rows: readonly TicketRowFragment[] | undefined }) {
  return (
    <Table name="Tickets" stacks busy={rows === undefined}>
      <thead>
        <tr>
          <th scope="col">Subject</th>
          <th scope="col">About</th>
          <th scope="col">State</th>
          <th scope="col">Last word</th>
        </tr>
      </thead>
      <tbody>
        {rows === undefined ? (
          <BoneRows rows={3} columns={4} />
        ) : (
          rows.map((row) => <Line key={row.id} row={row} />)
        )}
      </tbody>
    </Table>
  );
}

function Tickets({ button }: { button: ReactNode }) {
  const client = useClient();
  const [{ data, error }, again] = useQuery({
    ...{ query: TicketsDocument, variables: { first: PAGE } },
    requestPolicy: 'cache-and-network',
  });
  const { rows, ...older } = useOlder(data?.tickets, async (after) => {
    const { data: page, error } = await client.query(TicketsDocument, { first: PAGE, after }).toPromise();
    return { page: page?.tickets, error };
  });
  if (error && !data)
    return <ErrorBox fault={faultOfQuery(error)} onRetry={() => again({ requestPolicy: 'network-only' })} />;
  if (rows?.length === 0)
    return (
      <Empty title="No ticket yet" actions={button}>
        What is asked of support stands here, with the answers.
      </Empty>
    );
  return (
    <>
      <List rows={rows} />
      <OlderFoot shown={rows?.length ?? 0} what="tickets" {...older} />
    </>
  );
}

export function TicketsPage() {
  const { slug, env } = useOrg();
  const navigate = useNavigate();
  const [creating, setCreating] = useState(false);
  useShortcuts({ c: () => setCreating(true) });
  const button = (
    <Button kind="primary" icon="plus" aria-keyshortcuts="c" onClick={() => setCreating(true)}>
      Write to support
    </Button>
  );
  return (
    <>
      <PageHead title="Support" actions={button}>
        <p>What this organisation asked of us, and what was answered.</p>
      </PageHead>
      <div className="stack">
        <Card flush>
          <Tickets button={button} />
        </Card>
      </div>
      {creating && (
        <CreateTicketDialog
          onClose={() => setCreating(false)}
          onDone={(id) => void navigate({ to: '/$org/$env/tickets/$id', params: { org: slug, env, id } })}
        />
      )}
    </>
  );
}
