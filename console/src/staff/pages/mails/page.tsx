// Mails: whether one has gone, to whom and about what.
import { useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useClient, useQuery } from 'urql';
import { faultOfQuery } from '../../../api/errors.ts';
import {
  type MailRowFragment,
  ReleaseMailAddressDocument,
  ResendMailDocument,
  StaffMailsDocument,
} from '../../../api/gen/staff/graphql.ts';
import { useMutate } from '../../../api/send.ts';
import { OlderFoot, useOlder } from '../../../pages/credits/older.tsx';
import { Button } from '../../../ui/button.tsx';
import { Card, PageHead } from '../../../ui/card.tsx';
import { IdText } from '../../../ui/copy.tsx';
import { BoneRows, Empty, ErrorBox } from '../../../ui/states.tsx';
import { Status, type Tone } from '../../../ui/status.tsx';
import { Columns, Table } from '../../../ui/table.tsx';
import { Time } from '../../../ui/time.tsx';
import { To } from '../../go.tsx';
import { useMay } from '../../realm.ts';
import { readFindSearch } from '../../search.ts';
import { DecideDialog } from '../decide-dialog.tsx';
import { FindForm } from '../find-form.tsx';

const PAGE = 50;

const tones: Readonly<Record<string, Tone>> = {
  queued: 'warn',
  sending: 'warn',
  sent: 'ok',
  bounced: 'bad',
  failed: 'bad',
  dropped: 'mute',
};

type Act = 'resend' | 'release';

interface Doing {
  readonly row: MailRowFragment;
  readonly act: Act;
}

/** What can be done about a mail that did not arrive. */
function MailActs({ row, onAct }: { row: MailRowFragment; onAct: (doing: Doing) => void }) {
  if (row.refused) {
    return (
      <Button onClick={() => onAct({ row, act: 'release' })} aria-label={`Lift the address of ${row.id}`}>
        Lift address…
      </Button>
    );
  }
  if (!['bounced', 'failed', 'dropped'].includes(row.status)) return null;
  return (
    <Button onClick={() => onAct({ row, act: 'resend' })} aria-label={`Send ${row.id} again`}>
      Send again…
    </Button>
  );
}

function ActDialog({ doing, onClose, onDone }: { doing: Doing; onClose: () => void; onDone: () => void }) {
  const mutate = useMutate();
  const { id, recipient, template } = doing.row;
  const lifts = doing.act === 'release';
  return (
    <DecideDialog
      title={lifts ? `Lift ${recipient}` : `Send ${template.replaceAll('_', ' ')} again`}
      note={
        lifts
          ? 'Mail goes to this address again. What was dropped meanwhile is not sent by itself.'
          : `The same mail goes to ${recipient} once more.`
      }
      words={{ label: 'Reason', hint: 'Stands in the audit log.', needed: true }}
      verb={lifts ? 'Lift the address' : 'Send it again'}
      send={(_, reason) =>
        lifts
          ? mutate(ReleaseMailAddressDocument, { address: recipient, reason })
          : mutate(ResendMailDocument, { id, reason })
      }
      onClose={onClose}
      onDone={onDone}
    />
  );
}

function Line({ row, onAct }: { row: MailRowFragment; onAct: (doing: Doing) => void }) {
  const may = useMay('support', 'finance');
  return (
    <tr>
      <td>
        {row.recipient}
        <div className="sub">
          {row.orgId ? (
            <To
              className="link"
              href={`/orgs/${row.orgId}`}
              aria-label={`Open the organization of ${row.id}`}
            >
              open organization
            </To>
          ) : (
            'a person'
          )}
        </div>
      </td>
      <td data-label="Mail">
        {row.template.replaceAll('_', ' ')}
        <div className="sub">
          <IdText id={row.id} short />
        </div>
      </td>
      <td data-label="State">
        <Status tone={tones[row.status] ?? 'mute'}>{row.status}</Status>
        {row.answer !== '' && <div className="sub mail-answer">{row.answer}</div>}
      </td>
      <td className="soft" data-label="Asked for">
        <Time at={row.createdAt} />
      </td>
      <td className="soft" data-label="Sent">
        <Time at={row.sentAt} never="not sent" />
      </td>
      <td className="mono soft mail-about" data-label="About">
        {row.reference}
      </td>
      <td>{may && <MailActs row={row} onAct={onAct} />}</td>
    </tr>
  );
}

function Heads() {
  return (
    <Columns of={['To', 'Mail', 'State', 'Asked for', 'Sent', 'About', { name: 'Acts', hidden: true }]} />
  );
}

function Found({ q }: { q: string }) {
  const client = useClient();
  const [doing, setDoing] = useState<Doing | null>(null);
  const [{ data, error }, again] = useQuery({ query: StaffMailsDocument, variables: { q, first: PAGE } });
  const { rows, ...older } = useOlder(data?.mails, async (after) => {
    const { data: page, error } = await client
      .query(StaffMailsDocument, { q, first: PAGE, after })
      .toPromise();
    return { page: page?.mails, error };
  });
  return (
    <Card title="Mails" flush>
      {error && !data?.mails && (
        <ErrorBox fault={faultOfQuery(error)} onRetry={() => again({ requestPolicy: 'network-only' })} />
      )}
      {rows?.length === 0 && (
        <Empty title={`No mail for “${q}”`}>Mails are kept for a while after they have gone.</Empty>
      )}
      {!error && (rows === undefined || rows.length > 0) && (
        <>
          <Table name="Mails found" stacks busy={rows === undefined}>
            <Heads />
            <tbody>
              {rows === undefined ? (
                <BoneRows rows={3} columns={7} />
              ) : (
                rows.map((row) => <Line key={row.id} row={row} onAct={setDoing} />)
              )}
            </tbody>
          </Table>
          <OlderFoot shown={rows?.length ?? 0} what="mails" {...older} />
        </>
      )}
      {doing && (
        <ActDialog
          doing={doing}
          onClose={() => setDoing(null)}
          onDone={() => {
            setDoing(null);
            again({ requestPolicy: 'network-only' });
          }}
        />
      )}
    </Card>
  );
}

export function MailsPage() {
  const { q } = readFindSearch(useSearch({ strict: false }));
  return (
    <>
      <PageHead title="Mails">
        <p>By address, by organization, by what a mail is about, or by its id.</p>
      </PageHead>
      <div className="stack">
        <FindForm path="/mails" label="Whose mails" placeholder="asha@acme.example" q={q} />
        {q !== undefined && <Found q={q} />}
      </div>
    </>
  );
}
