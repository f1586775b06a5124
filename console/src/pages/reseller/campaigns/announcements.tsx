// What a reseller says to its customers: now, later, and before.
import '../../tickets/tickets.css';
import { useState } from 'react';
import { useClient, useQuery } from 'urql';
import { faultOfQuery } from '../../../api/errors.ts';
import {
  type ResaleAnnouncementFragment,
  ResaleAnnouncementsDocument,
  ResaleChangeAnnouncementDocument,
  ResaleDeleteAnnouncementDocument,
} from '../../../api/gen/tools/graphql.ts';
import { useSend } from '../../../api/send.ts';
import { useOrg } from '../../../app/org.tsx';
import { Button } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { Dialog, DialogFoot } from '../../../ui/dialog.tsx';
import { Bone, Empty, ErrorBox, FormFault } from '../../../ui/states.tsx';
import { Status, type Tone } from '../../../ui/status.tsx';
import { Time, useNow } from '../../../ui/time.tsx';
import { OlderFoot, useOlder } from '../../credits/older.tsx';
import { holds } from '../views.ts';
import { AnnounceDialog } from './announce-dialog.tsx';

const PAGE = 20;
type Row = ResaleAnnouncementFragment;
function standing({ startsAt, endsAt }: Row, now: Date): readonly [Tone, 'comes' | 'shown' | 'ended'] {
  if (endsAt && Date.parse(endsAt) <= now.getTime()) return ['mute', 'ended'];
  return Date.parse(startsAt) > now.getTime() ? ['warn', 'comes'] : ['ok', 'shown'];
}

function DeleteDialog({ row, onClose, onDone }: { row: Row; onClose: () => void; onDone: () => void }) {
  const { send, busy, fault } = useSend();
  const act = async () => {
    if ((await send(ResaleDeleteAnnouncementDocument, { id: row.id })) !== null) onDone();
  };
  return (
    <Dialog
      title={`Delete ${row.title}?`}
      note="Nobody sees it any more, here either."
      size={440}
      onClose={onClose}
    >
      <FormFault fault={fault} />
      <DialogFoot onClose={onClose} cautious kind="danger" busy={busy} onPress={() => void act()}>
        Delete
      </DialogFoot>
    </Dialog>
  );
}

function Announcement(props: {
  row: Row;
  may: boolean;
  onChange: () => void;
  onDelete: () => void;
  onDone: (said: string) => void;
}) {
  const { row, may, onChange, onDelete, onDone } = props;
  const now = useNow();
  const { send, busy, fault } = useSend();
  const [tone, word] = standing(row, now);
  const end = async () => {
    const endsAt = new Date().toISOString();
    if ((await send(ResaleChangeAnnouncementDocument, { id: row.id, endsAt })) !== null)
      onDone(`${row.title} is ended.`);
  };
  return (
    <li className="resale-block">
      <div className="row wrap">
        <h3>{row.title}</h3>
        <Status tone={tone}>{word}</Status>
        <span className="sub">
          {row.severity.toLowerCase()}, by {row.createdBy}, from <Time at={row.startsAt} />
          {row.endsAt && (
            <>
              , until <Time at={row.endsAt} />
            </>
          )}
        </span>
      </div>
      <p className="ticket-words">{row.body}</p>
      <FormFault fault={fault} />
      {may && (
        <div className="row wrap">
          {word === 'shown' && (
            <Button busy={busy} aria-label={`End ${row.title}`} onClick={() => void end()}>
              End it now
            </Button>
          )}
          {word !== 'ended' && (
            <Button aria-label={`Change ${row.title}`} onClick={onChange}>
              Change…
            </Button>
          )}
          <Button aria-label={`Delete ${row.title}`} onClick={onDelete}>
            Delete…
          </Button>
        </div>
      )}
    </li>
  );
}

function useAnnouncements() {
  const client = useClient();
  const [{ data, error }, again] = useQuery({
    ...{ query: ResaleAnnouncementsDocument, variables: { first: PAGE } },
    requestPolicy: 'cache-and-network',
  });
  const list = useOlder(data?.reseller?.announcements, async (after) => {
    const asked = { first: PAGE, after };
    const { data: page, error } = await client.query(ResaleAnnouncementsDocument, asked).toPromise();
    return { page: page?.reseller?.announcements, error };
  });
  return { ...list, error, reread: () => again({ requestPolicy: 'network-only' }) };
}

/** The dialog that is open. */
type Shown =
  | { readonly act: 'create'; readonly row: null }
  | { readonly act: 'change' | 'delete'; readonly row: Row };

function Opened(props: { of: Shown; onClose: () => void; onDone: (said: string) => void }) {
  const { of, onClose, onDone } = props;
  if (of.act === 'delete')
    return (
      <DeleteDialog row={of.row} onClose={onClose} onDone={() => onDone(`${of.row.title} is deleted.`)} />
    );
  const said = of.row === null ? 'It is announced.' : `${of.row.title} is changed.`;
  return <AnnounceDialog row={of.row} onClose={onClose} onDone={() => onDone(said)} />;
}

export function AnnouncementsView() {
  const may = holds(useOrg(), 'reseller.campaigns');
  const { rows, error, reread, ...older } = useAnnouncements();
  const [shown, setShown] = useState<Shown | null>(null);
  const [said, setSaid] = useState('');
  const done = (words: string) => {
    setShown(null);
    setSaid(words);
    reread();
  };
  const button = may && (
    <Button kind="primary" icon="plus" onClick={() => setShown({ act: 'create', row: null })}>
      New announcement
    </Button>
  );
  return (
    <>
      <Card title="Announcements" note={<span role="status">{said}</span>} more={button} flush>
        {error && !rows && <ErrorBox fault={faultOfQuery(error)} onRetry={reread} />}
        {!error && !rows && (
          <div className="resale-pad">
            <Bone width={260} />
          </div>
        )}
        {rows?.length === 0 && (
          <Empty title="Nothing was announced">Customers are shown nothing of yours.</Empty>
        )}
        {rows !== undefined && rows.length > 0 && (
          <ul className="resale-list">
            {rows.map((row) => (
              <Announcement
                key={row.id}
                {...{ row, may, onDone: done }}
                onChange={() => setShown({ act: 'change', row })}
                onDelete={() => setShown({ act: 'delete', row })}
              />
            ))}
          </ul>
        )}
        <OlderFoot shown={rows?.length ?? 0} what="announcements" {...older} />
      </Card>
      {shown !== null && <Opened of={shown} onClose={() => setShown(null)} onDone={done} />}
    </>
  );
}
