// Announcements: what customers are shown now, what comes, and what was shown.
import '../../../pages/tickets/tickets.css';
import { useState } from 'react';
import { useClient, useQuery } from 'urql';
import { faultOfQuery } from '../../../api/errors.ts';
import {
  type AnnouncementRowFragment,
  EndAnnouncementDocument,
  StaffAnnouncementsDocument,
} from '../../../api/gen/staff/graphql.ts';
import { useSend } from '../../../api/send.ts';
import { OlderFoot, useOlder } from '../../../pages/credits/older.tsx';
import { Button } from '../../../ui/button.tsx';
import { Card, PageHead } from '../../../ui/card.tsx';
import { Bone, Empty, ErrorBox, FormFault } from '../../../ui/states.tsx';
import { Status } from '../../../ui/status.tsx';
import { Time, useNow } from '../../../ui/time.tsx';
import { useMay } from '../../realm.ts';
import { CreateAnnouncementDialog } from './create-dialog.tsx';
import { standing } from './words.ts';

const PAGE = 20;

function Announcement({ row, onDone }: { row: AnnouncementRowFragment; onDone: (said: string) => void }) {
  const now = useNow();
  const may = useMay('support', 'finance', 'compliance');
  const { send, busy, fault } = useSend();
  const { tone, word } = standing(row, now.getTime());
  const end = async () => {
    if ((await send(EndAnnouncementDocument, { id: row.id })) !== null) onDone(`${row.title} is ended.`);
  };
  return (
    <li className="item">
      <div className="item-head">
        <h3>{row.title}</h3>
        <span className="sub">
          <Status tone={tone}>{word}</Status> {row.severity.toLowerCase()}, to{' '}
          {[row.audience.toLowerCase(), ...row.audienceValues].join(' ')}, by {row.createdBy}, from{' '}
          <Time at={row.startsAt} />
          {row.endsAt && (
            <>
              , ends <Time at={row.endsAt} />
            </>
          )}
        </span>
      </div>
      <p className="ticket-words">{row.body}</p>
      <FormFault fault={fault} />
      {may && word !== 'ended' && (
        <div className="row wrap">
          <Button busy={busy} aria-label={`End ${row.title}`} onClick={() => void end()}>
            End it now
          </Button>
        </div>
      )}
    </li>
  );
}

function List({ onDone, said }: { onDone: (said: string) => void; said: number }) {
  const client = useClient();
  const [{ data, error }, again] = useQuery({
    query: StaffAnnouncementsDocument,
    variables: { first: PAGE },
    requestPolicy: said === 0 ? 'cache-and-network' : 'network-only',
  });
  const { rows, ...older } = useOlder(data?.announcements, async (after) => {
    const { data: page, error } = await client
      .query(StaffAnnouncementsDocument, { first: PAGE, after })
      .toPromise();
    return { page: page?.announcements, error };
  });
  if (error && !data?.announcements)
    return <ErrorBox fault={faultOfQuery(error)} onRetry={() => again({ requestPolicy: 'network-only' })} />;
  if (rows === undefined)
    return (
      <div className="item">
        <Bone width={260} />
      </div>
    );
  if (rows.length === 0) return <Empty title="Nothing was announced">Customers are shown nothing.</Empty>;
  return (
    <>
      <ul className="items">
        {rows.map((row) => (
          <Announcement
            key={row.id}
            row={row}
            onDone={(words) => {
              again({ requestPolicy: 'network-only' });
              onDone(words);
            }}
          />
        ))}
      </ul>
      <OlderFoot shown={rows.length} what="announcements" {...older} />
    </>
  );
}

export function AnnouncementsPage() {
  const may = useMay('support', 'finance', 'compliance');
  const [creating, setCreating] = useState(false);
  const [said, setSaid] = useState('');
  const [made, setMade] = useState(0);
  const button = (
    <Button kind="primary" icon="plus" onClick={() => setCreating(true)}>
      New announcement
    </Button>
  );
  return (
    <>
      <PageHead title="Announcements" actions={may ? button : null}>
        <p role="status">{said || 'What customers are shown over every page of their console.'}</p>
      </PageHead>
      <Card title="All announcements" flush>
        <List key={made} said={made} onDone={setSaid} />
      </Card>
      {creating && (
        <CreateAnnouncementDialog
          onClose={() => setCreating(false)}
          onDone={() => {
            setCreating(false);
            setMade(made + 1);
            setSaid('It is shown now.');
          }}
        />
      )}
    </>
  );
}
