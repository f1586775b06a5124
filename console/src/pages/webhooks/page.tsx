// Webhooks: the addresses that get events.
import './webhooks.css';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useQuery } from 'urql';
import { faultOfQuery } from '../../api/errors.ts';
import { type WebhookRowFragment, WebhooksDocument } from '../../api/gen/tools/graphql.ts';
import { may, useOrg } from '../../app/org.tsx';
import { useShortcuts } from '../../app/shortcuts.ts';
import { Button } from '../../ui/button.tsx';
import { Card, PageHead } from '../../ui/card.tsx';
import { BoneRows, Empty, ErrorBox } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { Columns, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { CreateDialog } from './dialogs.tsx';
import { eventsText, standingOf } from './words.ts';

function Line({ row }: { row: WebhookRowFragment }) {
  const { slug, env } = useOrg();
  const { tone, shape, word } = standingOf(row);
  return (
    <tr>
      <td className="webhook-url" data-label="Address">
        <div className="two webhook-two">
          <div className="ellipsis" title={row.url}>
            <Link className="link" to="/$org/$env/webhooks/$id" params={{ org: slug, env, id: row.id }}>
              {row.url}
            </Link>
          </div>
          {row.description && <div className="sub ellipsis">{row.description}</div>}
        </div>
      </td>
      <td className="soft" data-label="Events">
        {eventsText(row.events)}
      </td>
      <td data-label="State">
        <Status tone={tone} shape={shape}>
          {word}
        </Status>
      </td>
      <td className="soft" data-label="Last taken">
        <Time at={row.lastDeliveryAt} never="never" />
      </td>
    </tr>
  );
}

function List({ button }: { button: ReactNode }) {
  const { role } = useOrg();
  const allowed = may(role, 'keys');
  const [{ data, error }, again] = useQuery({
    query: WebhooksDocument,
    requestPolicy: 'cache-and-network',
    pause: !allowed,
  });
  const rows = data?.webhooks;
  if (!allowed)
    return (
      <Empty title="Endpoints are not for your role">
        Your role, {role}, may not see or change endpoints. Ask an owner, admin or developer.
      </Empty>
    );
  if (error && !rows)
    return <ErrorBox fault={faultOfQuery(error)} onRetry={() => again({ requestPolicy: 'network-only' })} />;
  if (rows?.length === 0)
    return (
      <Empty title="No endpoint yet" actions={button || undefined}>
        Add an address, and your server gets an event when a top-up was booked or a budget is used up.
      </Empty>
    );
  return (
    <Table name="Endpoints" busy={rows === undefined} stacks>
      <Columns of={['Address', 'Events', 'State', 'Last taken']} />
      <tbody>
        {rows ? rows.map((row) => <Line key={row.id} row={row} />) : <BoneRows rows={2} columns={4} />}
      </tbody>
    </Table>
  );
}

export function WebhooksPage() {
  const { role } = useOrg();
  const allowed = may(role, 'keys');
  const [creating, setCreating] = useState(false);
  const [serial, setSerial] = useState(0);
  useShortcuts(allowed ? { c: () => setCreating(true) } : {});
  const button = allowed && (
    <Button kind="primary" icon="plus" aria-keyshortcuts="c" onClick={() => setCreating(true)}>
      Add endpoint
    </Button>
  );
  return (
    <>
      <PageHead title="Webhooks" actions={button}>
        <p>Addresses of your servers that get events, signed.</p>
      </PageHead>
      <div className="stack">
        <Card flush>
          <List key={serial} button={button} />
        </Card>
      </div>
      {creating && (
        <CreateDialog onClose={() => setCreating(false)} onMade={() => setSerial((before) => before + 1)} />
      )}
    </>
  );
}
